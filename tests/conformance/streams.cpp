// Streams: every element reaches whoever is to see it, in program order, once where it is taken, whatever the sizes on
// both sides, whoever is submitted first, on both machines.
#include "weft/stream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../capture.hpp"
#include "../trace_file.hpp"
#include "access/stream.hpp"
#include "base/random.hpp"
#include "sanitized.hpp"
#include "weft/weft.hpp"

namespace {

// What a task pushed or saw, and how much of it is wrong.
struct check {
  std::atomic<std::uint64_t> wrong{0}, seen{0}, taken{0};
  void look(std::span<const std::uint64_t> in, std::uint64_t first, std::uint64_t takes) {
    for (std::size_t i = 0; i < in.size(); ++i) wrong += in[i] != first + i;
    seen += in.size();
    taken += takes;
  }
};

void submit_push(weft::runtime& rt, weft::stream<std::uint64_t>& s, std::uint64_t first, std::size_t n) {
  rt.submit(weft::push(s, n), weft::cost(200),
            [first](std::span<std::uint64_t> out) { std::iota(out.begin(), out.end(), first); });
}

// Pushes, pops, windows that overlap and looks, in a random order; whoever is behind catches up at the end.
void random_program(weft::runtime& rt, std::uint64_t seed, check& c) {
  weft::base::random rng(seed);
  weft::stream<std::uint64_t> s("numbers");
  if (seed % 3 == 0) s.immediate();
  std::uint64_t pushed = 0, popped = 0;
  const std::size_t most = 1 + rng.below(9);
  const auto pop = [&](std::size_t takes, std::size_t sees) {
    rt.submit(takes == 0 ? weft::pop(s, 0, sees) : weft::pop(s, takes, sees), weft::cost(300),
              [&c, popped, takes](std::span<const std::uint64_t> in) { c.look(in, popped, takes); });
    popped += takes;
  };
  for (int i = 0; i < 150; ++i) switch (rng.below(5)) {
    case 0:
    case 1:
      submit_push(rt, s, pushed, most);
      pushed += most;
      break;
    case 2: pop(1 + rng.below(6), 6); break;
    case 3: pop(0, 1 + rng.below(4)); break;
    default: {
      const std::size_t n = 1 + rng.below(5);
      rt.submit(weft::pop(s, n), [&c, popped, n](std::span<const std::uint64_t> in) { c.look(in, popped, n); });
      popped += n;
    }
    }
  while (pushed < popped + 8) submit_push(rt, s, pushed, 3), pushed += 3;
  rt.wait();
  CHECK(c.wrong == 0);
  CHECK(c.taken == popped);
  CHECK((s.pushed() == pushed && s.popped() == popped));
}

}  // namespace

TEST_CASE("streams: random pushes, pops and looks of all sizes, in any order of submission") {
  for (const char* machine : both_machines)
    for (const unsigned workers : {1u, 2u, 3u, 7u})
      for (const char* creation : {"inline", "decoupled"}) {
        if (workers == 1 && creation[0] == 'd') continue;
        INFO(machine << " " << workers << " " << creation);
        weft::runtime rt({.workers = workers, .machine = machine, .creation = creation});
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
          INFO("seed " << seed);
          check c;
          random_program(rt, seed, c);
        }
      }
}

TEST_CASE("streams: the same on random schedules and under other policies") {
  for (std::uint64_t seed = 1; seed <= 25; ++seed)
    for (const char* schedule : {"random", "pct", "tasks"}) {
      INFO(schedule << " " << seed);
      weft::runtime rt({.workers = 4, .machine = "virtual", .seed = seed, .model = {.schedule = schedule}});
      check c;
      random_program(rt, seed, c);
    }
  for (const char* policy : {"random", "central", "near", "work_first", "pufferfish"}) {
    INFO(policy);
    weft::runtime rt({.workers = 3, .policy = policy});
    check c;
    random_program(rt, 5, c);
  }
}

TEST_CASE("streams: one push feeds many, many feed one, and consumers run side by side") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 3, .machine = machine});
    weft::stream<std::uint64_t> s;
    check c;
    submit_push(rt, s, 0, 100);
    for (int i = 0; i < 100; ++i)
      rt.submit(weft::pop(s, 1),
                [&c, i](std::span<const std::uint64_t> in) { c.look(in, static_cast<std::uint64_t>(i), 1); });
    rt.submit(weft::pop(s, 100), [&c](std::span<const std::uint64_t> in) { c.look(in, 100, 100); });
    for (std::uint64_t i = 0; i < 100; ++i) submit_push(rt, s, 100 + i, 1);
    rt.wait();
    CHECK((c.wrong == 0 && c.taken == 200));
    s.end();
  }
}

