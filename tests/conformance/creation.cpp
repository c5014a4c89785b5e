// Decoupled creation: what only it can get wrong. That it runs the same programs as inline creation is asked by the
// other suites, which run on it as well (everywhere.hpp, replay.hpp, enumeration.cpp, schedules.cpp).
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "execute.hpp"
#include "programs.hpp"
#include "replay.hpp"
#include "thrown.hpp"
#include "trace_file.hpp"
#include "weft.h"
#include "weft/weft.hpp"

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Calls check(runtime) with 2 to 16 workers, with more than this machine has cores, and in random orders.
template <class Check> void decoupled_everywhere(Check check) {
  for (const unsigned workers : {2u, 3u, 4u, 7u, 16u})
    for (std::uint64_t seed = 0; seed <= (real_threads_only ? 0u : 3u); ++seed) {
      weft::options o{.workers = workers, .machine = seed == 0 ? "host" : "virtual", .seed = seed + 1};
      o.model.schedule = seed <= 1 ? "time" : "random";
      o.creation = "decoupled";
      const std::string line = std::string(o.machine) + ", " + std::to_string(workers) + " workers, seed " +
                               std::to_string(o.seed) + ", order by " + o.model.schedule;
      INFO(line);
      const deadline limit(line);
      check(o);
    }
}

// A virtual runtime's duration of n tasks of cost_ns each, and who ran them.
struct outcome {
  double ns;
  std::vector<long> ran;
};
outcome run_independent(const weft::options& o, int n, double cost_ns) {
  weft::runtime rt(o);
  outcome out{0, std::vector<long>(rt.workers())};
  const double start = rt.now_ns();
  for (int i = 0; i < n; ++i)
    rt.submit(weft::cost(cost_ns), [&out] { ++out.ran[static_cast<std::size_t>(weft::worker_id())]; });
  rt.wait();
  out.ns = rt.now_ns() - start;
  return out;
}

}  // namespace

TEST_CASE("creation: random programs on real threads and on up to 512 modelled cores") {
  for_each_seed("creation: random programs*", 0, sanitized ? 40 : 300, [](std::uint64_t seed) {
    static constexpr unsigned host[] = {2, 3, 4, 7, 16}, modelled[] = {2, 3, 8, 64, 512};
    weft::base::random rng(seed + 1);
    const bool real = real_threads_only || seed % 2 == 0;
    const unsigned workers = (real ? host : modelled)[rng.below(seed % 20 == 1 ? 5 : 4)];
    weft::runtime rt({.workers = workers,
                      .machine = real ? "host" : "virtual",
                      .seed = seed + 1,
                      .model = {.schedule = !real && seed % 4 == 3 ? "random" : "time"},
                      .creation = "decoupled",
                      .creator = rng.below(workers)});
    return reference::run_and_judge(rt, reference::draw(rng, 1 + rng.below(6), 10 + rng.below(200)));
  });
}

