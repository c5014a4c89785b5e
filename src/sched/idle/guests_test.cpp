// Threads from outside: each is a worker for the time of a call, the one that was used last comes first, and what they
// counted stays. And the protocol with who falls asleep last: a call that ends late, or the one that says it sleeps,
// sees the other.
#include "sched/idle/guests.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "interleave.hpp"
#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;

struct outside {
  notes machine;
  sched::sleep<notes> sleep;
  task::pool<notes> pool{1};
  guests<notes> all{machine, sleep, pool};
  outside() { sleep.open(2); }
};

// --- the end of a call beside a worker that falls asleep

// Counts those that would be woken.
class M : public interleave::unsteady {
 public:
  using unsteady::unsteady;
  void wake(unsigned) noexcept { ++woken; }
  unsigned woken = 0;
};
enum class flaw { none, looks_before_it_counts };

// A worker says that it sleeps and then asks for calls; two calls end, and the last one asks for sleepers.
template <flaw Flaw> const char* tried(std::uint64_t seed) {
  interleave::play<M> play(seed);
  sched::sleep<M> sleep;
  task::pool<M> pool(1);
  guests<M> all(play.machine(), sleep, pool);
  sleep.open(1);
  detail::cell<std::uint32_t> copy;  // of the count, for the flawed call
  unsigned begun = 0;
  bool seen_to_end = false;
  const auto call = [&] {
    Flaw == flaw::none ? all.begin_call() : static_cast<void>(M::fetch_add(copy, 1u, base::seq_cst));
    ++begun;
    while (begun < 2 && !play.over()) M::relax(1);
    if (Flaw == flaw::none) return all.end_call();
    const bool asleep = M::load(copy, base::seq_cst) == 1 && sleep.all_asleep();
    static_cast<void>(M::fetch_sub(copy, 1u, base::seq_cst));
    if (asleep) sleep.notify(play.machine());
  };
  const auto fall_asleep = [&] {
    while (begun < 2 && !play.over()) M::relax(1);
    static_cast<void>(sleep.announce(0));
    seen_to_end = Flaw == flaw::none ? !all.calls_under_way() : M::load(copy, base::seq_cst) == 0;
  };
  const auto core = [&](unsigned id) { id <= 2 ? call() : fall_asleep(); };
  if (!play.run(3, core, [&] { return play.all_left(); })) return "no end";
  return seen_to_end || play.machine().woken != 0 ? nullptr : "all sleep, the last call is over, and nobody looks";
}

[[nodiscard]] std::vector<waiter*> listed(outside& o) {
  const base::locked<notes> hold(o.all.waits_lock());
  std::vector<waiter*> all;
  for (waiter* x = o.all.waits().first(); x != nullptr; x = guests<notes>::list::after(*x)) all.push_back(x);
  return all;
}

}  // namespace

TEST_CASE("guests: a thread is a worker without a number while it calls, and the next one the same") {
  outside o;
  worker<notes>& a = o.all.enter(nullptr);
  CHECK((a.role == role::guest && a.id == worker<notes>::no_id));
  CHECK(detail::peek(a.shown_id) == worker<notes>::no_id);
  worker<notes>& b = o.all.enter(nullptr);
  CHECK(&a != &b);
  o.all.leave(a);
  o.all.leave(b);
  CHECK(&o.all.enter(nullptr) == &b);  // used last
  CHECK(&o.all.enter(nullptr) == &a);
  o.all.leave(a);
  o.all.leave(b);
}

TEST_CASE("guests: what one counted stays when it has left, and belongs to the sums") {
  outside o;
  worker<notes>& a = o.all.enter(nullptr);
  detail::poke(a.created, std::uint64_t{3});
  detail::poke(a.finished, std::uint64_t{1});
  worker<notes>& b = o.all.enter(nullptr);
  detail::poke(b.created, std::uint64_t{4});
  o.all.leave(a);
  CHECK((o.all.created() == 7 && o.all.finished() == 1));
  o.all.leave(b);
  CHECK(o.all.created() == 7);
}

TEST_CASE("guests: their tasks are numbered behind all of the main thread's") {
  outside o;
  const std::uint64_t first = o.all.next_order();
  CHECK(first > std::uint64_t{1} << 62);
  CHECK(o.all.next_order() == first + 1);
}

TEST_CASE("guests: more threads keep free records, so the window grows with them") {
  outside o;
  const auto left = [&o](worker<notes>& w) {
    std::size_t n = 0;
    while (record* r = o.pool.allocate(w, 0, 1024)) {
      begin(*r, detail::record_state::filling);
      ++n;
    }
    return n;
  };
  worker<notes>& a = o.all.enter(nullptr);
  CHECK(left(a) > 0);
  worker<notes>& b = o.all.enter(nullptr);
  CHECK(left(b) == 2 * base::pool_batch_records);
}

TEST_CASE("guests: the last call to end wakes somebody if all sleep, and only then") {
  outside o;
  {
    const guests<notes>::call one(o.all);
    CHECK(o.all.calls_under_way());
  }
  CHECK(!o.all.calls_under_way());
  CHECK(o.machine.take_woken().empty());
  static_cast<void>(o.sleep.announce(0));
  { const guests<notes>::call one(o.all); }
  CHECK(o.machine.take_woken().empty());  // worker 1 is awake and will look
  static_cast<void>(o.sleep.announce(1));
  {
    const guests<notes>::call one(o.all);
    { const guests<notes>::call two(o.all); }
    CHECK(o.machine.take_woken().empty());  // one is still under way
  }
  CHECK(o.machine.take_woken().size() == 1);
}

TEST_CASE("guests: a call that was begun before is ended once") {
  outside o;
  o.all.begin_call();
  {
    const guests<notes>::call rest(o.all, guests<notes>::call::begun{});
    CHECK(o.all.calls_under_way());
  }
  CHECK(!o.all.calls_under_way());
}

TEST_CASE("guests: a wait is listed while it lasts, with what it is for") {
  outside o;
  waiter x, y;
  detail::handle_state h;
  {
    const guests<notes>::wait first(o.all, x, &h);
    {
      const guests<notes>::wait second(o.all, y, nullptr);
      CHECK(listed(o) == std::vector<waiter*>{&x, &y});
    }
    CHECK(listed(o) == std::vector<waiter*>{&x});
    CHECK((x.awaited == &h && y.awaited == nullptr));
    CHECK(x.r.kind == detail::record_kind::external);
  }
  CHECK(listed(o).empty());
}

TEST_CASE("guests: under random schedules the end of the last call is never overlooked by all") {
  interleave::all_seeds(2000, tried<flaw::none>);
}

TEST_CASE("guests: a call that looks for sleepers before it is counted down is caught") {
  CHECK(interleave::caught(2000, tried<flaw::looks_before_it_counts>));
}

}  // namespace weft::sched
