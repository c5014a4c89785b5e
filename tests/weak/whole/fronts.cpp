// A small program for each front of the library, on the whole engine with weak memory. What one task hands over to
// another is watched (base/plain.hpp): that it is the right value, and that the write happens before the read.
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/plain.hpp"
#include "weak/whole/run.hpp"

namespace weft::weak {
namespace {

using datum = base::plain<unsigned>;
constexpr unsigned some = 3;

// What the program has written before a submission is the task's, and what tasks have written is the program's after
// the wait; the same between a body and its children.
struct waits {
  datum before, in_body, of_child[some], all;
  const char* operator()(runtime& rt) {
    before.write() = 1;
    rt.submit([this, &rt] {
      in_body.write() = before.read() + 1;
      for (datum& d : of_child) rt.submit([this, &d] { d.write() = in_body.read() + 1; });
      rt.wait();
      for (datum& d : of_child) all.write() += d.read();
    });
    rt.wait();
    if (all.read() != 3 * some) return "a body's wait came back too early";
    before.write() = 7;
    datum left;
    for (unsigned i = 0; i < some; ++i)
      rt.submit([this, &left, i] { before.read() == 7 && i == 0 ? left.write() = 1 : 0; });
    rt.wait();
    before.write() = 8;
    return left.read() == 1 ? nullptr : "a task did not see what came before it";
  }
};

struct leaves_children {
  datum x[2 * some];
  const char* operator()(runtime& rt) {
    rt.submit(subtasks(), [this, &rt] {
      for (unsigned i = 0; i < some; ++i)
        rt.submit([this, &rt, i] {
          x[i].write() = 1;
          rt.submit([this, i] { x[some + i].write() = x[i].read(); });
        });
    });
    rt.wait();
    unsigned sum = 0;
    for (const datum& d : x) sum += d.read();
    return sum == 2 * some ? nullptr : "a child is lost";
  }
};

struct handles {
  handle<datum> a, b;
  handle<std::vector<int>> tokens[2];
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < some; ++i) rt.submit(write(a), [](datum& x) { ++x.write(); });
    for (unsigned i = 0; i < some; ++i)
      rt.submit(read(a), add(b), [](const datum& x, datum& y) { y.write() += x.read(); });
    rt.submit(write(a), [](datum& x) { x.write() += 10; });
    rt.submit(read(b), write(a), [](const datum& y, datum& x) { x.write() += y.read(); });
    if (rt.get(a).read() != some + 10 + some * some) return "an access came too early";
    rt.submit([this, &rt] {
      for (unsigned i = 0; i < some; ++i) rt.submit(write(a), [](datum& x) { ++x.write(); });
      rt.submit(read(a), write(b), [](const datum& x, datum& y) { y.write() = x.read(); });
    });
    rt.wait();
    return b.unguarded().read() == 2 * some + 10 + some * some ? nullptr : "a task inside came too early";
  }
};

struct exclusive_and_concurrent {
  handle<datum> a, b;
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < 2 * some; ++i) {
      rt.submit(add(a), add(b), [](datum& x, datum& y) { ++x.write(), ++y.write(); });
      if (i % 2 == 0) rt.submit(add(b), [](datum& y) { ++y.write(); });
      if (i % 3 == 0) rt.submit(read(a), [](const datum& x) { static_cast<void>(x.read()); });
    }
    for (unsigned i = 0; i < some; ++i)
      rt.submit(concurrent(a), read(b), [](const datum& x, const datum& y) { static_cast<void>(x.read() + y.read()); });
    rt.submit(write(a), write(b), [](datum& x, datum& y) { x.write() += y.write(); });
    return rt.get(a).read() == 5 * some ? nullptr : "an addition is lost";
  }
};

struct resources {
  resource one{1};
  handle<datum> a;
  datum guarded;
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < 2 * some; ++i) {
      rt.submit(use(one), [this] { ++guarded.write(); });
      rt.submit(use(one), add(a), [this](datum& x) { x.write() = ++guarded.write(); });
    }
    rt.wait();
    return guarded.read() == 4 * some ? nullptr : "two had one resource";
  }
};

struct events {
  event first, second;
  handle<datum> a;
  datum told, seen[some], later;
  const char* operator()(runtime& rt) {
    for (datum& d : seen)
      rt.submit([this, &d] {
        first.wait();
        d.write() = told.read();
      });
    rt.submit(completes(second), write(a), [](datum& x) { x.write() = 1; });
    rt.submit(read(a), [this](const datum& x) { later.write() = x.read() + told.read(); });
    rt.submit([this] {
      told.write() = 5;
      second.fulfil();
      first.fulfil();
    });
    if (first.fulfilled()) static_cast<void>(told.read());
    first.wait();
    if (told.read() != 5) return "a wait for an event came too early";
    rt.wait();
    for (const datum& d : seen)
      if (d.read() != 5) return "a body's wait for an event came too early";
    return later.read() == 6 ? nullptr : "who follows an event came too early";
  }
};