TEST_CASE("streams: elements that own something are moved, and all of them are destroyed") {
  static std::atomic<int> alive{0};
  struct owner {
    owner() { ++alive; }
    owner(owner&& o) noexcept : value(std::move(o.value)) { ++alive; }
    owner& operator=(owner&&) = default;
    ~owner() { --alive; }
    std::unique_ptr<int> value;
  };
  {
    weft::runtime rt({.workers = 2});
    weft::stream<owner> s;
    std::atomic<int> sum{0};
    for (int i = 0; i < 30; ++i)
      rt.submit(weft::push(s, 2), [i](std::span<owner> out) {
        for (owner& o : out) o.value = std::make_unique<int>(i);
      });
    for (int i = 0; i < 12; ++i)
      rt.submit(weft::pop(s, 3), [&sum](std::span<const owner> in) {
        for (const owner& o : in) sum += *o.value;
      });
    rt.wait();
    CHECK(sum == 2 * (17 * 18 / 2));  // of 36 elements, two of each number
    CHECK_THROWS_WITH_AS(s.end(), doctest::Contains("ends with 24 elements that no task pops, from element 36 on"),
                         weft::error);
    s.discard(20);
    CHECK(s.popped() == 56);
  }
  CHECK(alive == 0);
}

TEST_CASE("streams: reuse hands memory on, and waits for those that look") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 3, .machine = machine});
    std::deque<weft::stream<std::uint64_t>> chain(6);
    constexpr std::size_t n = 64;
    std::vector<const void*> at(6);
    check c;
    submit_push(rt, chain[0], 0, n);
    for (std::uint64_t i = 0; i + 1 < chain.size(); ++i) {
      rt.submit(weft::peek(chain[i], n), weft::cost(5000),
                [&c, i](std::span<const std::uint64_t> in) { c.look(in, i, 0); });
      rt.submit(weft::reuse(chain[i], chain[i + 1], n), [&at, i](std::span<std::uint64_t> x) {
        at[i] = x.data();
        for (std::uint64_t& v : x) ++v;
      });
    }
    rt.submit(weft::pop(chain[5], n / 2), [&c](std::span<const std::uint64_t> in) { c.look(in, 5, n / 2); });
    rt.submit(weft::reuse(chain[5], chain[0], n / 2), [](std::span<std::uint64_t>) {});  // half a buffer: moved
    rt.submit(weft::pop(chain[0], n / 2), [&c](std::span<const std::uint64_t> in) { c.look(in, 5 + n / 2, n / 2); });
    rt.wait();
    CHECK((c.wrong == 0 && c.taken == n && c.seen == 6 * n));
    CHECK(std::count(at.begin(), at.begin() + 5, at[0]) == 5);
  }
}

TEST_CASE("streams: a failed push skips who pops it, and nobody else; the stream goes on") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 2, .machine = machine});
    weft::stream<std::uint64_t> s("fails");
    std::atomic<int> ran{0};
    for (std::uint64_t i = 0; i < 4; ++i) {
      rt.submit(weft::push(s, 2), [i](std::span<std::uint64_t> out) {
        if (i == 1) throw std::runtime_error("no data");
        out[0] = out[1] = i;
      });
      rt.submit(weft::pop(s, 2), [&ran, i](std::span<const std::uint64_t> in) { ran += in[0] == i && i != 1; });
    }
    CHECK_THROWS_WITH(rt.wait(), "no data");
    CHECK(ran == 3);
    check c;
    submit_push(rt, s, 8, 5);
    rt.submit(weft::pop(s, 5), [&c](std::span<const std::uint64_t> in) { c.look(in, 8, 5); });
    rt.wait();
    CHECK((c.wrong == 0 && c.taken == 5));
  }
}

