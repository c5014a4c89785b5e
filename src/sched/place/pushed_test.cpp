// What is pushed to a worker: into its box while there is room, from there into its deque, or to others while its body
// is long. And real threads that push to each other all the time.
#include "sched/place/pushed.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>

#include "interleave.hpp"
#include "model/machine_file.hpp"
#include "runtime/instantiated.hpp"
#include "scheduler.hpp"
#include "weft/weft.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct pushing_answers : testing::answers {
  using answers::answers;
  bool pushes() const noexcept override { return true; }
  bool pushes_to_far_end() const noexcept override { return far_end; }
  unsigned victim(unsigned self, unsigned i, base::random&) override { return (self + 1 + i) % 6; }
  bool far_end = false;
};
// Six workers on three nodes. The policy answers what the test says.
struct six_workers {
  notes machine;
  testing::scheduler<notes> s{machine, 6, true};
  pushing_answers rules{s.places};
  pushed_source<notes> here{s.placement};
  pushed_elsewhere<notes> elsewhere{s.crew, s.placement, s.recording};
  std::deque<task> tasks;
  explicit six_workers(bool far_end = false) {
    rules.far_end = far_end;
    s.placement.open(rules, s.places);
    elsewhere.open(s.places, rules);
    detail::poke(s.crew.main().tick_limit, ticks_between_looks);
  }
  detail::record* push(unsigned from, std::uint16_t to) {
    rules.next = destination::pushed(to);
    task& t = tasks.emplace_back();
    s.placement.place(s.crew[from], &t.r);
    return &t.r;
  }
  [[nodiscard]] std::uint64_t pushed(unsigned by) { return detail::peek(s.crew[by].counted.pushed); }
  [[nodiscard]] std::uint64_t refused(unsigned by) { return detail::peek(s.crew[by].counted.refused); }
};

}  // namespace

TEST_CASE("pushed: of what a worker with long bodies takes in all is within reach of others") {
  for (const bool coarse : {false, true}) {
    six_workers t;
    worker<notes>& w = t.s.crew[3];
    w.pace.coarse = coarse;
    for (unsigned i = 0; i < 6; ++i) static_cast<void>(t.push(0, 3));
    CHECK(t.here.take(w) != nullptr);
    CHECK((deque<notes>::stealable(w) && deque<notes>::has_private(w) != coarse));
  }
}

TEST_CASE("pushed: a worker takes in all that was pushed, and runs the oldest first") {
  six_workers t;
  worker<notes>& w = t.s.crew[3];
  CHECK((t.here.take(w) == nullptr && !t.here.visible(w)));
  const auto *a = t.push(0, 3), *b = t.push(1, 3), *c = t.push(0, 3);
  CHECK((t.here.visible(w) && detail::peek(w.tick_limit) == 0));
  CHECK((t.pushed(0) == 2 && t.pushed(1) == 1 && t.refused(0) == 0));
  CHECK(t.here.take(w) == a);
  CHECK((!t.here.visible(w) && detail::peek(w.tick_limit) == ticks_between_looks && w.look.has_own()));
  CHECK(t.s.own(3) == std::vector<detail::record*>{const_cast<detail::record*>(c), const_cast<detail::record*>(b)});
}

TEST_CASE(
    "pushed: of what a worker took in others may have their part, and a member that waits is looked for at once") {
  six_workers t;
  worker<notes>& w = t.s.crew[3];
  for (unsigned i = 0; i < 8; ++i) t.push(0, 3);
  CHECK(t.here.take(w) == &t.tasks.front().r);
  CHECK(shared_part::of(detail::peek(w.shared)).size != 0);
  task member;
  w.team_box.push(&member.r);
  detail::poke(w.tick_limit, 0u);
  static_cast<void>(t.here.take(w));
  CHECK(detail::peek(w.tick_limit) == 0);
  CHECK(w.team_box.pop() == &member.r);
}

TEST_CASE("pushed: a full box refuses, which is counted, and the task stays with who has it") {
  six_workers t;
  for (unsigned i = 0; i < base::pushed_max; ++i) static_cast<void>(t.push(2, 4));
  CHECK((t.pushed(2) == base::pushed_max && t.refused(2) == 0));
  auto* const left = t.push(2, 4);
  CHECK((t.pushed(2) == base::pushed_max && t.refused(2) == 1));
  CHECK(t.s.own(2) == std::vector<detail::record*>{left});
  CHECK(t.here.take(t.s.crew[4]) != nullptr);  // and room again
  static_cast<void>(t.push(2, 4));
  CHECK(t.refused(2) == 1);
  // A thread outside has no deque.
  worker<notes> guest;
  guest.role = role::guest;
  guest.id = worker<notes>::no_id;
  for (unsigned i = 0; i < base::pushed_max; ++i) static_cast<void>(t.push(2, 5));
  task x;
  t.rules.next = destination::pushed(5);
  t.s.placement.place(guest, &x.r);
  CHECK(t.s.content(t.s.placement.central()) == std::vector<detail::record*>{&x.r});
}