struct timed_events {
  event e;
  datum x, y;
  const char* operator()(runtime& rt) {
    rt.submit(completes(e), [this] {
      x.write() = 1;
      e.fulfil_after(300);
    });
    rt.submit([this] {
      e.wait();
      y.write() = x.read();
    });
    rt.wait();
    return y.read() == 1 ? nullptr : "a timed event came too early";
  }
};

struct forks {
  struct node {
    datum before, left, right;
  };
  std::vector<node> nodes = std::vector<node>(64);
  unsigned sum(unsigned at, unsigned depth) {
    if (depth == 0) return 1;
    node& n = nodes[at];
    n.before.write() = at;
    fork_join([&] { n.left.write() = sum(2 * at, depth - 1) + n.before.read() - at; },
              [&] { n.right.write() = sum(2 * at + 1, depth - 1) + n.before.read() - at; });
    return n.left.read() + n.right.read();
  }
  const char* operator()(runtime& rt) {
    unsigned right = 0;
    rt.submit([&] { right = sum(1, 5); });
    rt.wait();
    return right == 32 && sum(1, 4) == 16 ? nullptr : "a branch is lost";
  }
};

struct scopes {
  datum of[some], all, inner[some];
  const char* operator()(runtime& rt) {
    rt.submit([this] {
      finish([this] {
        for (unsigned i = 0; i < some; ++i)
          async([this, i] {
            of[i].write() = i;
            finish([this, i] { async([this, i] { inner[i].write() = of[i].read(); }); });
            of[i].write() += inner[i].read();
          });
      });
      for (datum& d : of) all.write() += d.read();
    });
    rt.wait();
    if (all.read() != some * (some - 1)) return "a finish ended too early";
    finish([this] {
      for (datum& d : of) async([&d] { d.write() = 1; });
    });
    return of[0].read() + of[some - 1].read() == 2 ? nullptr : "the program's finish ended too early";
  }
};

struct teams {
  datum of[some + 1], sums[some + 1], after;
  const char* operator()(runtime& rt) {
    for (unsigned round = 1; round <= 2; ++round)
      rt.submit(team(2, some),
                [this, round](team_context& t) {
                  of[t.rank()].write() = round;
                  t.barrier();
                  unsigned sum = 0;
                  for (unsigned r = 0; r < t.width(); ++r) sum += of[r].read();
                  if (sum != round * t.width()) throw error("a member passed the barrier too early");
                  t.barrier();
                  of[t.rank()].write() = sum;
                  t.for_each(0, 8, [&](int) {});
                  const unsigned all = t.reduce(sum, std::plus<>());
                  if (all != sum * t.width()) throw error("a sum of a team is another");
                }),
          rt.wait();
    for (datum& d : of) after.write() += d.read();
    return nullptr;
  }
};

struct two_teams {
  datum a[some], b[some];
  handle<datum> done;
  const char* operator()(runtime& rt) {
    for (datum* const x : {a, b})
      rt.submit(team(1, some), add(done), [x](team_context& t, datum& d) {
        x[t.rank()].write() = 1;
        t.barrier();
        if (t.rank() == 0) ++d.write();
        static_cast<void>(x[(t.rank() + 1) % t.width()].read());
      });
    rt.submit(write(done), [](datum& d) { ++d.write(); });
    rt.wait();
    return done.unguarded().read() == 3 ? nullptr : "a team is lost";
  }
};

struct streams {
  stream<datum> s;
  unsigned wrong = 0;
  const char* operator()(runtime& rt) {
    unsigned next = 0, due = 0;
    for (unsigned i = 0; i < 4 * some; ++i) {
      rt.submit(push(s, 2), [next](std::span<datum> out) {
        for (unsigned k = 0; k < 2; ++k) out[k].write() = next + k;
      });
      next += 2;
      for (unsigned k = 0; k < 2; ++k, ++due)
        rt.submit(pop(s, 1), [this, due](std::span<const datum> in) {
          if (in[0].read() != due) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        });
    }
    rt.wait();
    return wrong == 0 ? nullptr : "an element is another";
  }
};

