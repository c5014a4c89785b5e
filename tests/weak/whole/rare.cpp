// Ways that programs go rarely, on the whole engine with weak memory: a window that is full, guests in teams, widths
// that are measured, hints, policies with queues of their own, bodies in order, forks of many, long streams.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/plain.hpp"
#include "weak/whole/run.hpp"
#include "weft/fork_each.hpp"
#include "weft/guest.hpp"
#include "weft/near.hpp"
#include "weft/ordered.hpp"
#include "weft/ordered_for.hpp"

namespace weft::weak {
namespace {

using datum = base::plain<unsigned>;
constexpr unsigned some = 3;

// Bodies that submit more than there is room for are set aside, and exceed the window where nothing else can run.
struct full_window {
  static options with(options o) noexcept {
    o.window = 64;
    return o;
  }
  std::vector<datum> x = std::vector<datum>(600);
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < some; ++i)
      rt.submit([this, &rt, i] {
        datum mine;
        for (unsigned k = 0; k < 200; ++k) {
          mine.write() = k;
          rt.submit([this, i, k, &mine] {
            x[200 * i + k].write() = 1;
            if (k == 199) static_cast<void>(mine.read());
          });
          if (k == 199) rt.wait();
        }
      });
    rt.wait();
    unsigned sum = 0;
    for (const datum& d : x) sum += d.read();
    return sum == 600 ? nullptr : "a task is lost";
  }
};

struct guests {
  datum of[some], told, all;
  const char* operator()(runtime& rt) {
    for (unsigned round = 0; round < 2; ++round) {
      rt.submit(team(2, some), [this](team_context& t) {
        of[t.rank()].write() = t.rank();
        guest(t, [this, &t](guest_context& g) {
          unsigned sum = 0;
          for (unsigned i = 0; i < t.width(); ++i) sum += of[i].read();
          told.write() = sum;
          std::vector<datum> parts(g.threads());
          for (unsigned again = 0; again < 2; ++again) g.at_once([&](unsigned i) { parts[i].write() = told.read(); });
          for (const datum& d : parts) sum += d.read();
          all.write() = sum;
        });
        static_cast<void>(all.read());
        t.barrier();
      });
      rt.wait();
    }
    return nullptr;
  }
};

// Teams of one name, whose widths are measured and chosen.
struct widths {
  static options with(options o) noexcept {
    o.policy = o.seed % 2 == 0 ? "tao" : "near";
    return o;
  }
  datum x[2 * some][some];
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < 2 * some; ++i) {
      rt.submit(named(i % 2 == 0 ? "even" : "odd"), team(1, some), [this, i](team_context& t) {
        charge(500);
        x[i][t.rank()].write() = 1;
      });
      if (i == some) rt.wait();
    }
    rt.wait();
    unsigned sum = 0;
    for (const auto& row : x)
      for (const datum& d : row) sum += d.read();
    return sum >= 2 * some ? nullptr : "a team is lost";
  }
};

// Each policy in turn, some of which have places of their own for tasks.
struct hints {
  static options with(options o) noexcept {
    const choices all = policies();
    o.policy = (all.begin() + o.seed % all.count)->name;
    return o;
  }
  std::vector<datum> x = std::vector<datum>(16);
  void age(unsigned from, unsigned to) {
    if (to - from == 1) return static_cast<void>(++x[from].write());
    const unsigned middle = (from + to) / 2;
    finish([&] {
      async(near(&x[from], (middle - from) * sizeof(datum)), [=, this] { age(from, middle); });
      async(near(&x[middle], (to - middle) * sizeof(datum)), [=, this] { age(middle, to); });
    });
  }
  const char* operator()(runtime& rt) {
    handle<datum> h;
    rt.submit([this] { age(0, 16); });
    for (unsigned i = 0; i < 2 * some; ++i) rt.submit(near(h), write(h), [](datum& d) { ++d.write(); });
    rt.wait();
    unsigned sum = h.unguarded().read();
    for (const datum& d : x) sum += d.read();
    return sum == 16 + 2 * some ? nullptr : "a task is lost";
  }
};

struct forks_of_many {
  datum x[8], sum;
  unsigned count(here& at, unsigned depth) {
    if (depth == 0) return 1;
    return fork_each<4>(
        at, 4, 0u, [&, depth](here& below, std::size_t) { return count(below, depth - 1); }, std::plus<>());
  }
  const char* operator()(runtime& rt) {
    rt.submit([this] {
      fork_each<8>(8, [this](here&, std::size_t i) { x[i].write() = static_cast<unsigned>(i); });
      for (const datum& d : x) sum.write() += d.read();
    });
    unsigned leaves = 0;
    rt.submit([this, &leaves] {
      leaves = fork_each<4>(
          4, 0u, [this](here& at, std::size_t) { return count(at, 2); }, std::plus<>());
    });
    rt.wait();
    return sum.read() == 28 && leaves == 64 ? nullptr : "a branch is lost";
  }
};

