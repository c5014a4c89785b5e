// The order in which a program's own code runs on a modelled machine: written down, and on request decided here.
//
// A program runs in steps. A step is what one actor - a task, or the main thread - does from where a call into the
// runtime returns, or from where its body begins, to its next such call; and the submission of a task is one. Nothing
// else of the program runs in between, because a modelled machine has one thread; so a run is a sequence of steps, and
// two runs with the same sequence on one worker are the same run. Actors and steps have names that do not depend on the
// schedule: a task is the path of submission numbers from the main thread down to it, a step has its actor's count.
//
// An order that is decided here is one of the task graph: everything that could run goes into one pool, an actor goes
// there at each of its calls, and whoever looks for work gets what the rule says (ordering.hpp):
//   drawn   the actor with the highest priority. Priorities are drawn per actor, and at `depth` moments, drawn too, the
//           first in the pool becomes the last of all: PCT (Burckhardt et al., ASPLOS 2010) on tasks instead of threads
//   given   the actor whose next step comes first in a list; what is not in the list comes after it
// Both only choose among what is ready, so every order is one the task graph allows.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

class task_order {
 public:
  enum class rule : std::uint8_t { free, drawn, given };  // free: the scheduler decides, as always
  struct setup {
    rule how = rule::free;
    std::uint64_t seed = 1;
    unsigned depth = 0;
    std::uint64_t length = 0;  // of a run, in choices: where the moments are drawn from
    std::string given{};       // file with the list: lines "run ACTOR NUMBER"; others are passed over
    std::string log{};         // file to append to; "": none
    unsigned runtime = 1;      // which one of the process, part of the names from the second on
  };
  // Errors: weft::error naming the file and the reason.
  explicit task_order(const setup& s);
  ~task_order();
  task_order(const task_order&) = delete;
  task_order& operator=(const task_order&) = delete;

  [[nodiscard]] bool chooses() const noexcept { return setup_.how != rule::free; }

  // r has its parent, its number and its accesses, and nobody can run it yet.
  void submitted(detail::record& r);
  // Code of the program begins, goes on after a call, or submits: of the task `body`, or if nullptr of the main thread.
  void step(const detail::record* body);
  // Where priorities are drawn, the one that yields is the last of all from then on: else it would have its turn again
  // at once, for ever.
  void yields(const detail::record* body) { actor_of(body).priority = 0; }
  // The body of r has returned.
  void ended(const detail::record& r) {
    const std::size_t known = actors_.erase(&r);
    WEFT_ASSERT(known == 1);
  }

  // The pool. r is a task, or a stack that waited and whose parent is the task it belongs to.
  void add(detail::record* r) { pool_.push_back(r); }
  // What `worker` runs next, or nullptr.
  [[nodiscard]] detail::record* take(unsigned worker);
  [[nodiscard]] bool empty() const noexcept { return pool_.empty(); }
  [[nodiscard]] bool has_for(unsigned worker) const noexcept;

 private:
  struct actor {
    std::string name;
    std::uint64_t steps = 0;                             // begun so far
    std::uint64_t priority = 0;                          // drawn: higher is earlier
    const std::vector<std::uint64_t>* places = nullptr;  // given: where in the list each of its steps is
  };
  [[nodiscard]] actor make_actor(std::string name);
  [[nodiscard]] actor& actor_of(const detail::record* body);
  [[nodiscard]] const detail::record* body_of(const detail::record& r) const noexcept;
  [[nodiscard]] std::string path_of(const detail::record& r) const;
  [[nodiscard]] std::uint64_t rank(const detail::record& r);
  [[nodiscard]] std::size_t first_for(unsigned worker);
  void read_list();
  void write(const std::string& line) noexcept;

  setup setup_;
  base::random random_;
  std::vector<detail::record*> pool_;                        // in the order in which they got ready
  std::unordered_map<const detail::record*, actor> actors_;  // looked up, never walked; nullptr: the main thread
  std::unordered_map<std::string, std::vector<std::uint64_t>> list_;
  std::vector<std::uint64_t> moments_;  // drawn: ascending numbers of choices
  std::uint64_t choices_ = 0;
  std::uint64_t demoted_ = 0;
  int log_ = -1;
};

}  // namespace weft::sched
