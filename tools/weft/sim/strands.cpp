// See strands.hpp.
#include "strands.hpp"

#include <algorithm>

#include "pipelines.hpp"

namespace weft::tool::sim {

using trace::step_kind;
using trace::strand_step;

namespace {

constexpr std::uint64_t units_max = 8192;  // a few hundred for each worker
constexpr unsigned depth_max = 400;        // of forks in forks, as far as a stack has room

double own_ns(const strand_step& s) { return static_cast<double>(s.own_ps) * 1e-3; }

}  // namespace

strands::strands(const trace::file& f) : file_(f), next_(f.steps.size(), none) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < f.steps.size(); ++i) {
    switch (const step_kind k = f.steps[i].kind; k) {
    case step_kind::fork:
    case step_kind::loop: open.push_back(i); break;
    case step_kind::taken:
      if (f.steps[i].which < 0) ++unknown_;
      [[fallthrough]];
    case step_kind::join:
    case step_kind::look: next_[std::exchange(open.back(), i)] = i; break;
    case step_kind::over:
    case step_kind::looped:
      next_[open.back()] = i;
      open.pop_back();
      break;
    default: break;
    }
  }
}

double strands::work_ns(std::uint32_t s) const {
  double sum = 0;
  for (std::uint32_t i = file_.strands[s].first; i < file_.strands[s].last; ++i) {
    sum += own_ns(file_.steps[i]);
    const auto which = static_cast<std::uint32_t>(file_.steps[i].which);
    if (file_.steps[i].kind == step_kind::taken && file_.steps[i].which >= 0) sum += work_ns(which);
    if (file_.steps[i].kind == step_kind::pipeline && file_.steps[i].which >= 0) sum += work_of_pipeline(which);
  }
  return sum;
}

double strands::work_of_pipeline(std::uint32_t which) const {
  double sum = 0;
  for (std::uint32_t i = file_.pipelines[which].first; i < file_.pipelines[which].last; ++i) {
    const trace::pass& p = file_.passes[i];
    sum += p.strand == none ? static_cast<double>(p.ps) * 1e-3 : work_ns(p.strand);
  }
  return sum;
}

void strands::follow(std::uint32_t s, std::uint32_t t, strand_steps& by) const {
  const trace::strand& x = file_.strands[s];
  if (x.first != x.last) play(x.first, {t, &by, 0, detail::body_around(detail::self()->current)});
}

void strands::run::computes(double time) const {
  by->computes(t, detail::body_around(detail::self()->current) != body, time);
}

// From step i until the body that it is in ends. Returns the step that ends it.
std::uint32_t strands::play(std::uint32_t i, const run& r) const {
  for (;;) {
    const strand_step& s = file_.steps[i];
    switch (s.kind) {
    case step_kind::fork:
      i = next_[next_[i]] + 1;
      play_fork(static_cast<std::uint32_t>(&s - file_.steps.data()), r);
      break;
    case step_kind::loop: {
      const std::uint32_t begin = i;
      while (file_.steps[i].kind != step_kind::looped) i = next_[i];
      ++i;
      play_loop(begin, r);
      break;
    }
    case step_kind::submits:
    case step_kind::waits_children:
    case step_kind::waits_all:
    case step_kind::waits_handle:
    case step_kind::pipeline: play_item(i++, r); break;
    default: r.computes(own_ns(s)); return i;
    }
  }
}

// What step i begins: a fork, a loop, or itself; with the computing before it.
void strands::play_item(std::uint32_t i, const run& r) const {
  const strand_step& s = file_.steps[i];
  if (s.kind == step_kind::fork) return play_fork(i, r);
  if (s.kind == step_kind::loop) return play_loop(i, r);
  r.computes(own_ns(s));
  const auto which = static_cast<std::uint32_t>(s.which);
  if (s.kind == step_kind::pipeline) {
    if (s.which >= 0) play_pipeline(which, r);
    return;
  }
  if (s.kind != step_kind::submits)
    r.by->waits(r.t, s.kind, s.which < 0 ? none : which);
  else if (s.which >= 0 && which != none)
    r.by->submits(r.t, which);
}

void strands::play_fork(std::uint32_t fork, const run& r) const {
  r.computes(own_ns(file_.steps[fork]));
  const run below = r.below();
  const std::uint32_t join = next_[fork];
  if (r.depth >= depth_max) {
    play(fork + 1, below);
    play_second(join, below);
    return;
  }
  fork_join([this, fork, &below] { play(fork + 1, below); }, [this, join, &below] { play_second(join, below); });
}

void strands::play_second(std::uint32_t join, const run& r) const {
  const strand_step& s = file_.steps[join];
  if (s.kind == step_kind::join)
    play(join + 1, r);
  else if (const trace::strand* x = s.which >= 0 ? &file_.strands[static_cast<std::size_t>(s.which)] : nullptr;
           x != nullptr && x->first != x->last)
    play(x->first, r);
}

void strands::play_pass(const trace::pass& p, double share, const run& r) const {
  if (p.strand == none || file_.strands[p.strand].first == file_.strands[p.strand].last)
    r.computes(static_cast<double>(p.ps) * 1e-3 * share);
  else if (share != 1)
    return;
  else if (waits_for_all(p.strand))
    finish([this, &p, &r] { play(file_.strands[p.strand].first, r); });
  else
    play(file_.strands[p.strand].first, r);
}

// Whether nothing that was submitted in strand s was still going on when that was over. Then it is waited for apart
// from what else its body has submitted, which may be all that helps with a pipeline.
bool strands::waits_for_all(std::uint32_t s) const {
  bool all = false;
  for (std::uint32_t i = file_.strands[s].first; i < file_.strands[s].last; ++i) {
    if (file_.steps[i].kind == step_kind::waits_children) all = true;
    if (file_.steps[i].kind == step_kind::submits) all = false;
  }
  return all;
}