struct graphs {
  handle<datum> a, b;
  datum n;
  const char* operator()(runtime& rt) {
    graph g(rt, [this](recorder& r) {
      r.submit(write(a), [](datum& x) { ++x.write(); });
      for (unsigned i = 0; i < some; ++i)
        r.submit(read(a), add(b), [](const datum& x, datum& y) { y.write() += x.read(); });
      r.submit(read(b), [this](const datum& y) { n.write() = y.read(); });
    });
    g.run();
    if (n.read() != some) return "a graph's end came too early";
    g.submit();
    g.submit();
    rt.wait();
    return n.read() == 6 * some ? nullptr : "a repetition came too early";
  }
};

struct sum_of_data {
  using buffer = datum;
  static datum create(const datum&) { return {}; }
  static void merge(datum& into, datum& from) { into.write() += from.read(); }
  static void apply(datum& target, datum& from) { target.write() += from.read(); }
};
struct reductions {
  reduction<datum, sum_of_data> sum;
  datum seen;
  const char* operator()(runtime& rt) {
    for (unsigned round = 0; round < 2; ++round) {
      for (unsigned i = 0; i < 2 * some; ++i) rt.submit(reduce(sum), [](datum& part) { ++part.write(); });
      rt.submit(read(sum), [this](const datum& s) { seen.write() = s.read(); });
      rt.submit([this, &rt] {
        for (unsigned i = 0; i < some; ++i) rt.submit(reduce(sum), [](datum& part) { ++part.write(); });
      });
    }
    rt.wait();
    if (sum.unguarded().read() != 6 * some) return "a part of a sum is lost";
    rt.submit(reduce(sum), [](datum& part) { ++part.write(); });
    return rt.get(sum).read() == 6 * some + 1 ? nullptr : "the last part of a sum is lost";
  }
};

struct cancelled {
  cancellation stop;
  datum why, ran[2 * some];
  const char* operator()(runtime& rt) {
    unsigned began = 0;
    finish(stop, [&] {
      for (unsigned i = 0; i < 2 * some; ++i)
        rt.submit([&, i] {
          __atomic_fetch_add(&began, 1, __ATOMIC_RELAXED);
          ran[i].write() = 1;
          if (i == 1) {
            why.write() = 1;
            stop.cancel();
          } else if (stop.cancelled()) {
            static_cast<void>(why.read());
          }
        });
    });
    unsigned all = 0;
    for (const datum& d : ran) all += d.read();
    return all == began && began + stop.skipped() == 2 * some ? nullptr : "a task neither ran nor was skipped";
  }
};

struct failing {
  handle<datum> a, b;
  datum why[2], after;
  unsigned caught(const auto& call) {
    try {
      call();
    } catch (const datum* d) {
      return d->read();
    }
    return 0;
  }
  const char* operator()(runtime& rt) {
    rt.submit(write(a), [this](datum& x) {
      x.write() = 1;
      why[0].write() = 5;
      throw static_cast<const datum*>(&why[0]);
    });
    rt.submit(read(a), write(b), [this](const datum&, datum&) { after.write() = 1; });
    if (caught([&] { static_cast<void>(rt.get(b)); }) != 5) return "what follows a failure is not poisoned";
    if (caught([&] { rt.wait(); }) != 5 || after.read() != 0) return "a failure is lost";
    rt.submit([this, &rt] {
      rt.submit(write(a), [](datum& x) { x.write() = 2; });
      rt.submit(read(a), write(b), [this](const datum& x, datum&) {
        why[1].write() = x.read() + 5;
        throw static_cast<const datum*>(&why[1]);
      });
      if (caught([&] { rt.wait(); }) == 7) after.write() = 7;
    });
    static_cast<void>(caught([&] { rt.wait(); }));  // the handle is healed when the program is told
    if (after.read() != 7) return "a failure inside is lost";
    rt.submit(write(b), [](datum& x) { x.write() = 3; });
    return rt.get(a).read() + rt.get(b).read() == 5 ? nullptr : "a datum stays poisoned";
  }
};

struct loops {
  std::vector<datum> x = std::vector<datum>(24);
  const char* operator()(runtime& rt) {
    rt.submit([this] { for_each(0u, 24u, [this](unsigned i) { x[i].write() = i; }); });
    rt.wait();
    for_each(0u, 24u, [this](unsigned i) { x[i].write() += i; });
    const unsigned sum = reduce(0u, 24u, 0u, std::plus<>(), [this](unsigned i) { return x[i].read(); });
    if (sum != 24 * 23) return "an iteration is lost";
    const std::vector<unsigned> all = collect(0u, 24u, [this](unsigned i) { return x[i].read(); });
    for (unsigned i = 0; i < 24; ++i)
      if (all.size() != 24 || all[i] != 2 * i) return "what a loop makes is not in order";
    return nullptr;
  }
};