TEST_CASE("pushed: what a worker would push to itself follows, or is its own; to a creator nobody pushes") {
  six_workers t;
  t.rules.next = destination::pushed(1);
  task x;
  CHECK(t.s.placement.follows(t.s.crew[1], x.r));
  CHECK(!t.s.placement.follows(t.s.crew[2], x.r));
  auto* const own = t.push(1, 1);
  CHECK(t.s.own(1) == std::vector<detail::record*>{own});
  t.s.crew[5].role = role::creator;
  auto* const kept = t.push(1, 5);
  CHECK(t.s.own(1) == std::vector<detail::record*>{kept});
  CHECK((t.pushed(1) == 0 && t.refused(1) == 0));
}

TEST_CASE("pushed: who has nothing to do takes from boxes at its node, and from others before it sleeps") {
  six_workers t;
  const auto *a = t.push(0, 3), *b = t.push(0, 3), *c = t.push(0, 3);
  CHECK(t.elsewhere.visible(t.s.crew[0]));
  CHECK(!t.elsewhere.visible(t.s.crew[3]));
  CHECK(t.elsewhere.take(t.s.crew[2]) == a);  // worker 3's mate
  CHECK(t.elsewhere.take(t.s.crew[5]) == nullptr);
  const looking::everywhere all(t.s.crew[5].look);
  CHECK(t.elsewhere.take(t.s.crew[5]) == b);
  CHECK(t.elsewhere.take(t.s.crew.reserve()) == c);
  CHECK(detail::peek(t.s.crew[2].counted.steals) == 1);
  CHECK(t.elsewhere.take(t.s.crew.reserve()) == nullptr);
  CHECK(t.here.take(t.s.crew.reserve()) == nullptr);
  CHECK(t.here.take(t.s.crew[3]) == nullptr);  // nothing is left, so it need not look before each body
  CHECK(detail::peek(t.s.crew[3].tick_limit) == ticks_between_looks);
}

TEST_CASE("pushed: at the far end of a queue there is room for all, behind what its worker has in its deque") {
  six_workers t(true);
  worker<notes>& w = t.s.crew[3];
  const auto *a = t.push(0, 3), *b = t.push(3, 3);
  CHECK(detail::peek(w.tick_limit) == ticks_between_looks);  // no look before each body
  for (unsigned i = 0; i < 2 * base::pushed_max; ++i) static_cast<void>(t.push(0, 3));
  CHECK(t.refused(0) == 0);
  t.rules.next = destination::own();
  task first;
  t.s.placement.place(w, &first.r);
  CHECK((t.here.take(w) == nullptr && t.here.visible(w)));
  CHECK(deque<notes>::pop(w, false) == &first.r);
  CHECK((t.here.take(w) == a && t.here.take(w) == b && t.s.own(3).empty()));
}

TEST_CASE("pushed: thieves ask for far ends in the order of the policy, at whatever node, and take one") {
  six_workers t(true);
  const auto *a = t.push(0, 1), *b = t.push(0, 1), *c = t.push(0, 4);
  CHECK(t.elsewhere.take(t.s.crew[2]) == c);  // 3, 4, 5, 0, 1
  CHECK(t.elsewhere.take(t.s.crew[2]) == a);
  CHECK(t.s.own(2).empty());
  CHECK(t.elsewhere.take(t.s.crew.reserve()) == b);
}

TEST_CASE("pushed: who sleeps is woken; else somebody is who searches") {
  six_workers t;
  static_cast<void>(t.s.sleep.announce(2));
  static_cast<void>(t.s.sleep.announce(4));
  static_cast<void>(t.push(0, 4));
  CHECK(t.machine.take_woken() == std::vector<unsigned>{4});
  t.s.sleep.give_up();  // worker 4's search
  static_cast<void>(t.push(0, 4));
  CHECK(t.machine.take_woken() == std::vector<unsigned>{2});
}

