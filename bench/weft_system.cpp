// Weft: a handle per cell, the cells as clauses. Independent tasks use no handle, as a program that has no dependences
// would write them; their cells live in the same handles, only nobody names them.
#include <tuple>
#include <utility>

#include "system.hpp"
#include "weft/weft.hpp"

namespace weft::bench {

namespace {

class weft_system {
 public:
  weft_system(std::size_t cells, const settings& how)
      : cells_(cells), rt_({.workers = how.workers, .policy = how.policy}) {}

  void independent_task(cell_index c) {
    rt_.submit([cell = &cells_[c].unguarded()] { touch(*cell); });
  }
  template <std::size_t R, std::size_t W>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes) {
    submit(reads, writes, std::make_index_sequence<R>{}, std::make_index_sequence<W>{});
  }
  void wait() { rt_.wait(); }
  [[nodiscard]] value cell(cell_index c) { return cells_[c].unguarded(); }

 private:
  template <std::size_t R, std::size_t W, std::size_t... I, std::size_t... J>
  void submit(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes,
              std::index_sequence<I...>, std::index_sequence<J...>) {
    static_cast<void>(reads);  // unused when nothing is read
    rt_.submit(read(cells_[reads[I]])..., write(cells_[writes[J]])...,
               [](auto&... data) { touch(std::get<R>(std::tie(data...))); });
  }

  std::vector<handle<value>> cells_;
  runtime rt_;  // after the cells: ends first, so no task outlives what it uses
};

}  // namespace

system_entry weft_entry() { return entry_for<weft_system>("weft", "this library", true); }

}  // namespace weft::bench
