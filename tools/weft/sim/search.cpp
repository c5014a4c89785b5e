// See search.hpp.
#include "search.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

namespace weft::tool::sim {

namespace {

constexpr unsigned first_merges[] = {4, 16, 64};
constexpr unsigned merge_max = 64;  // as advice about a limit
constexpr unsigned rounds_max = 6;
constexpr double merge_below_ns = 100'000;  // bodies: longer ones have no cost that merging saves

bool same(const point& a, const point& b) noexcept { return changes(a, b) == 0; }
bool is_split(const std::string& grain) noexcept { return grain.starts_with('/'); }

// 1 where it is not merged.
unsigned merged(const std::string& grain) noexcept {
  unsigned k = 1;
  if (!is_split(grain)) std::from_chars(grain.data(), grain.data() + grain.size(), k);
  return std::max(k, 1u);
}

double mean_body(const row& r) noexcept {
  return static_cast<double>(r.run.work) / static_cast<double>(std::max<std::uint64_t>(r.run.tasks, 1));
}

class searcher {
 public:
  searcher(const std::vector<row>& series, const std::vector<row>& known, const search_space& space,
           const run_points& run)
      : space_(space), run_(run), series_(series), known_(known), base_(fewest(series)), best_(least(known)) {
    if (merged(base_.at.grain) > 1) span_ = 0;
    for (const row& r : series) span_ = std::min(span_, static_cast<double>(r.run.why.span));
  }

  combination run() {
    grains();
    for (unsigned round = 0; round < rounds_max && neighbours(); ++round) {
    }
    return {base_, simplest(), tried_};
  }

 private:
  static row least(const std::vector<row>& rows) {
    return *std::ranges::min_element(rows, {}, [](const row& r) { return r.run.makespan_ns; });
  }

  // The row with the fewest workers that is as good as the least.
  static row fewest(const std::vector<row>& series) {
    const double enough = same_until * least(series).run.makespan_ns;
    const row* found = nullptr;
    for (const row& r : series)
      if (r.run.makespan_ns <= enough && (found == nullptr || r.at.workers < found->at.workers)) found = &r;
    return *found;
  }

  // No run of these tasks can be faster. Merged tasks have the chains of those they are made of.
  [[nodiscard]] double bound(const point& p) const {
    const double work = static_cast<double>(base_.run.work) / p.workers;
    return is_split(p.grain) ? work : std::max(work, span_);
  }
  [[nodiscard]] bool may_help(const point& p) const {
    return bound(p) < std::min((1 - space_.gain_least) * base_.run.makespan_ns, best_.run.makespan_ns / same_until);
  }
  [[nodiscard]] bool is_known(const point& p) const {
    const auto is_it = [&p](const point& q) { return same(p, q); };
    return std::ranges::any_of(known_, is_it, &row::at) || std::ranges::any_of(wanted_, is_it);
  }
  // As many events as the row of the series with as many workers had, for each task that is left of them.
  [[nodiscard]] std::uint64_t events(const point& p) const {
    for (const row& r : series_)
      if (r.at.workers == p.workers && r.run.replay) return r.run.replay->events / merged(p.grain);
    return 0;
  }

  void want(const point& p) {
    if (tried_ + wanted_.size() >= space_.points_max || is_known(p) || !may_help(p)) return;
    const std::uint64_t cost = events(p);
    if (space_.events_max != 0 && events_ + cost > space_.events_max) return;
    events_ += cost;
    wanted_.push_back(p);
  }

  // Runs what is wanted. Returns whether any of it is better by more than what counts as the same.
  bool try_wanted() {
    if (wanted_.empty()) return false;
    const double before = best_.run.makespan_ns;
    tried_ += wanted_.size();
    for (row& r : run_(std::exchange(wanted_, {})))
      if (r.error.empty()) known_.push_back(std::move(r));
    best_ = least(known_);
    return best_.run.makespan_ns * same_until < before;
  }

  [[nodiscard]] bool merging_helps() const { return space_.merges && mean_body(base_) < merge_below_ns; }

  // The most workers first: they gain most if it helps, and what is found bounds the rest.
  void grains() {
    for (auto w = space_.workers.rbegin(); w != space_.workers.rend(); ++w) {
      point p = base_.at;
      p.workers = *w;
      for (const unsigned k : first_merges)
        if (merging_helps()) p.grain = std::to_string(k), want(p);
      for (const std::string& grain : space_.splits) p.grain = grain, want(p);
    }
    try_wanted();
  }

  bool neighbours() {
    const point at = best_.at;
    const auto here = std::ranges::find(space_.workers, at.workers);
    for (const int step : {1, -1}) {
      point p = at;
      const auto there = here - space_.workers.begin() + step;
      if (here == space_.workers.end() || there < 0 || there >= std::ssize(space_.workers)) continue;
      p.workers = space_.workers[static_cast<std::size_t>(there)];
      want(p);
    }
    if (merging_helps() && !is_split(at.grain))
      for (const unsigned k : {merged(at.grain) * 2, merged(at.grain) / 2}) {
        point p = at;
        p.grain = std::to_string(k);
        if (k >= 1 && k <= merge_max) want(p);
      }
    for (const std::string& policy : space_.policies) {
      point p = at;
      p.policy = policy;
      want(p);
    }
    if (space_.creations) {
      point p = at;
      p.creation = at.creation == "inline" ? "decoupled" : "inline";
      if (p.workers >= 2) want(p);
    }
    return try_wanted();
  }

  [[nodiscard]] row simplest() const {
    const row* found = nullptr;
    const auto cost = [this](const row& r) { return std::pair(changes(r.at, base_.at), r.at.workers); };
    for (const row& r : known_)
      if (r.run.makespan_ns <= same_until * best_.run.makespan_ns && (found == nullptr || cost(r) < cost(*found)))
        found = &r;
    return *found;
  }

  const search_space& space_;
  const run_points& run_;
  const std::vector<row>& series_;
  std::vector<row> known_;
  row base_, best_;
  double span_ = std::numeric_limits<double>::max();
  std::vector<point> wanted_;
  std::size_t tried_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace

unsigned changes(const point& a, const point& b) noexcept {
  return unsigned{a.machine != b.machine} + (a.policy != b.policy) + (a.creation != b.creation) + (a.grain != b.grain) +
         (a.team != b.team) + (a.workers != b.workers) + (a.path_first != b.path_first);
}

std::optional<combination> search(const std::vector<row>& series, const std::vector<row>& known,
                                  const search_space& space, const run_points& run) {
  if (series.empty() || known.empty()) return std::nullopt;
  return searcher(series, known, space, run).run();
}

}  // namespace weft::tool::sim
