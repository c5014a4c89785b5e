// See pieces.hpp.
#include "pieces.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "strand_spans.hpp"

namespace weft::tool::report {

namespace {

using waits = std::span<const trace::wait>;

// Clamps, so that clocks of two cores that disagree give odd pieces but no negative ones.
void cut(const trace::file& r, waits of_task, piece whole, std::vector<piece>& out) {
  piece now = whole;
  for (const trace::wait& w : of_task) {
    now.to = std::clamp(w.from_ns, now.from, whole.to);
    out.push_back(now);
    now.from = std::clamp(w.to_ns, now.to, whole.to);
    now.worker = w.to_worker;
    now.wait = static_cast<std::uint32_t>(&w - r.waits.data());
  }
  now.to = whole.to;
  out.push_back(now);
}

// Its pieces as far as they are in one of its scopes of forks.
void cut_forks(const trace::file& r, pieces& p) {
  std::vector<std::pair<ns, ns>> scopes;
  for (const trace::stay& s : r.stays)
    if (s.is_program) scopes.emplace_back(s.from_ns, s.to_ns);
  std::sort(scopes.begin(), scopes.end());
  std::size_t next = 0;
  for (const piece& x : p.of(r.tasks.size())) {
    while (next < scopes.size() && scopes[next].second <= x.from) ++next;
    for (std::size_t i = next; i < scopes.size() && scopes[i].first < x.to; ++i)
      if (const ns from = std::max(x.from, scopes[i].first), to = std::min(x.to, scopes[i].second); from < to)
        p.forks_of_main.emplace_back(from, to);
  }
}

[[nodiscard]] bool for_all(trace::wait_reason why) noexcept {
  return why == trace::wait_reason::all || why == trace::wait_reason::children;  // a finish of the main program
}

// Where the main program learned that everything is done. It may compute beside the last tasks for so long that its
// wait finds nothing to wait for, and that time is the run's, too. The waits that follow such a one are the end of the
// runtime and what comes after the run.
ns end_of_main(const trace::file& r, waits of_main, ns begin) {
  ns submitted = begin;
  for (const trace::task& x : r.tasks)
    if (x.parent == none && x.submitter != none) submitted = std::max(submitted, x.submitted_ns);
  ns end = submitted;
  bool over = false;
  for (const trace::wait& w : of_main) {
    over = over || (for_all(w.why) && w.from_ns >= submitted);
    end = std::max(end, w.to_ns);
  }
  for (const trace::passed_wait& w : r.passed) {
    if (over || w.task != none || w.time_ns < end) continue;
    over = for_all(w.why);
    end = w.time_ns;
  }
  return end;
}

// What the main program does after that is none of the run's business.
void cut_main(const trace::file& r, waits of_main, pieces& p) {
  piece whole{none, 0, p.begin, end_of_main(r, of_main, p.begin), none};
  if (!of_main.empty()) whole.worker = of_main[0].from_worker;
  p.end = std::max(p.end, whole.to);
  cut(r, of_main, whole, p.all);
}

}  // namespace

pieces make_pieces(const trace::file& r) {
  pieces p;
  p.begin = INT64_MAX;
  p.all.reserve(r.tasks.size() + r.waits.size() + 1);
  p.first.reserve(r.tasks.size() + 2);
  for (const trace::task& x : r.tasks) p.begin = std::min(p.begin, x.submitted_ns);
  for (const trace::stay& s : r.stays) p.begin = std::min(p.begin, s.from_ns);
  if (p.begin == INT64_MAX) p.begin = 0;
  p.end = p.begin;
  const waits all(r.waits);
  std::size_t next = 0;
  for (std::uint32_t t = 0; t < r.tasks.size(); ++t) {
    const trace::task& x = r.tasks[t];
    const std::size_t from = next;
    while (next < all.size() && all[next].task == t) ++next;
    p.first.push_back(static_cast<std::uint32_t>(p.all.size()));
    if (!x.ran()) continue;
    p.end = std::max(p.end, x.finished_ns);
    cut(r, all.subspan(from, next - from), {t, x.worker, x.started_ns, std::max(x.started_ns, x.finished_ns), none},
        p.all);
  }
  p.first.push_back(static_cast<std::uint32_t>(p.all.size()));
  if (!r.tasks.empty() || !r.stays.empty()) cut_main(r, all.subspan(next), p);
  p.first.push_back(static_cast<std::uint32_t>(p.all.size()));
  for (const trace::stay& s : r.stays) {
    if (s.is_program) continue;
    p.beside.push_back({s.task, s.worker, s.from_ns, s.to_ns, none});
    p.end = std::max(p.end, s.to_ns);
  }
  cut_forks(r, p);
  p.shrinks = strand_shares(r, p);
  return p;
}

ns least_length(const pieces& p, std::size_t i) {
  const piece& x = p.all[i];
  if (p.shrinks.empty()) return x.length();
  const double share = p.shrinks[x.task == none ? p.shrinks.size() - 1 : x.task];
  return std::llround(share * static_cast<double>(x.length()));
}

std::uint32_t piece_at(const pieces& p, std::size_t t, ns time) {
  for (std::uint32_t lo = p.first[t], hi = p.first[t + 1]; lo < hi;) {
    const std::uint32_t mid = lo + (hi - lo) / 2;
    if (time > p.all[mid].to)
      lo = mid + 1;
    else if (time < p.all[mid].from)
      hi = mid;
    else
      return mid;
  }
  return none;
}

std::vector<std::uint32_t> parents_first(const trace::file& r) {
  const std::size_t n = r.tasks.size();
  std::vector<std::uint32_t> start(n + 2, 0), order, children(n);
  for (const trace::task& t : r.tasks)
    if (t.parent != none) ++start[t.parent + 2];
  for (std::size_t i = 2; i < start.size(); ++i) start[i] += start[i - 1];
  order.reserve(n);
  for (std::uint32_t t = 0; t < n; ++t) {
    if (r.tasks[t].parent == none)
      order.push_back(t);
    else
      children[start[r.tasks[t].parent + 1]++] = t;
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::uint32_t c = start[order[i]]; c < start[order[i] + 1]; ++c) order.push_back(children[c]);
  assert(order.size() == n && "the reader lets no task be its own ancestor");
  return order;
}

}  // namespace weft::tool::report
