// The forks and loops of a recorded run (trace::strand), once more: each fork forks, each loop is one that divides when
// somebody starves, and what was computed in between is. Which branch runs where is the modelled machine's affair, as
// it was the recorded one's: a branch that stayed a call may be taken, and one that was taken may stay. A pipeline is
// one (pipelines.hpp), whose stages do for each item what they did.
//
// A loop is known by how long its iterations took from one look at the clock to the next. Here it has as many
// iterations as it had, or, if these are very many, fewer and longer ones.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tools/weft/report/pieces.hpp"
#include "weft/weft.hpp"

namespace weft::tool::sim {

using report::none;
using report::ns;

// What steps are to whoever follows them. `t`: the task in which they are, or none: the main program. elsewhere: on
// another stack than its own.
class strand_steps {
 public:
  virtual void computes(std::uint32_t t, bool elsewhere, double ns) = 0;
  virtual void submits(std::uint32_t t, std::uint32_t which) = 0;
  virtual void waits(std::uint32_t t, trace::step_kind kind, std::uint32_t handle) = 0;

 protected:
  ~strand_steps() = default;
};

class strands {
 public:
  explicit strands(const trace::file& f);

  // Does what strand s did. Returns when it is over. Who: a body, or the main program.
  void follow(std::uint32_t s, std::uint32_t t, strand_steps& by) const;
  // What was computed in s and in all that it forked.
  [[nodiscard]] double work_ns(std::uint32_t s) const;
  // Forks whose second body was taken, and nobody knows what it did.
  [[nodiscard]] std::uint64_t unknown() const noexcept { return unknown_; }

 private:
  [[nodiscard]] double work_of_pipeline(std::uint32_t which) const;
  struct run {
    std::uint32_t t;
    strand_steps* by;
    unsigned depth;              // of forks in forks
    const detail::record* body;  // of t; nullptr: the main program
    [[nodiscard]] run below() const noexcept { return {t, by, depth + 1, body}; }
    void computes(double time) const;
  };
  // Iterations of one loop, which may run at the same time.
  struct unit {
    double ns = 0;
    std::uint32_t first = 0, last = 0;  // in loop::items
  };
  struct item {
    double at;  // iteration
    std::uint32_t step;
  };
  struct part {
    std::uint64_t count;
    double ns;
  };
  struct loop {
    std::vector<part> parts;
    std::vector<item> items;
    std::uint64_t count = 0;
  };
  class expansion;

  std::uint32_t play(std::uint32_t i, const run& r) const;
  void play_fork(std::uint32_t fork, const run& r) const;
  void play_second(std::uint32_t join, const run& r) const;
  void play_loop(std::uint32_t begin, const run& r) const;
  void play_item(std::uint32_t i, const run& r) const;
  void play_pipeline(std::uint32_t which, const run& r) const;
  [[nodiscard]] bool waits_for_all(std::uint32_t s) const;
  void play_pass(const trace::pass& p, double share, const run& r) const;
  [[nodiscard]] static std::vector<unit> units_of(const loop& l);

  const trace::file& file_;
  // Of a fork: its join, of that: where the fork is over. Of a loop and its looks: the next of these, or its end.
  std::vector<std::uint32_t> next_;
  std::uint64_t unknown_ = 0;
};

}  // namespace weft::tool::sim
