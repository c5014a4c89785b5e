// A recorded run with larger or smaller tasks. Both change tasks that neither submit nor wait; all others stay.
//
// Merge by k: up to k tasks of one name, submitted by the same stack, become one that takes the sum of their times. It
// stands where the first of them stood, and needs what any of them needs; a task joins only if it may move there, that
// is, if nothing that was submitted in between, and is not in the group, conflicts with it. So a merged run computes
// the same, and the parallelism it loses is lost in the replay, too. Waits of the submitter end all its groups. Split
// by k: a task becomes k, of a k-th of its time each, that may run side by side, as parts of its data would. Who needs
// what the task made waits for all parts.
#pragma once
#include "script.hpp"

namespace weft::tool::sim {

struct grain {
  unsigned factor = 1;
  bool split = false;
  // "4": merge by 4; "/4": split by 4; "1". Errors: weft::error.
  static grain parse(const std::string& text);
  [[nodiscard]] std::string text() const { return (split && factor > 1 ? "/" : "") + std::to_string(factor); }
};

// The run with that grain: fit for a script and a replay; times of day are kept where tasks are, else made up.
// Errors: weft::error.
[[nodiscard]] trace::file regrain(const trace::file& f, const script& s, grain g);

}  // namespace weft::tool::sim
