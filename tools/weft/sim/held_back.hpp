// Tasks that were submitted before those that feed them: one that pops from a stream may be (weft/stream.hpp). Its
// access then requires a version that later submissions bring, and a replay, whose handles give versions in the order
// of submission, submits it behind these.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tools/weft/trace/reader.hpp"

namespace weft::tool::sim {

class held_back {
 public:
  // accesses: by task, and tasks by the time of their submission.
  explicit held_back(std::span<const trace::access> accesses) {
    std::map<std::uint32_t, std::int64_t> newest;
    for (const trace::access& a : accesses) {
      if (a.version == trace::no_version) continue;
      const auto [at, is_first] = newest.try_emplace(a.handle, a.version);
      if (a.version < at->second) late_[a.handle];
      at->second = std::max(at->second, a.version);
    }
    for (const trace::access& a : accesses)
      if (const auto at = late_.find(a.handle); at != late_.end()) at->second.versions.push_back(a.version);
    for (auto& [h, x] : late_) std::sort(x.versions.begin(), x.versions.end());
  }
  [[nodiscard]] bool any() const noexcept { return !late_.empty(); }

  // Task t, with these accesses, is to be submitted. Returns whether it may be: all that comes before it has been.
  // Else it is kept.
  [[nodiscard]] bool may(std::uint32_t t, std::span<const trace::access> its) {
    if (is_fed(its)) return note(its), true;
    kept_.push_back({t, its});
    return false;
  }
  // One that may be submitted now; trace::none: there is none.
  [[nodiscard]] std::uint32_t take() {
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (is_fed(kept_[i].its)) {
        const kept k = kept_[i];
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
        note(k.its);
        return k.task;
      }
    return trace::none;
  }

 private:
  struct late {
    std::vector<std::int64_t> versions;  // of all accesses, in order
    std::size_t submitted = 0;
  };
  struct kept {
    std::uint32_t task;
    std::span<const trace::access> its;
  };
  [[nodiscard]] bool is_fed(std::span<const trace::access> its) const {
    return std::all_of(its.begin(), its.end(), [this](const trace::access& a) {
      const auto at = late_.find(a.handle);
      if (at == late_.end() || a.version == trace::no_version) return true;
      const std::vector<std::int64_t>& all = at->second.versions;
      const auto before = std::lower_bound(all.begin(), all.end(), a.version) - all.begin();
      return at->second.submitted >= static_cast<std::size_t>(before);
    });
  }
  void note(std::span<const trace::access> its) {
    for (const trace::access& a : its)
      if (const auto at = late_.find(a.handle); at != late_.end()) ++at->second.submitted;
  }

  std::map<std::uint32_t, late> late_;  // handles on which that was so
  std::vector<kept> kept_;              // in the order in which the program submitted them
};

}  // namespace weft::tool::sim
