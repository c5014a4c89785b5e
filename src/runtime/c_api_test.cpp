// The C interface does what the C++ one does: the same results, and on a virtual machine the same times to the bit.
#include "weft.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sanitized.hpp"
#include "trace_file.hpp"
#include "weft/weft.hpp"

namespace {

using function = std::function<void(void** data)>;

weft_options options(unsigned workers, const char* machine, const char* policy = nullptr) {
  weft_options o{};
  o.size = sizeof o;
  o.workers = workers;
  o.machine = machine;
  o.policy = policy;
  o.seed = 7;
  return o;
}

// A runtime, and the bodies it may still call.
struct program {
  explicit program(unsigned workers = 2, const char* machine = "virtual", const char* policy = nullptr) {
    const weft_options o = options(workers, machine, policy);
    rt = weft_runtime_create(&o);
    REQUIRE_MESSAGE(rt != nullptr, weft_last_error());
  }
  ~program() { CHECK(weft_runtime_destroy(rt) == WEFT_OK); }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  int submit(const std::vector<weft_access>& accesses, function f, weft_task t = {}) {
    {
      const std::lock_guard hold(guard);  // tasks submit, too
      t.argument = &bodies.emplace_back(std::move(f));
    }
    t.size = sizeof t;
    t.body = [](void* body, void** data) { (*static_cast<function*>(body))(data); };
    t.accesses = accesses.data();
    t.access_count = accesses.size();
    return weft_submit(rt, &t);
  }

  weft_runtime* rt;
  std::mutex guard;
  std::deque<function> bodies;
};

// Handles over the numbers of a vector.
struct handles {
  explicit handles(std::vector<long>& data) {
    for (long& x : data) all.push_back(weft_handle_create(&x));
  }
  ~handles() {
    for (weft_handle* h : all) CHECK(weft_handle_destroy(h) == WEFT_OK);
  }
  handles(const handles&) = delete;
  handles& operator=(const handles&) = delete;

  std::vector<weft_handle*> all;
};

long& number(void* datum) { return *static_cast<long*>(datum); }
void add_longs(void*, void* into, void* from) { number(into) += number(from); }
std::string last() { return weft_last_error(); }

// Some hundred tasks on few handles, drawn from a seed, as data: so that both interfaces can run them.
struct drawn_task {
  unsigned handle[3];
  std::uint32_t kind[3];
  bool urgent;
  unsigned pin;
  double cost;
};
constexpr unsigned drawn_handles = 5, drawn_workers = 3;
std::vector<drawn_task> draw(std::uint64_t seed) {
  weft::base::random random(seed);
  constexpr std::uint32_t kinds[] = {WEFT_READ, WEFT_WRITE, WEFT_ADD, WEFT_CONCURRENT};
  std::vector<drawn_task> all(200);
  for (drawn_task& t : all) {
    t.handle[0] = static_cast<unsigned>(random.below(drawn_handles));
    t.handle[1] = (t.handle[0] + 1) % drawn_handles;
    t.handle[2] = (t.handle[0] + 3) % drawn_handles;
    for (std::uint32_t& k : t.kind) k = kinds[random.below(4)];
    t.urgent = random.below(8) == 0;
    t.pin = static_cast<unsigned>(random.below(8));
    t.cost = static_cast<double>(100 + random.below(3000));
  }
  return all;
}

using trace = std::vector<std::size_t>;  // numbers of the tasks, in the order they ran

// The clause of a kind that is known only now: C++ has a type per kind.
template <class Then> void with_clause(std::uint32_t kind, weft::handle<void>& h, Then then) {
  if (kind == WEFT_READ) return then(weft::read(h));
  if (kind == WEFT_WRITE) return then(weft::write(h));
  if (kind == WEFT_ADD) return then(weft::add(h));
  then(weft::concurrent(h));
}

double run_cpp(const std::vector<drawn_task>& tasks, const char* policy, trace& ran) {
  weft::runtime rt({.workers = drawn_workers, .machine = "virtual", .policy = policy, .seed = 7});
  std::vector<weft::handle<void>> h(drawn_handles);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const drawn_task& t = tasks[i];
    // As large as a C task, so that the pool hands out records of the same size at the same moments.
    const auto body = [&ran, i, as_in_c = std::array<char, 24>{}] { static_cast<void>(as_in_c), ran.push_back(i); };
    with_clause(t.kind[0], h[t.handle[0]], [&](auto a) {
      with_clause(t.kind[1], h[t.handle[1]], [&](auto b) {
        if (t.pin < drawn_workers) return rt.submit(a, b, weft::pin(t.pin), weft::cost(t.cost), body);
        if (t.urgent) return rt.submit(a, b, weft::priority(1), weft::cost(t.cost), body);
        with_clause(t.kind[2], h[t.handle[2]], [&](auto c) { rt.submit(a, b, c, weft::cost(t.cost), body); });
      });
    });
  }
  rt.wait();
  return rt.now_ns();
}