struct pipelines {
  datum x[8];
  const char* operator()(runtime& rt) {
    unsigned next = 0, last = 0;
    bool in_order = true;
    rt.submit([&] {
      pipeline(serial([&]() -> std::optional<unsigned> {
                 if (next == 8) return std::nullopt;
                 x[next].write() = next;
                 return next++;
               }),
               parallel([this](unsigned i) {
                 ++x[i].write();
                 return i;
               }),
               serial([&](unsigned i) { in_order = in_order && i == last++ && x[i].read() == i + 1; }));
    });
    rt.wait();
    return last == 8 && in_order ? nullptr : "an item is lost, or out of order";
  }
};

// More than the window admits, from outside and inside; the reserve and blocked submitters.
struct floods {
  std::vector<datum> x = std::vector<datum>(200);
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < 100; ++i)
      rt.submit([this, &rt, i] {
        x[i].write() = 1;
        rt.submit([this, i] { x[100 + i].write() = x[i].read(); });
      });
    rt.wait();
    unsigned sum = 0;
    for (const datum& d : x) sum += d.read();
    return sum == 200 ? nullptr : "a task is lost";
  }
};

struct pinned_and_urgent {
  datum x[4 * some];
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < 2 * some; ++i) {
      rt.submit(pin(i % rt.workers()), [this, &rt, i] {
        x[i].write() = 1;
        rt.submit(pin((i + 1) % rt.workers()), priority(1), [this, i] { x[2 * some + i].write() = x[i].read(); });
        yield();
      });
    }
    rt.wait();
    unsigned sum = 0;
    for (const datum& d : x) sum += d.read();
    return sum == 4 * some ? nullptr : "a pinned task is lost";
  }
};

struct paused {
  datum x, y;
  const char* operator()(runtime& rt) {
    rt.pause();
    for (unsigned i = 0; i < some; ++i)
      rt.submit([this, i] {
        if (i == 0) x.write() = 1;
      });
    rt.start();
    rt.wait();
    return x.read() == 1 ? nullptr : "a paused task is lost";
  }
};

struct short_lived {
  datum seen;
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < some; ++i) {
      handle<datum> h;
      reduction<datum, sum_of_data> sum;
      rt.submit(write(h), [i](datum& x) { x.write() = i; });
      rt.submit(reduce(sum), read(h), [](datum& part, const datum& x) { part.write() += x.read(); });
      seen.write() += rt.get(sum).read();
    }
    return seen.read() == some * (some - 1) / 2 ? nullptr : "a handle ended too early";
  }
};

}  // namespace

TEST_CASE("weak memory: waits") { runs_on_all_seeds<waits>(200); }
TEST_CASE("weak memory: children that nobody waits for") { runs_on_all_seeds<leaves_children>(200); }
TEST_CASE("weak memory: handles") { runs_on_all_seeds<handles>(200); }
TEST_CASE("weak memory: additions and concurrent accesses") { runs_on_all_seeds<exclusive_and_concurrent>(200); }
TEST_CASE("weak memory: resources") { runs_on_all_seeds<resources>(200); }
TEST_CASE("weak memory: events") { runs_on_all_seeds<events>(200); }
TEST_CASE("weak memory: timed events") { runs_on_all_seeds<timed_events>(200); }
TEST_CASE("weak memory: forks") { runs_on_all_seeds<forks>(200); }
TEST_CASE("weak memory: scopes") { runs_on_all_seeds<scopes>(200); }
TEST_CASE("weak memory: a team") { runs_on_all_seeds<teams>(200); }
TEST_CASE("weak memory: two teams") { runs_on_all_seeds<two_teams>(200); }
TEST_CASE("weak memory: streams") { runs_on_all_seeds<streams>(200); }
TEST_CASE("weak memory: graphs") { runs_on_all_seeds<graphs>(200); }
TEST_CASE("weak memory: reductions") { runs_on_all_seeds<reductions>(200); }
TEST_CASE("weak memory: cancellation") { runs_on_all_seeds<cancelled>(200); }
TEST_CASE("weak memory: failures") { runs_on_all_seeds<failing>(200); }
TEST_CASE("weak memory: loops") { runs_on_all_seeds<loops>(200); }
TEST_CASE("weak memory: pipelines") { runs_on_all_seeds<pipelines>(200); }
TEST_CASE("weak memory: more than the window") { runs_on_all_seeds<floods>(60); }
TEST_CASE("weak memory: pinned and urgent tasks") { runs_on_all_seeds<pinned_and_urgent>(200); }
TEST_CASE("weak memory: a runtime that is paused") { runs_on_all_seeds<paused>(200); }
TEST_CASE("weak memory: handles of short life") { runs_on_all_seeds<short_lived>(200); }

}  // namespace weft::weak