TEST_CASE("streams: elements whose push was skipped are there, made by default, once a wait has told") {
  struct named {
    std::string text = "nobody";
  };
  for (const char* machine : both_machines)
    for (const std::size_t pushed : {2u, 40u}) {  // in the buffer itself, and not
      weft::runtime rt({.workers = 4, .machine = machine});
      weft::handle<int> bad;
      weft::stream<std::uint64_t> a, b;
      weft::stream<named> names;
      rt.submit(weft::write(bad), [](int&) { throw std::runtime_error("no data"); });
      for (int i = 0; i < 2; ++i)
        rt.submit(weft::read(bad), weft::push(a, pushed), [](int, std::span<std::uint64_t>) {});
      rt.submit(weft::read(bad), weft::push(names, pushed), [](int, std::span<named>) {});
      CHECK_THROWS_WITH(rt.wait(), "no data");
      std::atomic<std::uint64_t> sum{0}, seen{0};
      const auto look = [&](std::span<const std::uint64_t> in) {
        for (const std::uint64_t x : in) sum += x;
        seen += in.size();
      };
      for (int i = 0; i < 4; ++i) rt.submit(weft::peek(a, 1), look);  // side by side
      rt.submit(weft::peek(a, pushed + 1), look);                     // over both pushes
      rt.submit(weft::reuse(a, b, pushed), [](std::span<std::uint64_t> all) { ++all[0]; });
      rt.submit(weft::pop(b, pushed), look);
      rt.submit(weft::pop(names, pushed), [&](std::span<const named> all) {
        for (const named& n : all) seen += n.text == "nobody";
      });
      rt.wait();
      CHECK(sum == 1);
      CHECK(seen == 5 + pushed + pushed + pushed);
    }
}

TEST_CASE("streams: of a buffer that several push into, elements of a push that was skipped are made by default") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 2, .machine = machine});
    weft::handle<int> bad;
    weft::stream<std::uint64_t> s;
    for (int i = 0; i < 20; ++i) {  // memory that was in use before
      rt.submit(weft::push(s, 40), [](std::span<std::uint64_t> out) { std::ranges::fill(out, 7u); });
      rt.submit(weft::pop(s, 40), [](std::span<const std::uint64_t>) {});
    }
    rt.wait();
    std::uint64_t sum = 0;
    rt.submit(weft::peek(s, 40), [](std::span<const std::uint64_t>) {});  // names them before anybody pushes
    // One after the other: as with adds, who comes behind the one that failed is skipped, and their order is free.
    rt.submit(weft::write(bad), weft::push(s, 30),
              [](int&, std::span<std::uint64_t> out) { std::ranges::fill(out, 1u); });
    rt.submit(weft::write(bad), [](int&) { throw std::runtime_error("no data"); });
    rt.submit(weft::read(bad), weft::push(s, 10), [](int, std::span<std::uint64_t>) {});
    CHECK_THROWS_WITH(rt.wait(), "no data");
    rt.submit(weft::pop(s, 40), [&](std::span<const std::uint64_t> in) {
      for (const std::uint64_t x : in) sum += x;
    });
    rt.wait();
    CHECK(sum == 30);
  }
}

TEST_CASE("streams: who can be fed by nobody is in the report, with stream and elements") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 2, .machine = machine});
    weft::stream<int> s("hungry");
    bool fed = false;
    rt.submit(weft::pop(s, 3), weft::named("eater"), [&fed](std::span<const int>) { fed = true; });
    rt.submit(weft::push(s, 2), [](std::span<int>) {});
    CHECK_THROWS_WITH_AS(rt.wait(),
                         doctest::Contains("task 'eater' waits for elements 0 to 2 of stream 'hungry', of which 2 are "
                                           "there and 1 are pushed by no task"),
                         weft::error);
    CHECK_THROWS_WITH_AS(s.end(), doctest::Contains("which nobody pushes"), weft::error);
    CHECK(!fed);
  }
}

TEST_CASE("streams: one that ends while tasks wait says so, and they wait for a stream that is gone") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 2, .machine = machine});
    const std::string said = stderr_of([&rt] {
      weft::stream<int> s("orphan");
      rt.submit(weft::pop(s, 3), weft::named("eater"), [](std::span<const int>) {});
    });
    CHECK(said.find("stream 'orphan' is destroyed while tasks need it") != std::string::npos);
    CHECK(said.find("task 'eater' waits for elements 0 to 2 of stream 'orphan'") != std::string::npos);
    CHECK_THROWS_WITH_AS(rt.wait(), doctest::Contains("task 'eater' waits for a stream that is gone"), weft::error);
  }
}

TEST_CASE("streams: threads outside and tasks submit to one stream; none is lost") {
  weft::runtime rt({.workers = 2});
  weft::stream<std::uint64_t> s;
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t)
    others.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        rt.submit(weft::push(s, 2), [](std::span<std::uint64_t> out) { out[0] = out[1] = 1; });
        rt.submit(weft::pop(s, 1), [&sum](std::span<const std::uint64_t> in) { sum += in[0]; });
      }
    });
  for (int i = 0; i < 300; ++i)
    rt.submit([&] { rt.submit(weft::pop(s, 3), [&sum](std::span<const std::uint64_t> in) { sum += in[0] + in[2]; }); });
  for (std::thread& t : others) t.join();
  rt.wait();
  CHECK(sum == 3 * 300 + 2 * 300);
  s.end();
}