namespace {

// Pushes each task to some worker, whatever its data.
class everywhere_else final : public policy {
 public:
  using policy::policy;
  destination ready(unsigned, const detail::record&, base::random& rng) override {
    return destination::pushed(static_cast<std::uint16_t>(rng.below(places().workers())));
  }
  search_levels levels() const noexcept override { return search_levels::near_to_far; }
  bool always_own_deque() const noexcept override { return false; }
  bool pushes() const noexcept override { return true; }
};
constexpr policy_entry pushes_all = {{"everywhere_else", "for this test"},
                                     [](const policy_entry&, const place::tree& places) -> std::unique_ptr<policy> {
                                       return std::make_unique<everywhere_else>(places);
                                     }};

constexpr std::size_t stack_bytes = std::size_t{128} << 10;

// Tasks in tasks, and chains over a few handles, each on some worker. Returns what is wrong, or nullptr.
template <class M> const char* run_program(engine<M>& e, unsigned tasks) {
  std::deque<handle<unsigned>> cells;
  for (unsigned i = 0; i < 5; ++i) cells.emplace_back(0u);
  std::atomic<unsigned> inner{0};
  for (unsigned i = 0; i < tasks; ++i)
    detail::submit(e, read(cells[(i + 1) % 5]), write(cells[i % 5]), [&, i](const unsigned&, unsigned& x) {
      ++x;
      for (unsigned k = 0; k < i % 3; ++k) detail::submit(e, [&inner] { ++inner; });
    });
  e.wait_all();
  unsigned sum = 0, wanted = 0;
  for (unsigned i = 0; i < tasks; ++i) wanted += i % 3;
  for (auto& c : cells) sum += c.unguarded();
  if (sum != tasks || inner != wanted) return "a task was lost, or ran twice";
  return nullptr;
}

using V = machine::virtual_machine;
const char* tried(std::uint64_t seed) {
  const unsigned workers = 1 + static_cast<unsigned>(seed % 6);
  engine<V> e(engine_setup{.workers_wanted = workers,
                           .seed = seed,
                           .window_tasks = 1024,
                           .stack_bytes = stack_bytes,
                           .search_ns = base::search_ns,
                           .decoupled = seed % 3 == 0 && workers > 1},
              V::setup{.seed = seed, .random_order = true});
  e.the_machine().start(workers, &engine<V>::worker_entry, &e, stack_bytes);
  e.open(testing::places_of(workers), pushes_all);
  return run_program(e, 60);
}

// Worker 1's body is long and waits for what was pushed to it, which somebody else must run.
class to_first final : public policy {
 public:
  using policy::policy;
  destination ready(unsigned, const detail::record& r, base::random&) override {
    return r.name == nullptr ? destination::own() : destination::pushed(1);
  }
  search_levels levels() const noexcept override { return search_levels::near_to_far; }
  bool always_own_deque() const noexcept override { return false; }
  bool pushes() const noexcept override { return true; }
};
constexpr policy_entry pushes_to_first = {
    {"to_first", "for this test"}, [](const policy_entry&, const place::tree& places) -> std::unique_ptr<policy> {
      return std::make_unique<to_first>(places);
    }};

}  // namespace

TEST_CASE("pushed: nothing is lost and nothing runs twice under random schedules, with a creator or without") {
  interleave::all_seeds(150, tried);
}

TEST_CASE("pushed: what was pushed to a worker with a long body is run by others meanwhile, also of another node") {
  for (const unsigned workers : {3u, 4u}) {  // the third sits at another node than the second
    engine<V> e(engine_setup{.workers_wanted = workers,
                             .seed = 1,
                             .window_tasks = 1024,
                             .stack_bytes = stack_bytes,
                             .search_ns = base::search_ns},
                V::setup{.seed = 1, .model = model::with_cores(model::load_machine("virtual", {}), workers)});
    e.the_machine().start(workers, &engine<V>::worker_entry, &e, stack_bytes);
    e.open(testing::places_of(workers), pushes_to_first);
    constexpr std::uint64_t long_ps = 1'000'000'000;
    std::uint64_t ended_ps[4] = {}, long_ended_ps = 0;
    std::size_t by_first = 0;
    detail::submit(e, pin(1), [&] {
      e.charge(long_ps, {});
      long_ended_ps = e.the_machine().now_ps();
    });
    e.yield();
    for (unsigned i = 0; i < 4; ++i)
      detail::submit(e, named("pushed"), [&, i] {
        by_first += worker_id() == 1;
        ended_ps[i] = e.the_machine().now_ps();
      });
    e.wait_all();
    for (const std::uint64_t at : ended_ps) CHECK((at != 0 && at < long_ended_ps / 2));
    CHECK(by_first == 0);
    CHECK(e.statistics().pushed == 4);
  }
}

TEST_CASE("pushed: real threads that push every task to each other lose none") {
  using H = machine::host;
  for (const unsigned workers : {1u, 2u, 4u, 7u}) {
    engine<H> e(engine_setup{.workers_wanted = workers,
                             .seed = workers,
                             .window_tasks = 1024,
                             .stack_bytes = stack_bytes,
                             .search_ns = base::search_ns});
    const unsigned n = e.the_machine().start(workers, &engine<H>::worker_entry, &e, std::vector<unsigned>{});
    e.open(testing::places_of(n), pushes_all);
    e.the_machine().run();
    for (int round = 0; round < 20; ++round) REQUIRE(run_program(e, 500) == nullptr);
    CHECK((n == 1) == (e.statistics().pushed == 0));
  }
}

}  // namespace weft::sched