double run_c(const std::vector<drawn_task>& tasks, const char* policy, trace& ran) {
  program p(drawn_workers, "virtual", policy);
  std::vector<long> nothing(drawn_handles);
  handles h(nothing);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const drawn_task& t = tasks[i];
    std::vector<weft_access> a;
    const bool directed = t.pin < drawn_workers || t.urgent;
    for (unsigned k = 0; k < (directed ? 2 : 3); ++k) a.push_back({h.all[t.handle[k]], t.kind[k], 0});
    weft_task clauses{};
    clauses.cost_ns = t.cost;
    clauses.flags = t.pin < drawn_workers ? WEFT_PINNED : 0;
    clauses.worker = t.pin;
    clauses.priority = directed && t.pin >= drawn_workers;
    REQUIRE(p.submit(
                a, [&ran, i](void**) { ran.push_back(i); }, clauses) == WEFT_OK);
  }
  REQUIRE(weft_wait(p.rt) == WEFT_OK);
  return weft_now_ns(p.rt);
}

}  // namespace

TEST_CASE("c: a trace is recorded where the options say, and written when asked") {
  const trace_place place;
  const std::string path = place.path();
  weft_options o = options(2, "virtual");
  o.trace = path.c_str();
  o.trace_mib = 3;
  weft_runtime* rt = weft_runtime_create(&o);
  REQUIRE(rt != nullptr);
  CHECK(std::string(weft_runtime_trace_path(rt)) == path);
  weft_task t{};
  t.size = sizeof t;
  t.body = [](void*, void**) {};
  t.name = "from C";
  CHECK(weft_submit(rt, &t) == WEFT_OK);
  CHECK(weft_wait(rt) == WEFT_OK);
  CHECK(weft_write_trace(rt) == WEFT_OK);
  CHECK(trace_file(path).text("SELECT name FROM names") == "from C");
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);

  o.trace = nullptr;
  rt = weft_runtime_create(&o);
  CHECK(weft_runtime_trace_path(rt) == nullptr);
  CHECK(weft_write_trace(rt) == WEFT_MISUSE);
  weft_runtime_destroy(rt);
  o.counters = "cycles";
  CHECK(weft_runtime_create(&o) == nullptr);
}

TEST_CASE("c: the same order and the same virtual times as C++" * doctest::skip(real_threads_only)) {
  for (const weft::choice& policy : weft::policies())
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const std::vector<drawn_task> tasks = draw(seed);
      trace by_cpp, by_c;
      const double cpp = run_cpp(tasks, policy.name, by_cpp);
      const double c = run_c(tasks, policy.name, by_c);
      INFO(std::string(policy.name) << ", seed " << seed);
      CHECK(cpp == c);
      CHECK(by_cpp == by_c);
    }
}

TEST_CASE("c: data in the order of the accesses, NULL for what carries none") {
  for (const char* machine : both_machines) {
    program p(2, machine);
    std::vector<long> data = {1, 2};
    handles h(data);
    weft_handle* token = weft_handle_create(nullptr);
    weft_handle* disks = weft_resource_create(2);
    CHECK(weft_handle_data(h.all[0]) == &data[0]);
    CHECK(weft_handle_data(token) == nullptr);
    bool right = false;
    const auto look = [&](void** d) {
      right = d[0] == &data[1] && d[1] == nullptr && d[2] == &data[0] && d[3] == nullptr && d[4] == &data[1];
    };
    REQUIRE(p.submit(
                {weft_read(h.all[1]), weft_write(token), weft_write(h.all[0]), weft_use(disks, 1), weft_read(h.all[1])},
                look) == WEFT_OK);
    CHECK(weft_wait_handle(p.rt, h.all[0]) == WEFT_OK);
    CHECK(right);
    CHECK(weft_handle_version(h.all[0]) == 1);
    CHECK(weft_wait(p.rt) == WEFT_OK);
    CHECK(weft_handle_destroy(token) == WEFT_OK);
    CHECK(weft_handle_destroy(disks) == WEFT_OK);
  }
}