TEST_CASE("creation: who creates is asked for, told, and only creates") {
  weft::runtime inline_one({.workers = 3});
  CHECK(inline_one.creator() == -1);
  weft::runtime by_last({.workers = 3, .creation = "decoupled"});
  CHECK(by_last.creator() == 2);
  for (const unsigned creator : {1u, 2u, 5u}) {
    const outcome o =
        run_independent({.workers = 6, .machine = "virtual", .creation = "decoupled", .creator = creator}, 500, 20'000);
    for (std::size_t id = 0; id < 6; ++id) {
      INFO("creator " << creator << ", worker " << id);
      CHECK((o.ran[id] == 0) == (id == creator));
    }
  }
}

TEST_CASE("creation: two workers can spare none, so both run tasks") {
  const outcome o = run_independent({.workers = 2, .machine = "virtual", .creation = "decoupled"}, 500, 20'000);
  CHECK(o.ran[0] > 100);
  CHECK(o.ran[1] > 100);
}

TEST_CASE("creation: the same program takes the same virtual time again") {
  const weft::options o{.workers = 8, .machine = "virtual", .creation = "decoupled"};
  CHECK(run_independent(o, 300, 3'000).ns == run_independent(o, 300, 3'000).ns);
}

TEST_CASE("creation: a wait for a handle waits for what is not created yet") {
  decoupled_everywhere([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> h(0);
    for (int i = 1; i <= 50; ++i) {
      rt.submit(weft::write(h), [](int& x) { ++x; });
      CHECK(rt.get(h) == i);
    }
    for (int i = 0; i < 500; ++i) rt.submit(weft::add(h), [](int& x) { ++x; });
    CHECK(rt.get(h) == 550);
    CHECK(h.idle());
    int inner = 0;
    rt.submit([&rt, &inner] {
      weft::handle<int> own(0);
      for (int i = 0; i < 20; ++i) rt.submit(weft::write(own), [](int& x) { ++x; });
      inner = rt.get(own);
    });
    rt.wait();
    CHECK(inner == 20);
  });
}

TEST_CASE("creation: a handle with a task on the way is not idle") {
  decoupled_everywhere([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> h(0);
    rt.pause();  // so that the task cannot be done; it may be created or not
    rt.submit(weft::write(h), [](int& x) { ++x; });
    CHECK(!h.idle());
    rt.wait();
    CHECK(h.idle());
  });
}

// The destructor is all that keeps the body's reference alive. Before creation no runtime is known to the handle.
TEST_CASE("creation: a handle outlives the tasks on it, created or not") {
  decoupled_everywhere([](const weft::options& o) {
    weft::runtime rt(o);
    std::atomic<int> sum{0};
    for (int i = 0; i < 200; ++i) {
      auto h = std::make_unique<weft::handle<int>>(1);
      rt.submit(weft::write(*h), [&sum](int& x) { sum += std::exchange(x, -1000); });
      if (i % 2 == 0)
        h.reset();
      else
        rt.submit(weft::read(*h), [&sum](const int& x) { sum += x == -1000 ? 0 : 1'000'000; });
    }
    rt.submit([&rt, &sum] {
      weft::handle<int> own(1);
      rt.submit(weft::write(own), [&sum](int& x) { sum += x; });
    });
    rt.wait();
    CHECK(sum == 201);
  });
}

TEST_CASE("creation: two submitters each keep their order") {
  decoupled_everywhere([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<std::vector<int>> log;
    for (int of = 0; of < 3; ++of)
      rt.submit([&rt, &log, of] {
        for (int i = 0; i < 100; ++i)
          rt.submit(weft::write(log), [of, i](std::vector<int>& v) { v.push_back(of * 1000 + i); });
      });
    if (rt.machine()[0] == 'h') {
      std::thread stranger([&] {
        for (int i = 0; i < 100; ++i) rt.submit(weft::write(log), [i](std::vector<int>& v) { v.push_back(3000 + i); });
        static_cast<void>(rt.get(log));
      });
      stranger.join();
    }
    rt.wait();
    std::vector<int> next(4, 0);
    bool in_order = true;
    for (const int x : log.unguarded()) in_order &= next[static_cast<std::size_t>(x / 1000)]++ == x % 1000;
    CHECK(in_order);
    CHECK(log.unguarded().size() == (rt.machine()[0] == 'h' ? 400 : 300));
  });
}

TEST_CASE("creation: what submit() would have thrown is thrown by the wait, and nothing else is lost") {
  decoupled_everywhere([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> h{1}, other{1};
    h.name("the ledger");
    auto ran = std::make_shared<int>(0);
    rt.submit(weft::read(h), weft::write(h), [ran](const int&, int&) { ++*ran; });
    rt.submit(weft::write(other), [](int& x) { ++x; });
    const std::string said = thrown([&] { rt.wait(); });
    CHECK(contains(said, "the ledger"));
    CHECK(contains(said, "two kinds"));
    CHECK(*ran == 0);
    CHECK(ran.use_count() == 1);  // its closure is gone
    CHECK(rt.get(other) == 2);
    rt.submit(weft::write(h), [](int& x) { ++x; });  // the refused task holds no version
    CHECK(rt.get(h) == 2);

    std::string inner;
    rt.submit([&] {
      rt.submit(weft::read(h), weft::write(h), [](const int&, int&) {});
      inner = thrown([&] { rt.wait(); });
    });
    rt.wait();
    CHECK(contains(inner, "the ledger"));
  });
}

TEST_CASE("creation: a handle of another runtime is refused, and stays usable there") {
  decoupled_everywhere([](const weft::options& o) {
    weft::runtime rt(o), there({.workers = 1, .machine = "virtual"});
    weft::handle<int> h{1};
    there.submit(weft::write(h), [](int& x) { ++x; });
    rt.submit(weft::write(h), [](int& x) { x = 100; });
    CHECK(contains(thrown([&] { rt.wait(); }), "another runtime"));
    CHECK(there.get(h) == 2);
  });
}

TEST_CASE("creation: a refused task's closure may own a handle that others still use") {
  decoupled_everywhere([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> h{1};
    std::atomic<int> ran{0};
    {
      auto owned = std::make_shared<weft::handle<int>>(0);
      for (int i = 0; i < 10; ++i) rt.submit(weft::write(*owned), [&ran](int&) { ++ran; });
      rt.submit(weft::read(h), weft::write(h), [owned](const int&, int&) {});
    }
    CHECK(contains(thrown([&] { rt.wait(); }), "two kinds"));
    CHECK(ran == 10);
  });
}

TEST_CASE("creation: tasks may be pinned to the creator, and what they wait for is created meanwhile") {
  decoupled_everywhere([](const weft::options& o) {
    weft::runtime rt(o);
    const auto creator = static_cast<unsigned>(rt.creator());
    int on = -1, sum = 0;
    rt.submit(weft::pin(creator), [&] {
      on = weft::worker_id();
      for (int i = 0; i < 20; ++i) rt.submit(weft::pin(creator), [&sum] { ++sum; });
      rt.wait();
    });
    rt.wait();
    CHECK(on == rt.creator());
    CHECK(sum == 20);
    if (rt.machine()[0] != 'h' || rt.workers() < 3) return;
    // A body that spins for another task: with nobody but the creator to create it this would hang.
    std::atomic<int> flag{0};
    rt.submit(weft::pin(creator), [&flag] {
      while (flag == 0) std::this_thread::yield();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    rt.submit([&flag] { flag = 1; });
    rt.wait();
    CHECK(flag == 1);
  });
}

TEST_CASE("creation: a window, nested submitters, reductions and resources") {
  decoupled_everywhere([](weft::options o) {
    o.window = 64;
    weft::runtime rt(o);
    weft::reduction<long> sum;
    weft::resource two(2);
    long in_tasks = 0;
    weft::handle<long> seen(0);
    for (int i = 0; i < 300; ++i) {
      rt.submit(weft::reduce(sum), [](long& s) { ++s; });
      rt.submit(weft::use(two, 1 + i % 2), [] {});
      if (i % 100 == 99) rt.submit(weft::read(sum), weft::write(seen), [](const long& s, long& x) { x = s; });
    }
    rt.submit([&] {
      for (int i = 0; i < 300; ++i) rt.submit(weft::reduce(sum), [](long& s) { ++s; });
      rt.submit(weft::read(sum), [&in_tasks](const long& s) { in_tasks = s; });
      rt.wait();
    });
    rt.wait();
    CHECK(rt.get(seen) == 300);
    CHECK(in_tasks >= 300);
    CHECK(rt.get(sum) == 600);
  });
}

TEST_CASE("creation: paused, and left unfinished") {
  decoupled_everywhere([](const weft::options& o) {
    int ran = 0;
    {
      weft::runtime rt(o);
      rt.pause();
      weft::handle<int> h(0);
      for (int i = 0; i < 100; ++i) rt.submit(weft::write(h), [&ran](int&) { ++ran; });
      CHECK(ran == 0);
      rt.start();
      rt.wait();
      CHECK(ran == 100);
    }
    weft::handle<int> outlives(0);
    {
      weft::runtime rt(o);
      rt.submit([&] {
        for (int i = 0; i < 50; ++i) rt.submit(weft::write(outlives), [&ran](int&) { ++ran; });
      });
    }  // the end of a runtime waits for what its tasks submit
    CHECK(ran == 150);
    CHECK(outlives.idle());
  });
}

TEST_CASE("creation: a stall is reported") {
  decoupled_everywhere([](const weft::options& o) {
    std::string said;
    weft::handle<int> h(0);
    h.name("held");
    {
      weft::runtime rt(o);
      rt.submit(weft::write(h), weft::named("holder"), [&](int&) {
        rt.submit(weft::write(h), weft::named("needs it"), [](int&) {});
        rt.wait();
      });
      said = thrown([&] { rt.wait(); });
    }
    CHECK(contains(said, "no task can run any more"));
    CHECK(contains(said, "needs it"));
  });
}

TEST_CASE("creation: a trace says who submitted and when, not who created") {
  for (const char* machine : both_machines) {
    const trace_place place;
    const std::string path = place.path();
    {
      weft::runtime rt({.workers = 4, .machine = machine, .creation = "decoupled", .trace = path.c_str()});
      weft::handle<int> h(0);
      for (int i = 0; i < 100; ++i) rt.submit(weft::write(h), weft::named("main's"), [](int&) {});
      rt.wait();
      rt.submit(weft::pin(1), [&rt] {
        for (int i = 0; i < 10; ++i) rt.submit(weft::named("nested"), [] {});
      });
      rt.wait();
      if (machine[0] == 'h') std::thread([&] { rt.submit(weft::named("outside"), [] {}); }).join();
      rt.wait();
    }
    const trace_file file(path);
    CHECK(file.verdict(true) == "");
    const std::string of = " FROM tasks t JOIN names n ON n.id = t.name WHERE n.name = ";
    CHECK(file.number("SELECT count(*)" + of + "'main''s' AND submitter = 0") == 100);
    CHECK(file.number("SELECT count(*)" + of + "'nested' AND submitter = 1") == 10);
    CHECK(file.number("SELECT count(*)" + of + "'outside' AND submitter IS NULL") == (machine[0] == 'h' ? 1 : 0));
    CHECK(file.number("SELECT count(*) FROM tasks WHERE submitted_ns > started_ns") == 0);
  }
}

TEST_CASE("creation: two runtimes with creators of their own") {
  weft::runtime a({.workers = 3, .creation = "decoupled"}), b({.workers = 3, .creation = "decoupled"});
  weft::handle<int> x(0), y(0);
  for (int i = 0; i < 100; ++i) {
    a.submit(weft::write(x), [](int& v) { ++v; });
    b.submit(weft::write(y), [](int& v) { ++v; });
  }
  CHECK(a.get(x) == 100);
  CHECK(b.get(y) == 100);
  b.submit(weft::write(x), [](int& v) { ++v; });
  CHECK(b.get(x) == 101);
}

TEST_CASE("creation: from C") {
  weft_options o{};
  o.size = sizeof o;
  o.workers = 3;
  o.creation = "decoupled";
  o.creator = 3;
  CHECK(weft_runtime_create(&o) == nullptr);
  CHECK(contains(weft_last_error(), "creator"));
  o.creator = 1;
  weft_runtime* rt = weft_runtime_create(&o);
  REQUIRE(rt != nullptr);
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);
}
