// Weft: a handle per cell, the cells as clauses. Independent tasks use no handle, as a program that has no dependences
// would write them; their cells live in the same handles, only nobody names them. Recursions call fork_join, with and
// without the weft::here that a body gets, or finish and async; the main thread starts them, outside of any task.
#include <tuple>
#include <utility>

#include "system.hpp"
#include "weft/weft.hpp"

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

// Places have linkage, as what users write: inside of an unnamed namespace gcc 12 inlines these recursions otherwise.
// Each fork looks for its worker: the bodies drop the weft::here that they get.
struct finding {
  finding() = default;
  finding(here&) {}
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    return fork_join(first, second);
  }
  template <class F> static value start(F f) { return f(finding{}); }
};

struct handed {
  handed(here& h) : at(&h) {}
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    return fork_join(*at, first, second);
  }
  template <class F> static value start(F f) {
    return fork_join([f](here& h) { return f(handed(h)); }, [] { return nothing{}; }).first;
  }
  here* at;
};

// The first body is an async, the second the rest of its finish.
struct asyncs {
  asyncs(here& h) : at(&h) {}
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    std::pair<decltype(first(*this)), decltype(second(*this))> found{};
    finish(*at, [&](here& in) {
      async(in, [&](here& on) { found.first = first(asyncs(on)); });
      found.second = second(asyncs(in));
    });
    return found;
  }
  template <class F> static value start(F f) {
    return fork_join([f](here& h) { return f(asyncs(h)); }, [] { return nothing{}; }).first;
  }
  here* at;
};

namespace {

template <class Place> class weft_forks {
 public:
  explicit weft_forks(const settings& how) : rt_(chosen(how)) {}
  template <class F> value start(F f) { return Place::start(f); }

 private:
  runtime rt_;
};

}  // namespace

std::vector<system_entry> systems_here() {
  const std::string version = std::string("weft ") + weft::version();
  return {entry_for<weft_system>("weft", version), recursions_for<weft_forks<finding>>("weft", version),
          recursions_for<weft_forks<handed>>("weft-here", version),
          recursions_for<weft_forks<asyncs>>("weft-async", version)};
}

}  // namespace weft::bench