void strands::play_pipeline(std::uint32_t which, const run& r) const {
  const run below = r.below();
  run_pipeline(file_, which, [this, &below](const pipeline_item& x, unsigned stage) {
    for (std::uint32_t i = x.first; i < x.last; ++i)
      if (file_.passes[i].stage == static_cast<std::int32_t>(stage) || (stage == 0 && file_.passes[i].stage < 0))
        play_pass(file_.passes[i], x.share, below);
  });
}

// The parts of a loop, also where those that divided it were loops of their own.
class strands::expansion {
 public:
  explicit expansion(const strands& all) : all_(all), steps_(all.file_.steps) {}

  // From the step that begins it. Returns its end.
  std::uint32_t add(std::uint32_t begin) {
    std::uint32_t at = begin;
    for (;;) {
      const std::uint32_t next = all_.next_[at];
      const bool is_last = steps_[next].kind == step_kind::looped;
      const auto left = static_cast<std::uint64_t>(steps_[at].which);
      const auto then = is_last ? 0 : static_cast<std::uint64_t>(steps_[next].which);
      // The last iteration of a loop is on its own; where there are more it was divided.
      if (is_last && left > 1 && at + 1 != next && steps_[at + 1].kind == step_kind::fork)
        divided(at + 1, left);
      else
        add_part(left - std::min(left, then), at + 1, next);
      at = next;
      if (is_last) return at;
    }
  }
  loop take() { return std::move(out_); }

 private:
  // Between steps `from` and `end`, which has the computing before it.
  void add_part(std::uint64_t count, std::uint32_t from, std::uint32_t end) {
    std::vector<std::uint32_t> inside;
    for (std::uint32_t i = from; i < end; i = behind(i)) inside.push_back(i);
    for (std::size_t k = 0; k < inside.size(); ++k)
      out_.items.push_back({static_cast<double>(out_.count) + static_cast<double>(k) * static_cast<double>(count) /
                                                                  static_cast<double>(inside.size()),
                            inside[k]});
    out_.parts.push_back({count, own_ns(steps_[end])});
    out_.count += count;
  }
  [[nodiscard]] std::uint32_t behind(std::uint32_t i) const {
    if (steps_[i].kind == step_kind::fork) return all_.next_[all_.next_[i]] + 1;
    if (steps_[i].kind != step_kind::loop) return i + 1;
    while (steps_[i].kind != step_kind::looped) i = all_.next_[i];
    return i + 1;
  }
  void divided(std::uint32_t fork, std::uint64_t n) {
    const std::uint32_t join = all_.next_[fork];
    add_half(fork + 1, n / 2);
    if (steps_[join].kind == step_kind::join) return add_half(join + 1, n - n / 2);
    const std::int64_t which = steps_[join].which;
    if (which >= 0 && all_.file_.strands[static_cast<std::size_t>(which)].first !=
                          all_.file_.strands[static_cast<std::size_t>(which)].last)
      add_half(all_.file_.strands[static_cast<std::size_t>(which)].first, n - n / 2);
  }
  // A body of such a fork: a loop, or, if that was too short to be told, its computing.
  void add_half(std::uint32_t from, std::uint64_t n) {
    if (steps_[from].kind == step_kind::loop && static_cast<std::uint64_t>(steps_[from].which) == n) {
      add(from);
      return;
    }
    std::uint32_t end = from;
    while (is_inside(end)) end = behind(end);
    add_part(n, from, end);
  }
  [[nodiscard]] bool is_inside(std::uint32_t i) const {
    const step_kind k = steps_[i].kind;
    return k == step_kind::fork || k == step_kind::loop || k >= step_kind::submits;
  }

  const strands& all_;
  const std::vector<strand_step>& steps_;
  loop out_;
};

std::vector<strands::unit> strands::units_of(const loop& l) {
  std::vector<unit> all(std::min(l.count, units_max));
  const double per_unit = static_cast<double>(l.count) / static_cast<double>(all.size());
  double at = 0;  // iterations
  for (const part& p : l.parts) {
    const double end = at + static_cast<double>(p.count);
    auto u = std::min(static_cast<std::size_t>(at / per_unit), all.size() - 1);
    if (p.count == 0) all[u].ns += p.ns;
    for (double from = at; from < end && u < all.size(); ++u) {
      const double to = u + 1 == all.size() ? end : std::min(end, static_cast<double>(u + 1) * per_unit);
      all[u].ns += p.ns * std::max(0.0, to - from) / static_cast<double>(p.count);
      from = std::max(from, to);
    }
    at = end;
  }
  std::uint32_t next = 0;
  for (std::size_t u = 0; u < all.size(); ++u) {
    all[u].first = next;
    const bool is_last = u + 1 == all.size();
    while (next < l.items.size() && (is_last || l.items[next].at < static_cast<double>(u + 1) * per_unit)) ++next;
    all[u].last = next;
  }
  return all;
}

void strands::play_loop(std::uint32_t begin, const run& r) const {
  r.computes(own_ns(file_.steps[begin]));
  expansion parts(*this);
  parts.add(begin);
  const loop l = parts.take();
  if (l.count == 0) return;
  const std::vector<unit> units = units_of(l);
  const run below = r.below();
  const auto body = [this, &l, &units, &below](std::size_t u) {
    for (std::uint32_t i = units[u].first; i < units[u].last; ++i) play_item(l.items[i].step, below);
    below.computes(units[u].ns);
  };
  if (r.depth < depth_max) return for_each(std::size_t{0}, units.size(), body);
  for (std::size_t u = 0; u < units.size(); ++u) body(u);
}

}  // namespace weft::tool::sim
