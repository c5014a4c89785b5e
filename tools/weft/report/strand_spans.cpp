#include "strand_spans.hpp"

#include <algorithm>

namespace weft::tool::report {

namespace {

using trace::step_kind;

// One after the other on its own stack; and the longest chain with all branches and iterations side by side.
struct length {
  double own = 0;
  double span = 0;
};

class walk {
 public:
  explicit walk(const trace::file& f) : file_(f) {}

  // Of a strand that was not met before: branches are in the strand of one fork only.
  length of(std::size_t s) {
    const trace::strand& x = file_.strands[s];
    at_ = x.first;
    return x.first == x.last ? length{} : body();
  }

 private:
  // From the next step on, to the end of the body that it is in, which is left behind.
  length body() {
    length sum;
    for (;;) {
      const trace::strand_step& s = file_.steps[at_++];
      add(sum, {own(s), own(s)});
      if (s.kind == step_kind::fork)
        add(sum, fork());
      else if (s.kind == step_kind::loop)
        add(sum, loop(s.which));
      else if (s.kind == step_kind::pipeline)
        add(sum, pipeline(s.which));
      else if (s.kind < step_kind::submits)
        return sum;
    }
  }
  length fork() {
    const length first = body();
    const trace::strand_step& join = file_.steps[at_ - 1];
    if (join.kind == step_kind::join) {
      const length second = body();
      return {first.own + second.own, std::max(first.span, second.span)};
    }
    ++at_;  // over
    if (join.which < 0) return first;
    const std::uint32_t back = at_;
    const length second = of(static_cast<std::size_t>(join.which));
    at_ = back;
    return {first.own, std::max(first.span, second.span)};
  }
  // Iterations are as long as the mean of those that were looked at together.
  length loop(std::int64_t left) {
    length sum;
    for (;;) {
      const length some = body();
      const trace::strand_step& end = file_.steps[at_ - 1];
      const std::int64_t then = end.kind == step_kind::look ? end.which : 0;
      const double count = static_cast<double>(std::max<std::int64_t>(1, left - then));
      const bool is_divided = end.kind == step_kind::looped && left > 1;
      sum.own += some.own;
      sum.span = std::max(sum.span, is_divided ? some.span : some.span / count);
      left = then;
      if (end.kind != step_kind::look) return sum;
    }
  }
  // Items follow each other at serial stages, and each goes through one stage after the other.
  length pipeline(std::int64_t which) {
    if (which < 0) return {};
    const trace::pipeline& p = file_.pipelines[static_cast<std::size_t>(which)];
    const std::uint32_t back = at_;
    std::vector<double> over(p.stages.size(), 0);  // of each stage: when the last item came out of it
    length sum;
    double now = 0;
    std::int64_t item = -1;
    for (std::uint32_t i = p.first; i < p.last; ++i) {
      const trace::pass& x = file_.passes[i];
      const double alone = static_cast<double>(x.ps) * 1e-3;
      const length took = x.strand == none ? length{alone, alone} : of(x.strand);
      if (x.task == p.task) sum.own += took.own;
      const auto stage = static_cast<std::size_t>(std::max(x.stage, 0));
      if (x.item != item) now = 0;
      item = x.item;
      if (p.stages[stage] == 's') now = std::max(now, over[stage]);
      now += took.span;
      over[stage] = std::max(over[stage], now);
      if (x.stage == trace::pass::all_stages) std::ranges::fill(over, now);
      sum.span = std::max(sum.span, now);
    }
    at_ = back;
    return sum;
  }
  static void add(length& to, length x) {
    to.own += x.own;
    to.span += x.span;
  }
  static double own(const trace::strand_step& s) { return static_cast<double>(s.own_ps) * 1e-3; }

  const trace::file& file_;
  std::uint32_t at_ = 0;
};

// The longest chain of bodies of a section of which each must come behind the one before, whatever runs ahead: it is
// called by that, or reads what that has written.
double longest_chain(const trace::file& f, const trace::section& s) {
  std::vector<double> written(s.words + std::size_t{1}, 0), called(s.last - s.first, 0);
  double longest = 0;
  for (std::uint32_t i = s.first; i < s.last; ++i) {
    const trace::body& b = f.bodies[i];
    double begin = called[b.number];
    for (std::uint32_t k = b.first; k < b.last; ++k)
      if (const trace::touch& t = f.touches[k]; t.reads != 0)
        begin = std::max(begin, written[t.word] - static_cast<double>(t.before_ps) * 1e-3);
    const double end = begin + static_cast<double>(b.own_ps) * 1e-3;
    for (std::uint32_t k = b.first; k < b.last; ++k)
      if (f.touches[k].writes != 0) written[f.touches[k].word] = end;
    for (std::uint32_t c = 0; c < b.calls; ++c) called[b.child + c] = end;
    longest = std::max(longest, end);
  }
  return longest;
}

}  // namespace

std::vector<double> strand_shares(const trace::file& r, const pieces& p) {
  if (r.strands.empty() && r.bodies.empty()) return {};
  std::vector<length> all(r.tasks.size() + 1);
  walk steps(r);
  for (std::size_t s = 0; s < r.strands.size(); ++s) {
    if (r.strands[s].of == trace::strand_of::branch || r.strands[s].of == trace::strand_of::pass) continue;
    const length x = steps.of(s);
    length& of = all[r.strands[s].task == none ? r.tasks.size() : r.strands[s].task];
    of.own += x.own;
    of.span += x.span;
  }
  for (const trace::section& s : r.sections)
    if (s.is_known) {
      for (std::uint32_t b = s.first; b < s.last; ++b)
        if (r.bodies[b].task == s.begins) all[s.begins].own += static_cast<double>(r.bodies[b].own_ps) * 1e-3;
      all[s.begins].span += longest_chain(r, s);
    }
  for (std::size_t t = 0; t < r.own_in_strands.size(); ++t) all[t].own = r.own_in_strands[t];
  std::vector<double> shares(all.size(), 1);
  for (std::size_t t = 0; t < all.size(); ++t) {
    double whole = 0;
    for (const piece& x : p.of(t)) whole += static_cast<double>(x.length());
    if (whole > 0) shares[t] = std::max(0.0, 1 - (all[t].own - all[t].span) / whole);
    if (t < r.helps.size() && r.helps[t] != none) shares[t] = 0;  // it is in the span of the pipeline
    if (t < r.crews.size() && r.crews[t] != none && r.sections[r.crews[t]].is_known &&
        r.sections[r.crews[t]].begins != t)
      shares[t] = 0;
  }
  return shares;
}

}  // namespace weft::tool::report