TEST_CASE("streams: a submission that fails loses its elements; who pops them is told, and the stream ends") {
  struct refuses {
    refuses() = default;
    refuses(const refuses&) { throw std::runtime_error("no copy"); }
    void operator()(std::span<int>) const {}
  };
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 2, .machine = machine});
    const refuses body;
    weft::stream<int> alone, s("lossy");
    CHECK_THROWS_WITH(rt.submit(weft::push(alone, 2), body), "no copy");
    CHECK_THROWS_WITH(rt.submit(weft::push(s, 2), body), "no copy");
    rt.submit(weft::push(s, 1), [](std::span<int>) {});
    rt.wait();
    rt.submit(weft::pop(s, 1), weft::named("hopes"), [](std::span<const int>) {});
    CHECK_THROWS_WITH_AS(rt.wait(), doctest::Contains("task 'hopes' waits for version 1 of handle 'lossy'"),
                         weft::error);
  }
}

TEST_CASE("streams: one that ends although elements that were named are never pushed does not wait for them") {
  for (const char* machine : both_machines)
    for (const char* creation : {"inline", "decoupled"}) {
      INFO(machine << " " << creation);
      weft::runtime rt({.workers = 2, .machine = machine, .creation = creation});
      weft::stream<int> s;
      rt.submit(weft::push(s, 2), [](std::span<int>) {});
      s.discard(5);
      rt.submit(weft::push(s, 1), [](std::span<int>) {});
      s.discard(4);
      CHECK((s.pushed() == 3 && s.popped() == 9));
    }
}

// Catches: a buffer that is used again and is still said to lie where its first life was.
TEST_CASE("streams: a buffer's home is where its last push ran, on a modelled machine of several nodes") {
  weft::runtime rt({.workers = 64, .machine = "opteron-6282-64"});
  weft::stream<std::uint64_t> s;
  constexpr std::size_t n = 4096;
  std::vector<unsigned> homes;
  for (const std::uint16_t worker : {std::uint16_t{9}, std::uint16_t{33}, std::uint16_t{63}}) {
    rt.submit(weft::push(s, n), weft::pin(worker), [](std::span<std::uint64_t>) {});
    rt.wait();
    homes.push_back(weft::detail::home_of(s.state().newest->handle));
    rt.submit(weft::pop(s, n), weft::pin(1), [](std::span<const std::uint64_t>) {});
    rt.wait();
  }
  CHECK(homes == std::vector<unsigned>{1, 4, 7});
}

// Rows of a matrix become its columns: who pushes names all streams, and who pops finds a piece of each row in its own.
TEST_CASE("streams: an array of them is one clause, on both sides") {
  for (const char* machine : both_machines)
    for (const unsigned workers : {1u, 2u, 5u}) {
      INFO(machine << " " << workers);
      weft::runtime rt({.workers = workers, .machine = machine});
      constexpr std::uint64_t rounds = 10, n = 12;
      std::vector<weft::stream<std::uint64_t>> wide(12);
      weft::stream<std::uint64_t> three[3];
      check c, sums;
      for (std::uint64_t r = 0; r < rounds; ++r) {
        rt.submit(weft::push<12>(wide, n), [r](std::span<const std::span<std::uint64_t>> out) {
          for (std::size_t k = 0; k < out.size(); ++k) std::iota(out[k].begin(), out[k].end(), r * n + k);
        });
        rt.submit(
            weft::peek<12>(wide, 2), weft::push(three, 1),
            [&c, r](std::span<const std::span<const std::uint64_t>> in, std::span<const std::span<std::uint64_t>> out) {
              for (std::size_t k = 0; k < in.size(); ++k) c.look(in[k], r * n + k, 0);
              for (const std::span<std::uint64_t> x : out) x[0] = in.size();
            });
        for (std::size_t half : {0, 6})
          rt.submit(weft::pop(std::span(wide).subspan(half, 6), n, n),
                    [&c, r, half](std::span<const std::span<const std::uint64_t>> in) {
                      for (std::size_t k = 0; k < in.size(); ++k) c.look(in[k], r * n + half + k, n);
                    });
        rt.submit(weft::pop(three, 1), [&sums](std::span<const std::span<const std::uint64_t>> in) {
          for (const std::span<const std::uint64_t> x : in) sums.look(x, 12, 1);
        });
      }
      rt.wait();
      CHECK((c.wrong == 0 && c.taken == rounds * 12 * n && c.seen == rounds * 12 * (n + 2)));
      CHECK((sums.wrong == 0 && sums.taken == 3 * rounds));
      for (weft::stream<std::uint64_t>& s : wide) s.end();
    }
}

