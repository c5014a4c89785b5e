// The fixed set of programs that `make ablate` runs with each rule off in turn. A program is a pass that can be taken
// again and checks its own result. It says what it does through a scene, which knows how long a body is on this
// machine: on a modelled one it is charged, on real cores it spins. A shift makes every size and length a little
// different, so that what one order of steps happens to give can be told from what a rule gives.
#pragma once
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/body.hpp"
#include "weft/weft.hpp"

namespace weft::bench::ablation {

// What a pass came to. time_ns is 0 where all of the pass counts.
struct outcome {
  bool is_right = false;
  double time_ns = 0;
};

class scene {
 public:
  scene(runtime& rt, std::uint64_t shift);

  [[nodiscard]] runtime& rt() const noexcept { return rt_; }
  [[nodiscard]] bool is_modelled() const noexcept { return is_modelled_; }
  [[nodiscard]] unsigned workers() const noexcept { return rt_.workers(); }
  // A number of things, or a length in nanoseconds, a little more with each shift.
  [[nodiscard]] std::uint32_t some(std::uint32_t n) const noexcept {
    return n + static_cast<std::uint32_t>(shift_ * (n / 1024 + 1));
  }
  [[nodiscard]] double length(double ns) const noexcept { return ns * (1 + 0.001 * static_cast<double>(shift_)); }

  // The running body takes so long.
  void take(double ns) const noexcept {
    if (is_modelled_)
      charge(length(ns));
    else
      spin(rounds(ns));
  }
  // Submits a task of that length.
  template <class... Args> void task(double ns, Args&&... clauses_and_body) {
    task_to(rt_, ns, std::forward<Args>(clauses_and_body)...);
  }
  // The same to a runtime, or to the recorder of a graph.
  template <class To, class... Args> void task_to(To& to, double ns, Args&&... clauses_and_body) {
    if (is_modelled_) return to.submit(cost(length(ns)), std::forward<Args>(clauses_and_body)...);
    lengthened(to, rounds(ns), std::make_index_sequence<sizeof...(Args) - 1>{},
               std::forward_as_tuple(std::forward<Args>(clauses_and_body)...));
  }

 private:
  [[nodiscard]] std::uint64_t rounds(double ns) const noexcept {
    return static_cast<std::uint64_t>(length(ns) / ns_per_round_);
  }
  template <class To, std::size_t... I, class All>
  static void lengthened(To& to, std::uint64_t spins, std::index_sequence<I...>, All all) {
    auto& body = std::get<sizeof...(I)>(all);
    to.submit(std::get<I>(std::move(all))..., [spins, body](auto&&... data) mutable {
      if (spins != 0) spin(spins);
      body(data...);
    });
  }

  runtime& rt_;
  bool is_modelled_;
  std::uint64_t shift_;
  double ns_per_round_ = 1;
};

using pass = std::function<outcome()>;

struct program {
  const char* name;
  const char* summary;
  std::function<pass(scene&)> make;
};

// All, in the order of the table: submitters.cpp, forks.cpp, fronts.cpp.
[[nodiscard]] std::vector<program> submitters();
[[nodiscard]] std::vector<program> forks();
[[nodiscard]] std::vector<program> fronts();

}  // namespace weft::bench::ablation
