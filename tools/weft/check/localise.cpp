#include "localise.hpp"

#include <algorithm>

namespace weft::tool::check {

namespace {

// Finds i in [0, n) with same(i) != same(i + 1), given that same(0) and same(n) differ. `at_0` is same(0).
template <class Same> std::size_t turning_point(std::size_t n, bool at_0, Same same) {
  std::size_t low = 0, high = n;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (same(middle) == at_0 ? low : high) = middle;
  }
  return low;
}

// Steps with `moved` taken out and put in again at place `to`.
order with_at(order steps, std::size_t moved, std::size_t to) {
  const step s = steps[moved];
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(moved));
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(to), s);
  return steps;
}

class search {
 public:
  search(const program& p, const result& expected, finding& f) : program_(p), expected_(expected), finding_(f) {}

  [[nodiscard]] observation run(const order& steps) {
    ++finding_.runs;
    return program_.run(steps);
  }
  [[nodiscard]] bool as_expected(const order& steps) { return run(steps).got == expected_; }

 private:
  const program& program_;
  const result& expected_;
  finding& finding_;
};

// Fills in what the last two runs, whose results differ, really did.
void look(finding& f, const observation& plain, const observation& other) {
  f.plain = plain.seen.steps;
  f.other = other.seen.steps;
  f.plain_got = plain.got;
  f.other_got = other.got;
  f.seen = plain.seen;
  for (const auto& [id, t] : other.seen.tasks) f.seen.tasks.emplace(id, t);
  std::size_t at = 0;
  while (at < f.plain.size() && at < f.other.size() && f.plain[at] == f.other[at]) ++at;
  if (at == f.plain.size() || at == f.other.size()) {
    f.why_not = "both orders are one and the same as far as they go";
    return;
  }
  f.first = f.plain[at];
  f.second = f.other[at];
  // A run that crashed or did not end may not have come to its second one.
  const bool other_ends = at + 1 == f.other.size() || f.other[at + 1] == f.first;
  const bool plain_ends = at + 1 == f.plain.size() || f.plain[at + 1] == f.second;
  f.adjacent = plain_ends && other_ends && (at + 1 < f.plain.size() || at + 1 < f.other.size());
}

}  // namespace

finding localise(const program& p, const result& expected, const order& plain, const order& other) {
  finding f;
  search s(p, expected, f);
  if (!s.as_expected(plain)) {
    f.why_not = "the steps of the plain run in their order, forced, gave another result";
    return f;
  }
  if (s.as_expected(other)) {
    f.why_not =
        "the steps of the other run in their order, on one worker, gave the usual result: the result depends on "
        "the worker, on the number of workers or on modelled time, and not on the order alone";
    return f;
  }
  const std::size_t k =
      turning_point(other.size(), true, [&](std::size_t n) { return s.as_expected(first_of_then(other, n, plain)); });
  const order base = first_of_then(other, k, plain);
  const auto from = std::find(base.begin(), base.end(), other[k]);
  if (from == base.end()) {
    f.why_not = "step " + std::to_string(other[k].number) + " of " + other[k].actor +
                ", with which the results part, is in one of the two runs only";
    return f;
  }
  const auto moved = static_cast<std::size_t>(from - base.begin());
  // At 0 the step stays where it was; then it moves towards the front.
  const std::size_t back =
      turning_point(moved - k, true, [&](std::size_t n) { return s.as_expected(with_at(base, moved, moved - n)); });
  const observation a = s.run(with_at(base, moved, moved - back));
  const observation b = s.run(with_at(base, moved, moved - back - 1));
  if ((a.got == expected) == (b.got == expected))
    f.why_not = "the two orders that were found did not give the two results again";
  else
    look(f, a, b);
  return f;
}

// Two submissions that nothing orders, of tasks that use the same data: the first submitted is the first to run.
void suspect_submissions(const history& h, const step& a, const step& b, std::vector<std::string>& told) {
  const auto of = [&h](const step& s) {
    const auto found = h.submits.find(s);
    return found == h.submits.end() ? nullptr : h.find(found->second);
  };
  const task* const left = of(a);
  const task* const right = of(b);
  if (left == nullptr || right == nullptr) return;
  for (const use& u : left->uses)
    for (const use& v : right->uses)
      if (u.handle == v.handle)
        told.push_back(actor_text(h, left->id) + " declares " + use_text(h, u) + " and " + actor_text(h, right->id) +
                       " " + use_text(h, v) + ", and nothing orders their submissions");
}

std::vector<std::string> suspicions(const history& h, const step& a, const step& b) {
  std::vector<std::string> told;
  const task* const left = h.find(a.actor);
  const task* const right = h.find(b.actor);
  const auto find = [](const task& t, const use& u) {
    return std::find_if(t.uses.begin(), t.uses.end(), [&u](const use& x) { return x.handle == u.handle; });
  };
  const auto only = [&](const task* t, const task* other, const step& other_step) {
    if (t == nullptr) return;
    for (const use& u : t->uses)
      if (other == nullptr || find(*other, u) == other->uses.end())
        told.push_back(actor_text(h, t->id) + " declares " + use_text(h, u) + "; " + actor_text(h, other_step.actor) +
                       " does not declare this handle: does it use its data?");
  };
  only(left, right, b);
  only(right, left, a);
  if (left != nullptr && right != nullptr) {
    for (const use& u : left->uses) {
      const auto same = find(*right, u);
      if (same == right->uses.end() || same->kind != u.kind) continue;
      if (u.kind == "read")
        told.push_back("both declare " + use_text(h, u) + ": does one of them write it?");
      else if (u.kind != "write")
        told.push_back("both declare " + use_text(h, u) + ", which may come in any order: do their bodies commute?");
    }
  }
  if (left == nullptr || right == nullptr)
    told.push_back("the main thread and what runs beside it are ordered by waits only: rt.wait(), rt.wait(handle)");
  suspect_submissions(h, a, b, told);
  if (told.empty()) told.push_back("neither declares any data: what do both use?");
  return told;
}

}  // namespace weft::tool::check
