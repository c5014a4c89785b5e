// Weft: a handle per cell, the cells as clauses. Independent tasks use no handle, as a program that has no dependences
// would write them; their cells live in the same handles, only nobody names them.
#include <tuple>
#include <utility>

#include "system.hpp"
#include "weft/weft.hpp"
#include "weft_recursions.hpp"

namespace weft::bench {

namespace {

options chosen(const settings& how) { return {.workers = how.workers, .policy = how.policy}; }

class weft_system {
 public:
  weft_system(std::size_t cells, const settings& how) : cells_(cells), rt_(chosen(how)) {}

  template <class Body> void independent_task(cell_index c, Body body) {
    rt_.submit([cell = &cells_[c].unguarded(), body] { body(*cell); });
  }
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    submit(reads, writes, body, std::make_index_sequence<R>{}, std::make_index_sequence<W>{});
  }
  void wait() { rt_.wait(); }
  [[nodiscard]] value cell(cell_index c) { return cells_[c].unguarded(); }

 private:
  template <std::size_t R, std::size_t W, class Body, std::size_t... I, std::size_t... J>
  void submit(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body,
              std::index_sequence<I...>, std::index_sequence<J...>) {
    static_cast<void>(reads);  // unused when nothing is read
    rt_.submit(read(cells_[reads[I]])..., write(cells_[writes[J]])..., [body](auto&... data) {
      const auto all = std::tie(data...);
      if constexpr (Body::looks)
        body(std::get<R>(all), std::get<I>(all)...);
      else
        body(std::get<R>(all));
    });
  }

  std::vector<handle<value>> cells_;
  runtime rt_;  // after the cells: ends first, so no task outlives what it uses
};

}  // namespace

std::vector<system_entry> systems_here() {
  const std::string version = std::string("weft ") + weft::version();
  std::vector<system_entry> all = weft_recursions(version);
  all.insert(all.begin(), entry_for<weft_system>("weft", version));
  return all;
}

}  // namespace weft::bench