// Scopes that are ended by calls of their newest children, and cancelled ones in one another.
struct cancelled_scopes {
  datum x[2 * some], why;
  void inner(cancellation& stop, unsigned i) {
    finish(stop, [&, i] {
      async([this, i] { x[i].write() = 1; });
      async([&, i] {
        if (i == 1) {
          why.write() = 1;
          stop.cancel();
        }
        if (stop.cancelled()) static_cast<void>(why.read());
      });
      if (stop.cancelled()) static_cast<void>(why.read());
    });
  }
  const char* operator()(runtime& rt) {
    cancellation stop;
    rt.submit([&] {
      finish([&] {
        for (unsigned i = 0; i < some; ++i)
          async([&, i] {
            try {
              inner(stop, i);
              for_each(0u, 4u, [&](unsigned) {
                if (stop.cancelled()) static_cast<void>(why.read());
              });
            } catch (const cancelled_error&) {
            }
          });
      });
    });
    rt.wait();
    return stop.cancelled() ? static_cast<void>(why.read()), nullptr : "nothing was cancelled";
  }
};

struct long_streams {
  stream<std::uint64_t> s, t;
  unsigned wrong = 0;
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < 12; ++i) {
      rt.submit(push(s, 64), [i](std::span<std::uint64_t> out) {
        for (std::size_t k = 0; k < out.size(); ++k) out[k] = 64 * i + k;
      });
      rt.submit(pop(s, 64, 64), push(t, 32),
                [i, this](std::span<const std::uint64_t> in, std::span<std::uint64_t> out) {
                  for (std::size_t k = 0; k < out.size(); ++k) out[k] = in[2 * k] / 2;
                  if (in[0] != 64 * i) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
                });
      rt.submit(pop(t, 32), [i, this](std::span<const std::uint64_t> in) {
        if (in[1] != 32 * i + 1) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
      });
    }
    rt.wait();
    return wrong == 0 ? nullptr : "an element is another";
  }
};

// Bodies that appear to run in order, ahead of it.
struct in_order {
  static constexpr bool has_a_shared_ptr = true;  // of the workers that take part
  std::uint64_t x = 1, y[4] = {};
  static void step(ordered_context& c, std::uint64_t at, in_order* all) {
    const std::uint64_t before = c.load(all->x);
    c.store(all->x, before * 3 + at);
    c.store(all->y[at % 4], before);
    if (at % 2 == 0 && at < 8) c.at(at + 5, step, all);
  }
  const char* operator()(runtime& rt) {
    std::uint64_t right = 1, ahead = 0;
    for (const char* executor : {"serial", "speculative"}) {
      x = 1;
      ordered q(rt, {.executor = executor, .always_ahead = true});
      for (std::uint64_t i = 0; i < 8; ++i) q.at(i, step, this);
      q.run();
      (executor[1] == 'e' ? right : ahead) = x;
    }
    return right == ahead ? nullptr : "bodies that ran ahead came to something else";
  }
};

struct relaxing {
  std::uint64_t least[8];
  static void visit(ordered_context& c, std::uint64_t at, std::uint64_t* cell, relaxing* all) {
    if (c.load(*cell) <= at) return;
    c.store(*cell, at);
    const auto i = static_cast<std::uint64_t>(cell - all->least);
    if (i < 7) c.at(at + 1 + i % 3, visit, cell + 1, all);
    if (i < 5) c.at(at + 4, visit, cell + 3, all);
  }
  const char* operator()(runtime& rt) {
    std::uint64_t right[8];
    for (const char* executor : {"serial", "relaxed", "levels"}) {
      for (std::uint64_t& l : least) l = ~std::uint64_t{0};
      ordered q(rt, {.executor = executor});
      q.at(0, visit, least, this);
      q.run();
      for (unsigned i = 0; i < 8; ++i) {
        if (executor[0] == 's') right[i] = least[i];
        if (right[i] != least[i]) return "relaxing came to something else";
      }
    }
    return nullptr;
  }
};

struct named_data {
  handle<std::vector<datum>> h{std::vector<datum>(3)};
  const char* operator()(runtime& rt) {
    h.name("data");
    for (unsigned i = 0; i < some; ++i) rt.submit(write(h), [](std::vector<datum>& v) { ++v[0].write(); });
    {
      handle<datum> short_lived;
      short_lived.name("short");
      rt.submit(read(h), write(short_lived), [](const std::vector<datum>& v, datum& d) { d.write() = v[0].read(); });
    }
    if (rt.get(h)[0].read() != some) return "an access came too early";
    return rt.statistics().tasks == 0 ? "no task" : nullptr;
  }
};

// Elements that are popped before anybody has pushed them: whoever comes first of several pushes lays their memory.
// That is a pool's, which keeps blocks by thread, and here all cores are on one.
struct early_streams {
  static constexpr bool has_a_shared_ptr = true;
  stream<unsigned> s;
  unsigned wrong = 0;
  const char* operator()(runtime& rt) {
    for (unsigned round = 0; round < 2; ++round) {
      rt.submit(pop(s, 4 * some), [this, round](std::span<const unsigned> in) {
        for (std::size_t k = 0; k < in.size(); ++k)
          if (in[k] != 10 * round + k / some) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
      });
      for (unsigned i = 0; i < 4; ++i)
        rt.submit(push(s, some), [i, round](std::span<unsigned> out) {
          for (unsigned& d : out) d = 10 * round + i;
        });
    }
    rt.wait();
    return wrong == 0 ? nullptr : "an element is another";
  }
};

