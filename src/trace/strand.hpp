// What a body that forks did, from its first fork on, and what each of its branches did that ran elsewhere: a list of
// steps, each with the computing before it. A branch that stayed a call is in the list of the body that called it,
// between its join and its end; so the list says how forks lie in forks, and how much time is in each part of them,
// without times of day. Whoever follows the lists on another machine may run each branch wherever it likes.
//
// A tree of forks can be as large as the run is long. A fork that is over soon, and had nothing but computing in it, is
// taken back: its time goes to the body around. How soon is the grain; it doubles whenever a list becomes too long.
//
// Time. Between enters() and leaves() the runtime is at work, which is no computing of the body; they nest. What a fork
// that is taken back cost is in its time, because whoever follows the list does not fork there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/event.hpp"

namespace weft::trace {

class strand {
 public:
  static constexpr std::uint64_t first_grain_ps = 1'000'000;  // a steal costs about as much
  static constexpr std::size_t steps_max = std::size_t{1} << 15;

  struct step {
    std::uint64_t own_ps;  // computing before it
    std::uint64_t which;
    step_kind kind;
  };

  // task: whose body it is, or in which it was forked; 0: the main program. own_ps: what that computed before; no_time:
  // of others.
  // outer: of a pass, the strand of the body in which it is.
  strand(std::uint32_t id, std::uint32_t task, strand_of of, std::uint64_t now_ps, std::uint64_t own_ps = no_time,
         strand* outer = nullptr) noexcept
      : outer_(outer), id_(id), task_(task), of_(of), began_ps_(now_ps), own_before_ps_(own_ps), since_ps_(now_ps),
        stay_ps_(now_ps) {}
  strand(const strand&) = delete;
  strand& operator=(const strand&) = delete;

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  // A pass gets its number when there is something to tell of it.
  void is_called(std::uint32_t id) noexcept { id_ = id; }
  [[nodiscard]] strand* outer() const noexcept { return outer_; }
  // The one that is of the stack: a task's, a branch's or the program's; nullptr: that has none.
  [[nodiscard]] strand* of_stack() noexcept {
    strand* s = this;
    while (s != nullptr && s->of_ == strand_of::pass) s = s->outer_;
    return s;
  }
  // Whether it has computed from its begin until now, which is behind enters(), and done nothing else.
  [[nodiscard]] bool only_computed(std::uint64_t now_ps) const noexcept {
    return is_whole_ && steps_.empty() && own_ps_ == now_ps - began_ps_;
  }
  [[nodiscard]] std::uint32_t task() const noexcept { return task_; }
  [[nodiscard]] strand_of of() const noexcept { return of_; }
  [[nodiscard]] std::uint64_t began_ps() const noexcept { return began_ps_; }
  [[nodiscard]] std::uint64_t own_before_ps() const noexcept { return own_before_ps_; }
  [[nodiscard]] const std::vector<step>& steps() const noexcept { return steps_; }
  // What is missing because there was no memory for it.
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

  // The runtime is called; it returns. Who, of all: the stack that the strand is of.
  void enters(std::uint64_t now_ps) noexcept {
    if (depth_++ == 0) own_ps_ += now_ps - since_ps_;
  }
  void leaves(std::uint64_t now_ps) noexcept {
    if (--depth_ == 0) since_ps_ = now_ps;
  }

  // All that follows: between these two.
  void forks(std::uint64_t now_ps, std::uint32_t branch) noexcept;
  void undoes_fork() noexcept;                        // it does not begin
  void first_is_over(std::uint64_t now_ps) noexcept;  // and the second begins
  void second_is_over(std::uint64_t now_ps) noexcept;
  void second_ran_elsewhere(std::uint64_t now_ps) noexcept;  // behind first_is_over()
  void looks_in_loop(std::uint64_t now_ps, std::uint64_t left, bool begins) noexcept;
  void loop_is_over(std::uint64_t now_ps) noexcept;
  void does(step_kind kind, std::uint64_t which) noexcept;  // submits, waits
  // A pipeline begins, and is over. What its items do is in strands of passes; what is submitted and waited for between
  // those is the pipeline's own.
  void pipeline_begins(std::uint32_t which) noexcept;
  void pipeline_is_over() noexcept;
  void ends(std::uint64_t now_ps) noexcept;

  // When its stack came to the worker it is on. Who: whoever records that.
  [[nodiscard]] std::uint64_t stay_ps() const noexcept { return stay_ps_; }
  void stays_from(std::uint64_t now_ps) noexcept { stay_ps_ = now_ps; }

 private:
  struct open {
    std::uint64_t entered_ps;
    std::size_t at;  // its step
    std::uint32_t branch;
    bool is_loop;
    bool has_more = false;   // than computing
    bool is_joined = false;  // the first body is over
  };
  void put(step_kind kind, std::uint64_t which) noexcept;
  void opens(std::uint64_t now_ps, std::uint32_t branch, bool is_loop) noexcept;
  void closes(std::uint64_t elapsed_ps, step_kind end) noexcept;
  void leave_loops(std::uint64_t now_ps) noexcept;
  void coarsen();
  void give_up() noexcept;

  strand* const outer_;
  std::uint32_t id_;
  const std::uint32_t task_;
  const strand_of of_;
  const std::uint64_t began_ps_, own_before_ps_;
  std::uint64_t since_ps_, own_ps_ = 0, stay_ps_;
  std::uint64_t grain_ps_ = first_grain_ps;
  unsigned depth_ = 0;
  bool is_whole_ = true;
  bool in_pipeline_ = false;
  bool coarsens_ = false;
  std::vector<step> steps_;
  std::vector<open> open_;
};

}  // namespace weft::trace