TEST_CASE("streams: arrays with less in them than there is room for, and with more") {
  weft::runtime rt({.workers = 2});
  std::vector<weft::stream<int>> none, nine(9);
  int empty = 0, one = 0;  // a word for each: the two tasks have nothing to do with each other
  rt.submit(weft::push(none, 5), weft::pop(std::span(nine).first(2), 0),
            [&empty](std::span<const std::span<int>> out, std::span<const std::span<const int>> in) {
              empty += out.empty() && in.size() == 2 && in[1].empty();
            });
  rt.submit(weft::push(std::span<weft::stream<int>, 1>(&nine[3], 1), 2),
            [&one](std::span<const std::span<int>> out) { one += out.size() == 1 && out[0].size() == 2; });
  rt.wait();
  CHECK((empty == 1 && one == 1));
  CHECK((nine[3].pushed() == 2 && nine[2].pushed() == 0));
  CHECK_THROWS_WITH_AS(static_cast<void>(weft::push(nine, 1)),
                       "weft: an array of 9 streams is named by a clause with room for 8; say how many there may be: "
                       "weft::push<9>(streams, n), at most 16 of all clauses of a task",
                       weft::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(weft::pop<9>(nine, 3, 2)), doctest::Contains("takes more elements"),
                       weft::error);
}

TEST_CASE("streams: what they are called, and how many elements tasks have named") {
  weft::runtime rt({.workers = 1, .machine = "virtual"});
  weft::stream<int> s;
  s.name("numbers");
  rt.submit(weft::push(s, 5), [](std::span<int>) {});
  rt.submit(weft::pop(s, 2), [](std::span<const int>) {});
  rt.submit(weft::peek(s, 3), [](std::span<const int>) {});
  CHECK((s.pushed() == 5 && s.popped() == 2));
  rt.wait();
  CHECK_THROWS_WITH(s.end(), doctest::Contains("stream 'numbers' ends with 3 elements that no task pops"));
  s.discard(3);
  weft::event e;
  e.name("signal");
  CHECK(std::string(e.name()) == "signal");
}

TEST_CASE("streams: of elements that cannot be made, those that were are ended") {
  struct fussy {
    fussy() {
      if (--left() == 0) throw std::runtime_error("not one more");
      ++alive();
    }
    fussy(const fussy&) { ++alive(); }
    fussy& operator=(const fussy&) = default;
    ~fussy() { --alive(); }
    static int& left() {
      static int n = 0;
      return n;
    }
    static int& alive() {
      static int n = 0;
      return n;
    }
  };
  for (const int at : {1, 2, 150, 0}) {
    weft::runtime rt({.workers = 1, .machine = "virtual"});
    fussy::left() = at;
    {
      weft::stream<fussy> s;
      unsigned seen = 0;
      rt.submit(weft::push(s, 150), [](std::span<fussy>) {});
      rt.submit(weft::pop(s, 150), [&seen](std::span<const fussy> in) { seen += static_cast<unsigned>(in.size()); });
      if (at == 0)
        rt.wait();
      else
        CHECK_THROWS_WITH(rt.wait(), "not one more");
      CHECK(seen == (at == 0 ? 150 : 0));
      fussy::left() = 0;
    }
    CHECK(fussy::alive() == 0);
  }
}

TEST_CASE("streams: nothing but words where a window cannot be") {
  weft::runtime rt({.workers = 1});
  weft::stream<int> s;
  CHECK_THROWS_WITH_AS(static_cast<void>(weft::pop(s, 3, 2)), doctest::Contains("takes more elements than it sees"),
                       weft::error);
  int calls = 0;
  rt.submit(weft::pop(s, 0), weft::push(s, 0),
            [&calls](std::span<const int> in, std::span<int> out) { calls += in.empty() && out.empty(); });
  rt.wait();
  CHECK(calls == 1);
}

TEST_CASE("streams: a trace has their buffers as handles, and its rules hold") {
  for (const char* machine : both_machines) {
    const trace_place place;
    {
      weft::runtime rt({.workers = 2, .machine = machine, .trace = place.path().c_str()});
      check c, d;
      random_program(rt, 4, c);
      random_program(rt, 7, d);
    }
    const trace_file trace(place.path());
    CHECK(trace.verdict() == "");
    CHECK(trace.number("SELECT count(*) FROM handles WHERE name = 'numbers'") > 0);
  }
}