// Of teams that learn each run is counted, and so are those of two names at the same time.
struct learned_widths {
  handle<datum> order;
  datum runs[2];
  const char* operator()(runtime& rt) {
    for (unsigned i = 0; i < 16; ++i) {
      rt.submit(named("chain"), team(learned), write(order), [this](team_context& t, datum& d) {
        charge(900.0 / t.width());
        t.barrier();
        if (t.rank() == 0) ++d.write(), ++runs[0].write();
      });
      rt.submit(named(i % 2 == 0 ? "flat" : "odd"), team(learned), [](team_context& t) { charge(400.0 / t.width()); });
    }
    rt.wait();
    return runs[0].read() == 16 && order.unguarded().read() == 16 ? nullptr : "a team is lost";
  }
};

// A look at a handle instead of a wait.
struct idle_handles {
  handle<datum> h;
  datum told;
  const char* operator()(runtime& rt) {
    rt.submit(write(h), [](datum& d) { d.write() = 1; });
    rt.submit([this, &rt] {
      while (!h.idle()) yield();
      told.write() = h.unguarded().read();
      rt.submit(write(h), [](datum& d) { ++d.write(); });
    });
    rt.wait();
    return told.read() == 1 && h.unguarded().read() == 2 ? nullptr : "a handle was idle too early";
  }
};

// Wait for each other: the wait of all ends with their names, and what is left of them is taken out of where it waits.
struct stalled {
  handle<datum> a, b;
  const char* operator()(runtime& rt) {
    rt.submit(write(a), [this, &rt](datum&) {
      rt.submit(read(a), [](const datum&) {});
      rt.wait();
    });
    rt.submit(write(b), [this, &rt](datum&) {
      fork_join([] { charge(2000); },
                [this, &rt] {
                  rt.submit(read(b), [](const datum&) {});
                  rt.wait();
                });
    });
    try {
      rt.wait();
    } catch (const error&) {
      return nullptr;
    }
    return "a stall is not found";
  }
};

// What is asked in a scope about scopes around it, also by who has no runtime around.
struct asked_scopes {
  datum why, seen;
  const char* operator()(runtime& rt) {
    cancellation stop;
    rt.submit([&] {
      finish(stop, [&] {
        async([&] {
          why.write() = 1;
          stop.cancel();
        });
        finish([&] {
          async([&] {
            for (unsigned i = 0; i < 20 && !weft::cancelled(); ++i) yield();
            if (weft::cancelled()) seen.write() = why.read();
          });
        });
      });
    });
    rt.wait();
    return stop.cancelled() ? nullptr : "nothing was cancelled";
  }
};

// Events of several workers in one file.
struct traced {
  static constexpr bool has_a_shared_ptr = true;
  static options with(options o) noexcept {
    static const std::string path = "/tmp/weft_weak_whole-" + std::to_string(::getpid()) + ".weft";
    o.trace = path.c_str();
    return o;
  }
  datum x[4 * some];
  const char* operator()(runtime& rt) {
    for (datum& d : x) rt.submit([&d] { fork_join([&d] { d.write() = 1; }, [] { yield(); }); });
    rt.wait();
    unsigned sum = 0;
    for (const datum& d : x) sum += d.read();
    return sum == 4 * some ? nullptr : "a task is lost";
  }
};

}  // namespace

TEST_CASE("weak memory: a full window") { runs_on_all_seeds<full_window>(60); }
TEST_CASE("weak memory: guests") { runs_on_all_seeds<guests>(200); }
TEST_CASE("weak memory: widths") { runs_on_all_seeds<widths>(200); }
TEST_CASE("weak memory: hints") { runs_on_all_seeds<hints>(200); }
TEST_CASE("weak memory: forks of many") { runs_on_all_seeds<forks_of_many>(200); }
TEST_CASE("weak memory: cancelled scopes") { runs_on_all_seeds<cancelled_scopes>(200); }
TEST_CASE("weak memory: long streams") { runs_on_all_seeds<long_streams>(100); }
TEST_CASE("weak memory: bodies in order") { runs_on_all_seeds<in_order>(100); }
TEST_CASE("weak memory: relaxing") { runs_on_all_seeds<relaxing>(100); }
TEST_CASE("weak memory: named data") { runs_on_all_seeds<named_data>(200); }
TEST_CASE("weak memory: early streams") { runs_on_all_seeds<early_streams>(200); }
TEST_CASE("weak memory: learned widths") { runs_on_all_seeds<learned_widths>(60); }
TEST_CASE("weak memory: a look at a handle") { runs_on_all_seeds<idle_handles>(200); }
TEST_CASE("weak memory: stalls") { runs_on_all_seeds<stalled>(200); }
TEST_CASE("weak memory: scopes that ask") { runs_on_all_seeds<asked_scopes>(200); }
TEST_CASE("weak memory: traces") { runs_on_all_seeds<traced>(20); }

}  // namespace weft::weak