TEST_CASE("c: an argument is borrowed, or copied and aligned") {
  program p;
  std::vector<long> data(4);
  handles h(data);
  for (std::size_t accesses = 0; accesses <= 4; ++accesses)
    for (const std::size_t bytes : {1u, 8u, 17u, 400u, 5000u}) {
      struct seen {
        std::string text;
        bool aligned = false;
      };
      static seen s;
      s = {};
      std::string text(bytes - 1, 'x');
      std::vector<weft_access> a;
      for (std::size_t i = 0; i < accesses; ++i) a.push_back(weft_read(h.all[i]));
      weft_task t{};
      t.size = sizeof t;
      t.accesses = a.data();
      t.access_count = accesses;
      t.argument = text.data();
      t.argument_bytes = bytes;
      t.body = [](void* argument, void**) {
        s = {static_cast<char*>(argument), reinterpret_cast<std::uintptr_t>(argument) % 16 == 0};
        std::memset(argument, 'y', 1);  // the copy is the task's own
      };
      REQUIRE(weft_submit(p.rt, &t) == WEFT_OK);
      const std::string original = text;
      std::fill(text.begin(), text.end(), 'z');
      CHECK(weft_wait(p.rt) == WEFT_OK);
      CHECK(s.text == original);
      CHECK(s.aligned);
    }
}

TEST_CASE("c: wide tasks") {
  constexpr std::size_t wide = 300;
  for (const char* machine : both_machines)
    for (const std::uint32_t kind : {WEFT_WRITE, WEFT_ADD, WEFT_CONCURRENT, WEFT_READ}) {
      program p(4, machine);
      std::vector<long> data(wide);
      handles h(data);
      std::vector<weft_access> a;
      for (weft_handle* x : h.all) a.push_back({x, kind, 0});
      std::reverse(a.begin(), a.end());
      a.push_back(a.front());  // once more, counts for nothing
      std::atomic<int> ran = 0;
      std::atomic<long> total = 0;
      for (int round = 0; round < 10; ++round) {
        for (weft_handle* x : h.all) REQUIRE(p.submit({weft_write(x)}, [](void** d) { ++number(d[0]); }) == WEFT_OK);
        REQUIRE(p.submit(a, [&](void** d) {
          ++ran;
          for (std::size_t i = 0; i < wide; ++i) total += number(d[i]);
          total += d[wide] == d[0] ? 0 : 1'000'000;
        }) == WEFT_OK);
      }
      CHECK(weft_wait(p.rt) == WEFT_OK);
      CHECK(ran == 10);
      CHECK(total == 55 * static_cast<long>(wide));
      CHECK(weft_handle_version(h.all[wide / 2]) == 20);
    }
}

