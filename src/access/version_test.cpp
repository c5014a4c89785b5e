// Versions, wait lists and exclusive access, step by step on one thread. Interleavings: version_model_test.cpp.
#include "access/version.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "access_program.hpp"
#include "interleave.hpp"
#include "machine/host/host.hpp"

namespace weft::access {
namespace {

using accesses::task;
using M = machine::host;

constexpr std::uint8_t R = detail::kind_read;
constexpr std::uint8_t W = detail::kind_write;
constexpr std::uint8_t A = detail::kind_add;
constexpr std::uint8_t C = detail::kind_concurrent;

using numbers = std::vector<std::uint64_t>;

numbers required(const std::vector<std::uint8_t>& kinds) {
  handle_state h;
  base::locked<M> guard(h.lock);
  numbers versions;
  for (const std::uint8_t kind : kinds) versions.push_back(register_access(h, kind));
  CHECK(h.registered == kinds.size());
  h.registered = 0;  // nothing was submitted
  return versions;
}

accesses::identity engine;
accesses::identity other_engine;

// Collects what becomes ready.
struct ready_list {
  std::vector<task*> tasks;
  void operator()(task& t) { tasks.push_back(&t); }
  [[nodiscard]] std::vector<task*> take() { return std::exchange(tasks, {}); }
};

std::vector<task*> submit(task& t) {
  ready_list ready;
  accesses::submit<M>(t, engine, [&](task& x) { ready(x); });
  return ready.tasks;
}
std::vector<task*> finish(task& t) {
  ready_list ready;
  accesses::finish<M>(t, [&](task& x) { ready(x); });
  return ready.tasks;
}
using tasks = std::vector<task*>;

}  // namespace

TEST_CASE("version: SuperGlue figure 3 - two reads 0, a write 2, three adds 3, a write 6") {
  CHECK(required({R, R, W, A, A, A, W}) == numbers{0, 0, 2, 3, 3, 3, 6});
}

TEST_CASE("version: an access joins the group of its kind if that kind commutes") {
  CHECK(required({W, W, W}) == numbers{0, 1, 2});
  CHECK(required({R, R, R}) == numbers{0, 0, 0});
  CHECK(required({A, A, A}) == numbers{0, 0, 0});
  CHECK(required({C, C, C}) == numbers{0, 0, 0});
  CHECK(required({R, A, C, W, R, A, C, W}) == numbers{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(required({A, A, C, C, A, R, R, W, R}) == numbers{0, 0, 2, 2, 4, 5, 5, 7, 8});
  CHECK(required({W, R, R, W, W, A}) == numbers{0, 1, 1, 3, 4, 5});
}

TEST_CASE("version: versions compare by difference, right up to half the range") {
  constexpr std::uint64_t last = version_mask;
  constexpr std::uint64_t half = version_half;
  CHECK(reached(0, 0));
  CHECK(reached(1, 0));
  CHECK(!reached(0, 1));
  CHECK(reached(0, last));  // one further, across the wrap
  CHECK(!reached(last, 0));
  CHECK(reached(5, last - 5));
  CHECK(!reached(last - 5, 5));
  CHECK(reached(half - 1, 0));
  CHECK(!reached(half, 0));
  CHECK(reached(half, 1));
  CHECK(!reached(0, half - 1));
}

TEST_CASE("version: a handle far into its life goes on as one at the start") {
  handle_state h;
  const std::uint64_t start = (std::uint64_t{1} << version_bits) - 2;  // two more and it wraps
  accesses::age(h, start);
  task w1, r1, r2;
  w1.use(h, W);
  r1.use(h, R);
  r2.use(h, R);
  CHECK(submit(w1) == tasks{&w1});
  CHECK(submit(r1).empty());
  CHECK(submit(r2).empty());
  CHECK(r2.a[0].required == start + 1);
  CHECK(finish(w1) == tasks{&r1, &r2});
  CHECK(finish(r1).empty());
  CHECK(finish(r2).empty());
  CHECK(version_in(h.word.raw) == ((start + 3) & version_mask));
}

namespace {

// The wait list of h, checked in both directions.
std::vector<task*> listed(const handle_state& h) {
  std::vector<task*> forward;
  std::vector<task*> backward;
  for (record* r = h.waiters_head; r != nullptr; r = r->waiting.next) forward.push_back(&task::of(r));
  for (record* r = h.waiters_tail; r != nullptr; r = r->waiting.prev) backward.push_back(&task::of(r));
  std::reverse(backward.begin(), backward.end());
  REQUIRE(forward == backward);
  return forward;
}

// Lists tasks with these versions in this order and compares with a stable sort; then removes them in another order.
void lists_in_order(const numbers& versions, std::uint64_t base, base::random& rng) {
  handle_state h;
  base::locked<M> guard(h.lock);
  std::vector<task> all(versions.size());
  std::vector<task*> expected;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].use(h, R).a[0].required = base + versions[i];
    insert_waiter(h, &all[i].r, base + versions[i]);
    const auto later = [](std::uint64_t v, const task* t) { return !reached(v, t->a[0].required); };
    expected.insert(std::upper_bound(expected.begin(), expected.end(), base + versions[i], later), &all[i]);
    REQUIRE(listed(h) == expected);
  }
  while (!expected.empty()) {
    const auto at = expected.begin() + rng.below(static_cast<std::uint32_t>(expected.size()));
    remove_waiter(h, &(*at)->r);
    expected.erase(at);
    REQUIRE(listed(h) == expected);
  }
}

}  // namespace

TEST_CASE("version: the wait list is ordered by version, and by arrival among equals") {
  base::random rng(1);
  numbers order = {0, 1, 2, 3, 4, 5};
  do {  // every position between any others, from either end
    lists_in_order(order, 0, rng);
  } while (std::next_permutation(order.begin(), order.end()));
  for (int round = 0; round < 300; ++round) {
    numbers versions(1 + rng.below(20));
    for (std::uint64_t& v : versions) v = rng.below(5);
    lists_in_order(versions, 0, rng);
    lists_in_order(versions, 0 - std::uint64_t{2}, rng);  // the versions wrap within the list
  }
}

TEST_CASE("version: finish wakes those whose version is there, in order, and no others") {
  handle_state h;
  task r1, w2, r3, r4, w5;
  r1.use(h, R);
  w2.use(h, W);
  r3.use(h, R);
  r4.use(h, R);
  w5.use(h, W);
  CHECK(submit(r1) == tasks{&r1});
  for (task* t : {&w2, &r3, &r4, &w5}) CHECK(submit(*t).empty());
  CHECK(alarm_in(h.word.raw) == 0);
  CHECK(finish(r1) == tasks{&w2});
  CHECK(finish(w2) == tasks{&r3, &r4});
  CHECK(finish(r4).empty());
  CHECK(alarm_in(h.word.raw) == 0);
  CHECK(finish(r3) == tasks{&w5});
  CHECK(h.word.raw == word_at(4));  // nobody is left, so the next finish takes the short way
  CHECK(finish(w5).empty());
}

TEST_CASE("version: exclusive access is handed over one at a time, in order of arrival") {
  handle_state h;
  task w, a[4], r;
  w.use(h, W);
  r.use(h, R);
  CHECK(submit(w) == tasks{&w});
  for (task& t : a) CHECK(submit(t.use(h, A)).empty());
  CHECK(submit(r).empty());
  CHECK(finish(w) == tasks{&a[0]});
  for (int i = 0; i < 3; ++i) CHECK(finish(a[i]) == tasks{&a[i + 1]});
  CHECK(finish(a[3]) == tasks{&r});
  CHECK(finish(r).empty());
  CHECK(!h.exclusive_taken);
}

TEST_CASE("version: a task that needs two exclusively takes both or neither") {
  handle_state x, y;
  task ax, axy, ay;
  ax.use(x, A);
  axy.use(x, A).use(y, A);
  ay.use(y, A);
  CHECK(submit(ax) == tasks{&ax});
  CHECK(submit(axy).empty());
  CHECK(!y.exclusive_taken);  // so that it stands in nobody's way while it waits for x
  CHECK(submit(ay) == tasks{&ay});
  CHECK(finish(ax).empty());  // x is free now, y is not
  CHECK(!x.exclusive_taken);
  CHECK(finish(ay) == tasks{&axy});
  CHECK((x.exclusive_taken && y.exclusive_taken));
  CHECK(finish(axy).empty());
}

TEST_CASE("version: naming a handle again with the same kind counts once") {
  handle_state h, k;
  task t;
  t.use(h, R).use(k, A).use(h, R).use(k, A);
  CHECK(submit(t) == tasks{&t});
  CHECK(h.registered == 1);
  CHECK(k.registered == 1);
  CHECK(t.r.exclusives == 1);
  CHECK(!is_repeated(t.a[0]));
  CHECK((is_repeated(t.a[2]) && is_repeated(t.a[3])));
  CHECK(&handle_of(t.a[2]) == &h);  // still gives the datum
  task next;
  next.use(h, W).use(k, W);
  CHECK(submit(next).empty());
  CHECK(finish(t) == tasks{&next});
  CHECK(finish(next).empty());
}

TEST_CASE("version: exclusive accesses are counted by handle, however often one is named") {
  handle_state x, y;
  task thrice, both;
  thrice.use(x, A).use(x, A).use(x, A);
  both.use(x, A).use(x, A).use(y, A);
  CHECK(submit(thrice) == tasks{&thrice});
  CHECK(thrice.r.exclusives == 1);
  CHECK(x.exclusive_taken);
  CHECK(submit(both).empty());
  CHECK(both.r.exclusives == 2);
  CHECK(finish(thrice) == tasks{&both});
  CHECK((x.exclusive_taken && y.exclusive_taken));
  CHECK(finish(both).empty());
}

TEST_CASE("version: three that wait for the same two exclusively do not hand them around for ever") {
  handle_state x, y;
  task t, p, q, r;
  t.use(x, A).use(y, A);
  p.use(x, A).use(y, A);
  q.use(y, A).use(x, A);
  r.use(x, A).use(y, A);
  CHECK(submit(t) == tasks{&t});
  for (task* waits : {&p, &q, &r}) CHECK(submit(*waits).empty());
  task* running = &t;
  for (int left = 3; left > 0; --left) {
    const tasks next = finish(*running);
    REQUIRE(next.size() == 1);
    running = next.front();
  }
  CHECK(finish(*running).empty());
  CHECK((x.registered == 4 && version_in(x.word.raw) == 4 && version_in(y.word.raw) == 4));
}

namespace {

std::string refusal(task& t, accesses::identity& user = engine) {
  open_reductions<M> none;
  closers no_closers;
  woken out;
  try {
    static_cast<void>(register_task<M>(&t.r, user.get(), none, no_closers, out));
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("version: two kinds for one handle are refused by name, and nothing is touched") {
  handle_state named, unnamed, first;
  detail::set_name(named, "forces");
  task t, u;
  t.use(first, W).use(named, R).use(named, W);
  u.use(unnamed, A).use(first, R).use(unnamed, R);
  CHECK(refusal(t) == "weft: a task names handle 'forces' with two kinds of access; name it once, with the stronger "
                      "kind (a write may also read)");
  CHECK(refusal(u) == "weft: a task names handle #" + std::to_string(unnamed.id) +
                          " with two kinds of access; name it once, with the stronger kind (a write may also read)");
  for (const handle_state* h : {&named, &unnamed, &first}) {
    CHECK(h->registered == 0);
    CHECK(h->lock.raw == 0);
    CHECK(h->engine == nullptr);
  }
}

TEST_CASE("version: a handle in use by another runtime is refused, a finished one changes hands") {
  handle_state h, k;
  detail::set_name(h, "shared");
  task mine, theirs, later;
  mine.use(h, W);
  theirs.use(k, R).use(h, R);
  later.use(h, R);
  CHECK(submit(mine) == tasks{&mine});
  CHECK(refusal(theirs, other_engine) ==
        "weft: handle 'shared' is still in use by another runtime; wait there before submitting tasks on it here");
  CHECK(h.registered == 1);
  CHECK((k.registered == 0 && k.lock.raw == 0 && h.lock.raw == 0));
  CHECK(finish(mine).empty());
  CHECK(refusal(later, other_engine) == "accepted");
  CHECK(h.engine == other_engine.get());
  CHECK(finish(later).empty());
}

namespace {

// Notes which locks are taken.
struct noting : machine::host {
  static inline std::vector<const void*> taken;
  template <class T> static T exchange(detail::cell<T>& c, T v, base::order o) noexcept {
    taken.push_back(&c);
    return host::exchange(c, v, o);
  }
};

}  // namespace

TEST_CASE("version: handles are locked once each, in the order of their ids") {
  base::random rng(3);
  for (const std::size_t n : {1u, 2u, 5u, 16u, 17u, 22u}) {  // from 17 on the set is on the heap
    std::vector<handle_state> handles(n);
    std::vector<handle_state*> shuffled;
    for (handle_state& h : handles) shuffled.push_back(&h);
    for (std::size_t i = n; i > 1; --i) std::swap(shuffled[i - 1], shuffled[rng.below(static_cast<std::uint32_t>(i))]);
    task t;
    for (handle_state* h : shuffled) t.use(*h, R);
    t.use(*shuffled[n / 2], R);
    lock_set set(t.r);
    noting::taken.clear();
    set.acquire<noting>();
    std::vector<const void*> expected;
    for (handle_state& h : handles) expected.push_back(&h.lock);
    CHECK(noting::taken == expected);
    for (handle_state& h : handles) CHECK(h.lock.raw == 1);
    set.release<noting>();
    for (handle_state& h : handles) CHECK(h.lock.raw == 0);
  }
}

namespace {

// A random program: tasks over a few handles, submitted and finished in random order, beside a naive reading of the
// rules. A task may run when all earlier tasks on its handles are finished, but for those of its own group; it must run
// as soon as it may and nobody has what it needs exclusively.
class program {
 public:
  explicit program(std::uint64_t seed) : rng_(seed), handles_(1 + rng_.below(5)), history_(handles_.size()) {
    tasks_.resize(1 + rng_.below(40));
    uses_.resize(tasks_.size());
    state_.resize(tasks_.size(), waits);
  }

  const char* run() {
    std::size_t finished = 0;
    while (finished < tasks_.size() && wrong_ == nullptr) {
      if (submitted_ < tasks_.size() && (running_.empty() || rng_.below(2) == 0)) {
        submit_next();
      } else if (running_.empty()) {
        wrong_ = "tasks wait and none can run";
      } else {
        const std::size_t at = rng_.below(static_cast<std::uint32_t>(running_.size()));
        const std::size_t i = running_[at];
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
        state_[i] = over;
        ++finished;
        accesses::finish<M>(tasks_[i], [this](task& t) { start(t); });
      }
      nobody_is_kept_back();
    }
    for (const handle_state& h : handles_)
      if (wrong_ == nullptr && (!accesses::is_done(h) || h.exclusive_taken))
        wrong_ = "a handle is not at rest in the end";
    accesses::forget_uses(handles_);
    return wrong_;
  }

 private:
  enum state : char { waits, runs, over };
  // So that alarms are passed over, and with narrow versions no more than may be is outstanding.
  static constexpr auto amount_max = static_cast<std::uint32_t>(versions_are_narrow ? outstanding_max / 40 : 600);
  struct use {
    std::size_t handle;
    std::uint8_t kind;
    std::size_t group;
  };
  struct event {
    std::size_t task;
    std::size_t group;
    std::uint8_t kind;
  };

  void submit_next() {
    const std::size_t i = submitted_++;
    for (std::uint32_t n = rng_.below(5); n > 0; --n) {
      const std::size_t h = rng_.below(static_cast<std::uint32_t>(handles_.size()));
      std::uint8_t kind = rng_.below(2) == 0 ? A : accesses::kinds[rng_.below(4)];
      const auto same = [h](const use& u) { return u.handle == h; };
      const auto before = std::find_if(uses_[i].begin(), uses_[i].end(), same);
      if (before != uses_[i].end()) {
        tasks_[i].use(handles_[h], before->kind);  // a repetition
        continue;
      }
      tasks_[i].use(handles_[h], kind, rng_.below(3) == 0 ? 1 + rng_.below(amount_max) : 1);
      std::vector<event>& past = history_[h];
      const bool joins = !past.empty() && past.back().kind == kind && kind != W;
      const std::size_t group = past.empty() ? 0 : past.back().group + (joins ? 0 : 1);
      past.push_back({i, group, kind});
      uses_[i].push_back({h, kind, group});
    }
    accesses::submit<M>(tasks_[i], engine, [this](task& t) { start(t); });
  }

  [[nodiscard]] bool versions_there(std::size_t i) const {
    for (const use& u : uses_[i])
      for (const event& e : history_[u.handle]) {
        if (e.task == i) break;
        if (e.group != u.group && state_[e.task] != over) return false;
      }
    return true;
  }
  [[nodiscard]] bool exclusives_free(std::size_t i) const {
    for (const use& u : uses_[i])
      for (const std::size_t other : running_)
        for (const use& o : uses_[other])
          if (u.kind == A && o.kind == A && o.handle == u.handle) return false;
    return true;
  }

  void start(task& t) {
    const auto i = static_cast<std::size_t>(&t - tasks_.data());
    if (state_[i] != waits) wrong_ = "a task was started twice";
    if (!versions_there(i)) wrong_ = "a task was started before its versions were there";
    if (!exclusives_free(i)) wrong_ = "two tasks have exclusive access to one handle";
    state_[i] = runs;
    running_.push_back(i);
  }

  void nobody_is_kept_back() {
    for (std::size_t i = 0; i < submitted_; ++i)
      if (state_[i] == waits && versions_there(i) && exclusives_free(i)) wrong_ = "a task that could run is kept back";
  }

  base::random rng_;
  std::vector<handle_state> handles_;
  std::vector<std::vector<event>> history_;  // by handle: who uses it, in order of submission
  std::vector<task> tasks_;
  std::vector<std::vector<use>> uses_;  // by task
  std::vector<state> state_;
  std::vector<std::size_t> running_;
  std::size_t submitted_ = 0;
  const char* wrong_ = nullptr;
};

}  // namespace

TEST_CASE("version: random programs never run a task too early, keep one back, or deadlock") {
  interleave::all_seeds(3000, [](std::uint64_t seed) { return program(seed).run(); });
}

}  // namespace weft::access
