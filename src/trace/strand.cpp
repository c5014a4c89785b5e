#include "trace/strand.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"

namespace weft::trace {

namespace {

// Forks of one length all go with one grain, and with them all parallelism. So the coarser, the longer a list may be,
// up to a million steps; of what submits or was taken nothing goes, and then it grows as the recorders' events do.
bool is_long(std::size_t steps, std::uint64_t grain_ps) noexcept {
  constexpr std::uint64_t longest = 32, last_grain = std::uint64_t{1} << 20;  // in multiples of the first
  const std::uint64_t grain = grain_ps / strand::first_grain_ps;
  return steps >= strand::steps_max * std::min(grain, longest) && grain < last_grain;
}

}  // namespace

// What a body threw has left loops in it without an end.
void strand::leave_loops(std::uint64_t now_ps) noexcept {
  while (!open_.empty() && open_.back().is_loop) closes(now_ps - open_.back().entered_ps, step_kind::looped);
}

void strand::give_up() noexcept {
  is_whole_ = false;
  steps_.clear();
  open_.clear();
}

void strand::put(step_kind kind, std::uint64_t which) noexcept {
  if (!is_whole_) return;
  try {
    steps_.push_back({std::exchange(own_ps_, 0), which, kind});
    if (is_long(steps_.size(), grain_ps_) && !coarsens_) coarsen();
  } catch (const std::bad_alloc&) {
    give_up();
  }
}

void strand::opens(std::uint64_t now_ps, std::uint32_t branch, bool is_loop) noexcept {
  if (!is_whole_) return;
  try {
    open_.push_back({now_ps, steps_.size(), branch, is_loop});
  } catch (const std::bad_alloc&) {
    give_up();
  }
}

// The innermost that is open is over, or was too short to be told.
void strand::closes(std::uint64_t elapsed_ps, step_kind end) noexcept {
  const open it = open_.back();
  open_.pop_back();
  if (!it.has_more && elapsed_ps < grain_ps_) {
    own_ps_ = steps_[it.at].own_ps + elapsed_ps;
    steps_.resize(it.at);
    return;
  }
  if (!open_.empty()) open_.back().has_more |= it.has_more;
  put(end, elapsed_ps);
}

void strand::forks(std::uint64_t now_ps, std::uint32_t branch) noexcept {
  opens(now_ps, branch, false);
  put(step_kind::fork, branch);
}

void strand::undoes_fork() noexcept {
  if (open_.empty()) return;
  own_ps_ += steps_[open_.back().at].own_ps;
  steps_.resize(open_.back().at);
  open_.pop_back();
}

void strand::first_is_over(std::uint64_t now_ps) noexcept {
  leave_loops(now_ps);
  if (open_.empty()) return;
  open_.back().is_joined = true;
  put(step_kind::join, 0);
}

void strand::second_is_over(std::uint64_t now_ps) noexcept {
  leave_loops(now_ps);
  if (!open_.empty()) closes(now_ps - open_.back().entered_ps, step_kind::over);
}

void strand::second_ran_elsewhere(std::uint64_t now_ps) noexcept {
  if (open_.empty()) return;
  own_ps_ = 0;  // between the two nothing was computed here
  steps_.back().kind = step_kind::taken;
  steps_.back().which = open_.back().branch;
  open_.back().has_more = true;
  closes(now_ps - open_.back().entered_ps, step_kind::over);
}

void strand::looks_in_loop(std::uint64_t now_ps, std::uint64_t left, bool begins) noexcept {
  if (begins) opens(now_ps, 0, true);
  if (begins || (!open_.empty() && open_.back().is_loop)) put(begins ? step_kind::loop : step_kind::look, left);
}

void strand::loop_is_over(std::uint64_t now_ps) noexcept {
  if (!open_.empty() && open_.back().is_loop) closes(now_ps - open_.back().entered_ps, step_kind::looped);
}

void strand::pipeline_begins(std::uint32_t which) noexcept {
  does(step_kind::pipeline, which);
  in_pipeline_ = true;
}
void strand::pipeline_is_over() noexcept { in_pipeline_ = false; }

void strand::does(step_kind kind, std::uint64_t which) noexcept {
  if (in_pipeline_) return;
  if (!open_.empty()) open_.back().has_more = true;
  put(kind, which);
}

void strand::ends(std::uint64_t now_ps) noexcept {
  while (!open_.empty()) {  // what it threw has left them without an end
    leave_loops(now_ps);
    if (!open_.empty() && !open_.back().is_joined) first_is_over(now_ps);
    second_is_over(now_ps);
  }
  put(step_kind::end, 0);
}

// Once more from the beginning, with a larger grain. Errors: std::bad_alloc.
void strand::coarsen() {
  const std::vector<open> before = std::move(open_);
  const std::vector<step> all = std::move(steps_);
  grain_ps_ *= 2;
  coarsens_ = true;
  open_.clear();
  steps_.clear();
  steps_.reserve(all.size());
  for (const step& s : all) {
    own_ps_ += s.own_ps;
    if (s.kind == step_kind::fork || s.kind == step_kind::loop)
      open_.push_back({0, steps_.size(), static_cast<std::uint32_t>(s.which), s.kind == step_kind::loop});
    if (s.kind == step_kind::join && !open_.empty()) open_.back().is_joined = true;
    if ((s.kind == step_kind::taken || s.kind >= step_kind::submits) && !open_.empty()) open_.back().has_more = true;
    if (s.kind == step_kind::over || s.kind == step_kind::looped) {
      closes(s.which, s.kind);
      continue;
    }
    steps_.push_back({std::exchange(own_ps_, 0), s.which, s.kind});
  }
  coarsens_ = false;
  WEFT_ASSERT(open_.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i) open_[i].entered_ps = before[i].entered_ps;
}

}  // namespace weft::trace