TEST_CASE("c: a reduction of numbers") {
  for (const char* machine : both_machines) {
    program p(4, machine);
    long total = 5;
    weft_reduction op{};
    op.size = sizeof op;
    op.buffer_bytes = sizeof(long);
    op.merge = add_longs;
    weft_handle* r = weft_reduction_create(&total, &op);
    long between = 0;
    for (long i = 1; i <= 100; ++i)
      REQUIRE(p.submit({weft_reduce(r)}, [i](void** part) { number(part[0]) += i; }) == WEFT_OK);
    REQUIRE(p.submit({weft_read(r)}, [&](void** d) { between = number(d[0]); }) == WEFT_OK);
    for (long i = 1; i <= 100; ++i)
      REQUIRE(p.submit({weft_reduce(r)}, [i](void** part) { number(part[0]) += i; }) == WEFT_OK);
    CHECK(weft_wait_handle(p.rt, r) == WEFT_OK);
    CHECK(between == 5055);
    CHECK(total == 10'105);
    REQUIRE(p.submit({weft_reduce(r), weft_reduce(r)}, [](void** d) { ++number(d[0]), ++number(d[1]); }) == WEFT_OK);
    CHECK(weft_wait(p.rt) == WEFT_OK);
    CHECK(total == 10'107);
    CHECK(weft_handle_destroy(r) == WEFT_OK);
  }
}

TEST_CASE("c: a reduction with buffers of another type, which own memory") {
  struct context {
    std::atomic<int> made = 0, destroyed = 0;
  };
  for (const char* machine : both_machines) {
    context counts;
    program p(4, machine);
    long histogram[8] = {};
    weft_reduction op{};
    op.size = sizeof op;
    op.buffer_bytes = sizeof(int*);
    op.context = &counts;
    op.create = [](void* c, void* buffer, const void*) {
      ++static_cast<context*>(c)->made;
      *static_cast<int**>(buffer) = new int[8]();
    };
    op.merge = [](void*, void* into, void* from) {
      for (int i = 0; i < 8; ++i) (*static_cast<int**>(into))[i] += (*static_cast<int**>(from))[i];
    };
    op.apply = [](void*, void* target, void* from) {
      for (int i = 0; i < 8; ++i) static_cast<long*>(target)[i] += (*static_cast<int**>(from))[i];
    };
    op.destroy = [](void* c, void* buffer) {
      ++static_cast<context*>(c)->destroyed;
      delete[] *static_cast<int**>(buffer);
    };
    weft_handle* r = weft_reduction_create(histogram, &op);
    for (int i = 0; i < 80; ++i)
      REQUIRE(p.submit({weft_reduce(r)}, [i](void** part) { ++(*static_cast<int**>(part[0]))[i % 8]; }) == WEFT_OK);
    CHECK(weft_wait(p.rt) == WEFT_OK);
    CHECK(std::count(histogram, histogram + 8, 10) == 8);
    CHECK(counts.made >= 1);
    CHECK(counts.made == counts.destroyed);
    CHECK(weft_handle_destroy(r) == WEFT_OK);
  }
}

TEST_CASE("c: resources, and access types of the user's own") {
  program p(8);
  weft_handle* disks = weft_resource_create(3);
  weft_handle* h = weft_handle_create(nullptr);
  int now = 0, most = 0;
  for (int i = 0; i < 30; ++i)
    REQUIRE(p.submit({weft_use(disks, i % 3 == 0 ? 2 : 0)}, [&, i](void**) {
      const int units = i % 3 == 0 ? 2 : 1;
      most = std::max(most, now += units);
      weft_charge(5000);
      now -= units;
    }) == WEFT_OK);
  CHECK(weft_wait(p.rt) == WEFT_OK);
  CHECK(most == 3);

  const std::uint32_t scale = WEFT_ACCESS_TYPE(1, WEFT_COMMUTATIVE | WEFT_EXCLUSIVE);
  const std::uint32_t shift = WEFT_ACCESS_TYPE(24, WEFT_COMMUTATIVE);
  std::string ran;
  int inside = 0, inside_most = 0;
  for (const std::uint32_t kind : {scale, scale, shift, shift, scale})
    REQUIRE(p.submit({weft_with_access(h, kind, 0)}, [&, kind](void**) {
      ran += kind == scale ? 's' : 't';
      ++inside;
      weft_charge(5000);
      if (kind == shift) inside_most = std::max(inside_most, inside);
      if (kind == scale) CHECK(inside == 1);
      --inside;
    }) == WEFT_OK);
  CHECK(weft_wait(p.rt) == WEFT_OK);
  CHECK(ran == "sstts");
  CHECK(inside_most == 2);
  CHECK(weft_handle_destroy(h) == WEFT_OK);
  CHECK(weft_handle_destroy(disks) == WEFT_OK);
}

TEST_CASE("c: subtasks, waits inside of tasks") {
  for (const char* machine : both_machines) {
    program p(2, machine);
    std::vector<long> data = {0, 0, 0};
    handles h(data);
    weft_task subtasks{};
    subtasks.flags = WEFT_SUBTASKS;
    REQUIRE(p.submit(
                {weft_write(h.all[0])},
                [&](void**) { p.submit({weft_write(h.all[1])}, [](void** d) { number(d[0]) = 42; }); },
                subtasks) == WEFT_OK);
    long seen = 0;
    REQUIRE(p.submit({weft_read(h.all[0])}, [&](void**) { seen = data[1]; }) == WEFT_OK);
    CHECK(weft_wait(p.rt) == WEFT_OK);
    CHECK(seen == 42);
    int status = -1;
    REQUIRE(p.submit({}, [&](void**) {
      p.submit({weft_write(h.all[2])}, [](void** d) { number(d[0]) = 7; });
      status = weft_wait(p.rt);
      seen = data[2];
    }) == WEFT_OK);
    CHECK(weft_wait(p.rt) == WEFT_OK);
    CHECK(status == WEFT_OK);
    CHECK(seen == 7);
  }
}

TEST_CASE("c: pause, start, workspace, charge, worker ids, counts, time") {
  for (const char* machine : both_machines) {
    program p(2, machine);
    CHECK(weft_runtime_workers(p.rt) >= 1);
    CHECK(std::string(weft_runtime_machine(p.rt)) == machine);
    CHECK(std::string(weft_runtime_policy(p.rt)) == "local");
    CHECK(weft_runtime_seed(p.rt) == 7);
    CHECK(weft_worker_id() == weft::worker_id());
    CHECK(weft_pause(p.rt) == WEFT_OK);
    int id = -1;
    void* scratch = nullptr;
    weft_task pinned{};
    pinned.flags = WEFT_PINNED;
    pinned.worker = weft_runtime_workers(p.rt) - 1;
    REQUIRE(p.submit(
                {},
                [&](void**) {
                  id = weft_worker_id();
                  scratch = weft_workspace(10'000);
                  if (scratch != nullptr) std::memset(scratch, 1, 10'000);
                  weft_charge(123'000);
                },
                pinned) == WEFT_OK);
    CHECK(id == -1);
    CHECK(weft_start(p.rt) == WEFT_OK);
    const double before = weft_now_ns(p.rt);
    CHECK(weft_wait(p.rt) == WEFT_OK);
    CHECK(id == static_cast<int>(pinned.worker));
    CHECK(scratch != nullptr);
    CHECK(weft_now_ns(p.rt) - before >= (std::string(machine) == "virtual" ? 123'000 : 0));
    weft_counts counts{};
    counts.size = sizeof counts;
    CHECK(weft_statistics(p.rt, &counts) == WEFT_OK);
    CHECK(counts.tasks == 1);
    CHECK(counts.size == sizeof counts);
  }
}

TEST_CASE("c: what there is") {
  CHECK(std::string(weft_version()) == weft::version());
  CHECK(weft_usable_cpus() == weft::usable_cpus());
  CHECK(std::string(weft_usable_cpus_reason()) == weft::usable_cpus_reason());
  std::size_t n = 0;
  const weft_choice* list = weft_machines(&n);
  REQUIRE(n == weft::machines().count);
  for (std::size_t i = 0; i < n; ++i) CHECK(std::string(list[i].name) == weft::machines().first[i].name);
  list = weft_policies(&n);
  REQUIRE(n == weft::policies().count);
  for (std::size_t i = 0; i < n; ++i) CHECK(std::string(list[i].what) == weft::policies().first[i].what);
  std::string text = "a name";
  const char* kept = weft_intern(text.c_str());
  CHECK(kept != text.c_str());
  CHECK(weft_intern("a name") == kept);
  text = "other";
  CHECK(std::string(kept) == "a name");
}

TEST_CASE("c: two runtimes at once, and a handle that moves between them") {
  program real(2, "host"), modelled(3);
  std::vector<long> data = {0};
  handles h(data);
  for (int round = 0; round < 5; ++round) {
    for (program* p : {&real, &modelled}) {
      for (int i = 0; i < 50; ++i) REQUIRE(p->submit({}, [](void**) {}) == WEFT_OK);
      REQUIRE(p->submit({weft_add(h.all[0])}, [](void** d) { ++number(d[0]); }) == WEFT_OK);
      CHECK(weft_wait(p->rt) == WEFT_OK);
    }
  }
  CHECK(data[0] == 10);
  CHECK(weft_pause(modelled.rt) == WEFT_OK);
  REQUIRE(modelled.submit({weft_add(h.all[0])}, [](void** d) { ++number(d[0]); }) == WEFT_OK);
  CHECK(weft_handle_set_name(h.all[0], "shared") == WEFT_OK);
  CHECK(real.submit({weft_add(h.all[0])}, [](void**) {}) == WEFT_MISUSE);
  CHECK(last() ==
        "weft: handle 'shared' is still in use by another runtime; wait there before submitting tasks on it here");
  CHECK(weft_wait(modelled.rt) == WEFT_OK);
  CHECK(data[0] == 11);
}
