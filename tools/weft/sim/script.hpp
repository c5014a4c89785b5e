// What the tasks of a recorded run did, told without times of day: each body, and the main program, is a list of steps
// - submit that task, wait for this - with the computing in between. Whoever follows the lists does what the program
// did, on any machine. Waits that found nothing to wait for are steps like any other: elsewhere they may have to wait.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tools/weft/report/pieces.hpp"

namespace weft::tool::sim {

using report::none;
using report::ns;

struct step {
  enum class what : std::uint8_t { submit, wait_children, wait_all, wait_handle, strand };
  what kind;
  std::uint32_t which;  // a task, a handle or a strand
  ns before;            // computing since the step before
};

enum class nature : std::uint8_t { plain, reduction, resource };

class script {
 public:
  // Errors: weft::error if the run cannot be followed: records were lost, it ran on a random schedule, no task ran.
  explicit script(const trace::file& f);

  [[nodiscard]] std::span<const step> of(std::size_t t) const {
    return std::span(steps_).subspan(first_[t], first_[t + 1] - first_[t]);
  }
  [[nodiscard]] std::span<const step> main() const { return of(first_.size() - 2); }
  // Computing after the last step; of a task without steps, all of it.
  [[nodiscard]] ns rest(std::size_t t) const { return rest_[t]; }
  // Tasks that a replay submits: those that ran, but for the runtime's own.
  [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_; }
  [[nodiscard]] nature of_handle(std::size_t h) const { return natures_[h]; }
  // Of a resource: how many units it has at least.
  [[nodiscard]] std::uint32_t units(std::size_t h) const { return units_[h]; }
  // The runtime's own tasks that applied what reduces on that handle left over, in order.
  [[nodiscard]] const std::vector<std::uint32_t>& applied(std::size_t h) const { return applied_[h]; }
  // Task t computes so much less, in proportion in all its parts.
  void shorten(std::size_t t, ns by);
  // What a reader of the result must know: each a sentence.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  friend class script_builder;
  std::vector<step> steps_;
  std::vector<std::uint32_t> first_;
  std::vector<ns> rest_;
  std::vector<nature> natures_;
  std::vector<std::uint32_t> units_;
  std::vector<std::vector<std::uint32_t>> applied_;
  std::vector<std::string> notes_;
  std::uint64_t tasks_ = 0;
};

}  // namespace weft::tool::sim
