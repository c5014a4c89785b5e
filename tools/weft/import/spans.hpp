// Spans of time on tracks, as profilers record them: a track is a thread. Spans of a track may lie in each other, as
// calls do. A task is an outermost one; what lies in it is a part of it.
#pragma once
#include <string>
#include <vector>

#include "graph.hpp"

namespace weft::tool::foreign {

class spans {
 public:
  struct span {
    ns begin, end;
    index track;
    std::string name;
    index place;
    index task = none;  // that it is, or lies in
  };

  [[nodiscard]] index track_of(const std::string& key) {
    return tracks_.try_emplace(key, static_cast<index>(tracks_.size())).first->second;
  }
  void add(span s) { all_.push_back(std::move(s)); }

  // Makes the tasks, in the order in which they began, and notes how many spans lie in others. Errors: weft::error if
  // two of a track overlap but neither lies in the other.
  void settle(graph& into);

  // After that. The task in which something is that happened then; none: there is none.
  [[nodiscard]] index at(index track, ns time) const;
  // The first that begins then or later.
  [[nodiscard]] index from(index track, ns time) const;
  [[nodiscard]] const std::vector<span>& all() const noexcept { return all_; }

 private:
  struct piece {
    ns begin, end;
    index task;
  };
  std::vector<span> all_;
  std::unordered_map<std::string, index> tracks_;
  std::vector<std::vector<piece>> outer_;  // of each track, by time
};

// Whether `after` began, but for clocks, when `before` had ended. An arrow between others tells who started whom.
[[nodiscard]] bool one_after_the_other(const graph& g, index before, index after) noexcept;

}  // namespace weft::tool::foreign
