// The C interface when things go wrong: misuse is refused in words, failures arrive at the wait that the guide says,
// and nothing thrown comes out.
#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "capture.hpp"
#include "weft.h"

namespace {

using function = std::function<void(void** data)>;

template <class Struct> Struct sized() {
  Struct s{};
  s.size = sizeof s;
  return s;
}

weft_runtime* make(unsigned workers, const char* machine) {
  weft_options o = sized<weft_options>();
  o.workers = workers;
  o.machine = machine;
  return weft_runtime_create(&o);
}

// Bodies live until the end of the test case.
struct bodies {
  int submit(weft_runtime* rt, const std::vector<weft_access>& accesses, function f, weft_task t = sized<weft_task>()) {
    {
      const std::lock_guard hold(guard);  // tasks submit, too
      t.argument = &all.emplace_back(std::move(f));
    }
    t.body = [](void* body, void** data) { (*static_cast<function*>(body))(data); };
    t.accesses = accesses.data();
    t.access_count = accesses.size();
    return weft_submit(rt, &t);
  }
  std::mutex guard;
  std::deque<function> all;
};

std::string last() { return weft_last_error(); }
void nothing(void*, void**) {}
void add_longs(void*, void* into, void* from) { *static_cast<long*>(into) += *static_cast<long*>(from); }

weft_reduction sum_of_longs() {
  weft_reduction r = sized<weft_reduction>();
  r.buffer_bytes = sizeof(long);
  r.merge = add_longs;
  return r;
}

// Status and message of a call.
struct outcome {
  int status;
  std::string text;
  bool operator==(const outcome&) const = default;
};
std::ostream& operator<<(std::ostream& out, const outcome& o) { return out << o.status << ", " << o.text; }
outcome misuse(const std::string& text) { return {WEFT_MISUSE, "weft: " + text}; }
outcome of(int status) { return {status, status == WEFT_OK ? "" : last()}; }
// A NULL counts as misuse: the caller sees nothing else.
outcome of(const void* made) { return {made != nullptr ? WEFT_OK : WEFT_MISUSE, made != nullptr ? "" : last()}; }

const char* const both_machines[] = {"virtual", "host"};

}  // namespace

TEST_CASE("c errors: NULL where something is needed") {
  weft_runtime* rt = make(1, "virtual");
  const std::string no_runtime = ": the runtime is NULL", no_argument = ": its argument is NULL";
  weft_task t = sized<weft_task>();
  t.body = nothing;
  weft_counts counts = sized<weft_counts>();
  CHECK(of(weft_submit(nullptr, &t)) == misuse("weft_submit" + no_runtime));
  CHECK(of(weft_submit(rt, nullptr)) == misuse("weft_task is NULL"));
  CHECK(of(weft_wait(nullptr)) == misuse("weft_wait" + no_runtime));
  CHECK(of(weft_wait_handle(nullptr, nullptr)) == misuse("weft_wait_handle" + no_runtime));
  CHECK(of(weft_wait_handle(rt, nullptr)) == misuse("weft_wait_handle" + no_argument));
  CHECK(of(weft_pause(nullptr)) == misuse("weft_pause" + no_runtime));
  CHECK(of(weft_start(nullptr)) == misuse("weft_start" + no_runtime));
  CHECK(of(weft_statistics(nullptr, &counts)) == misuse("weft_statistics" + no_runtime));
  CHECK(of(weft_statistics(rt, nullptr)) == misuse("weft_statistics" + no_argument));
  CHECK(of(weft_handle_set_name(nullptr, "x")) == misuse("weft_handle_set_name" + no_argument));
  CHECK(of(weft_handle_name(nullptr)) == misuse("weft_handle_name" + no_argument));
  CHECK(of(weft_handle_data(nullptr)) == misuse("weft_handle_data" + no_argument));
  CHECK(of(weft_intern(nullptr)) == misuse("weft_intern" + no_argument));
  CHECK(of(weft_machines(nullptr)) == misuse("weft_machines: count is NULL"));
  CHECK(of(weft_policies(nullptr)) == misuse("weft_policies: count is NULL"));
  CHECK(weft_runtime_workers(nullptr) == 0);
  CHECK(of(weft_runtime_machine(nullptr)) == misuse("weft_runtime_machine" + no_runtime));
  CHECK(of(weft_runtime_policy(nullptr)) == misuse("weft_runtime_policy" + no_runtime));
  CHECK(weft_runtime_seed(nullptr) == 0);
  CHECK(weft_now_ns(nullptr) == -1);
  CHECK(weft_handle_version(nullptr) == 0);
  CHECK(weft_handle_idle(nullptr) == 0);
  CHECK(weft_handle_destroy(nullptr) == WEFT_OK);
  CHECK(weft_runtime_destroy(nullptr) == WEFT_OK);
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);
}

TEST_CASE("c errors: options") {
  CHECK(of(make(2000, "virtual")) == misuse("option workers = '2000' cannot be; it must be a number from 1 to 1024"));
  CHECK(of(make(2, "cray")) == misuse("there is no machine 'cray'; `weft info` lists them"));
  weft_options o{};
  CHECK(of(weft_runtime_create(&o)) ==
        misuse("weft_options.size is 0; zero the struct and set it to sizeof(weft_options)"));
  o.size = ~std::size_t{0};
  CHECK(weft_runtime_create(&o) == nullptr);

  struct {
    weft_options known = sized<weft_options>();
    const char* new_field = nullptr;
  } newer;
  newer.known.size = sizeof newer;
  newer.known.machine = "virtual";
  weft_runtime* rt = weft_runtime_create(&newer.known);  // does not use it: fine
  CHECK(rt != nullptr);
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);
  newer.new_field = "nonsense";
  CHECK(of(weft_runtime_create(&newer.known)) ==
        misuse("weft_options uses a field that libweft " + std::string(weft_version()) + " does not have"));
}

TEST_CASE("c errors: structs of other sizes") {
  weft_runtime* rt = make(1, "virtual");
  struct {
    weft_counts known;
    std::uint64_t more;
  } newer{sized<weft_counts>(), 77};
  newer.known.size = sizeof newer;
  CHECK(weft_statistics(rt, &newer.known) == WEFT_OK);
  CHECK(newer.more == 0);
  weft_counts older = sized<weft_counts>();
  older.size = 2 * sizeof(std::uint64_t);
  older.steals = 77;
  CHECK(weft_statistics(rt, &older) == WEFT_OK);
  CHECK(older.steals == 77);
  older.size = 0;
  CHECK(weft_statistics(rt, &older) == WEFT_MISUSE);
  weft_task t{};
  t.body = nothing;
  CHECK(of(weft_submit(rt, &t)) == misuse("weft_task.size is 0; zero the struct and set it to sizeof(weft_task)"));
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);
}

TEST_CASE("c errors: handles") {
  long x = 0;
  weft_reduction r = sum_of_longs();
  CHECK(of(weft_reduction_create(&x, nullptr)) == misuse("weft_reduction is NULL"));
  CHECK(of(weft_reduction_create(nullptr, &r)) ==
        misuse("weft_reduction_create: data is NULL; a reduction adds to a datum"));
  r.merge = nullptr;
  CHECK(of(weft_reduction_create(&x, &r)) == misuse("weft_reduction_create: merge is NULL"));
  r = sum_of_longs();
  r.buffer_bytes = 0;
  CHECK(of(weft_reduction_create(&x, &r)) == misuse("weft_reduction_create: buffer_bytes is 0"));
  CHECK(of(weft_resource_create(0)) == misuse("weft_resource_create: units is 0; no task could ever use it"));
  weft_handle* h = weft_handle_create(&x);
  CHECK(weft_handle_name(h) == nullptr);
  CHECK(weft_handle_set_name(h, std::string("temporary").c_str()) == WEFT_OK);
  CHECK(std::string(weft_handle_name(h)) == "temporary");
  CHECK(weft_handle_set_name(h, nullptr) == WEFT_OK);
  CHECK(weft_handle_name(h) == nullptr);
  CHECK(weft_handle_destroy(h) == WEFT_OK);
}

TEST_CASE("c errors: tasks that cannot be meant are not submitted") {
  weft_runtime* rt = make(2, "virtual");
  long x = 0;
  const weft_reduction sum = sum_of_longs();
  weft_handle *a = weft_handle_create(&x), *red = weft_reduction_create(&x, &sum), *disks = weft_resource_create(2);
  CHECK(weft_handle_set_name(a, "a") == WEFT_OK);
  bodies b;
  const auto refused = [&](const std::vector<weft_access>& accesses, weft_task t = sized<weft_task>()) {
    return of(b.submit(
        rt, accesses, [](void**) { CHECK(false); }, t));
  };
  const std::string kinds =
      "is of a kind that does not exist; take one of weft_kind or WEFT_ACCESS_TYPE(1 to 24, flags)";
  const std::string mixed =
      "mixes up handles and resources: WEFT_USE goes with weft_resource_create, and nothing else does";
  CHECK(refused({weft_read(nullptr)}) == misuse("access 0 (from 0) of a task has no handle"));
  for (const std::uint32_t kind : {0u, 1u, 5u, 7u, 8u, 33u, WEFT_ACCESS_TYPE(25, 4u), WEFT_ACCESS_TYPE(1, 1u),
                                   WEFT_ACCESS_TYPE(1, 8u), 0x80000003u})
    CHECK(refused({weft_read(a), weft_with_access(a, kind, 0)}) == misuse("access 1 (from 0) of a task " + kinds));
  weft_task named = sized<weft_task>();
  named.name = "t";
  CHECK(refused({weft_reduce(a)}, named) ==
        misuse("access 0 (from 0) of task 't' reduces on a handle that weft_reduction_create did not make"));
  CHECK(refused({weft_use(a, 1)}) == misuse("access 0 (from 0) of a task " + mixed));
  CHECK(refused({weft_read(disks)}) == misuse("access 0 (from 0) of a task " + mixed));
  CHECK(refused({weft_with_access(a, WEFT_READ, 1)}) ==
        misuse("access 0 (from 0) of a task has units, which go with WEFT_USE only"));
  CHECK(refused({weft_use(disks, 3)}) ==
        misuse("access 0 (from 0) of a task asks for 3 units of a resource that has 2; it would wait for ever"));
  CHECK(refused({weft_read(a), weft_write(a)}) ==
        misuse("a task names handle 'a' with two kinds of access; name it once, with the stronger kind (a write may "
               "also read)"));
  CHECK(refused({weft_use(disks, 1), weft_use(disks, 1)}).status == WEFT_MISUSE);
  weft_task odd = sized<weft_task>();
  odd.flags = WEFT_PINNED;
  odd.worker = 70'000;
  CHECK(refused({}, odd) == misuse("a task is pinned to worker 65534, but there are only workers 0 to 1"));
  odd.worker = 2;
  CHECK(refused({weft_write(a)}, odd) == misuse("a task is pinned to worker 2, but there are only workers 0 to 1"));
  odd.flags = 4;
  CHECK(refused({}, odd).status == WEFT_MISUSE);
  odd.flags = 0;
  odd.reserved = 1;
  CHECK(refused({}, odd).status == WEFT_MISUSE);
  CHECK(refused(std::vector<weft_access>(50'000, weft_read(a))).status == WEFT_MISUSE);
  weft_task bare = sized<weft_task>();
  CHECK(of(weft_submit(rt, &bare)) == misuse("weft_submit: the task has no body"));
  bare.body = nothing;
  bare.access_count = 1;
  CHECK(of(weft_submit(rt, &bare)) == misuse("weft_submit: access_count is not 0, but accesses is NULL"));
  bare.access_count = 0;
  for (const int level : {2, -1}) {
    bare.priority = level;
    CHECK(of(weft_submit(rt, &bare)) == misuse("weft_submit: there are two priorities, 0 and 1, which goes first"));
  }
  bare.priority = 0;
  bare.argument_bytes = 1;
  CHECK(of(weft_submit(rt, &bare)) == misuse("weft_submit: argument_bytes is not 0, but argument is NULL"));
  bare.argument = &x;
  bare.argument_bytes = ~std::size_t{0};
  CHECK(weft_submit(rt, &bare) == WEFT_MISUSE);
  CHECK(weft_wait(rt) == WEFT_OK);
  CHECK(weft_handle_version(a) == 0);
  CHECK(weft_handle_idle(a) == 1);
  for (weft_handle* h : {a, red, disks}) CHECK(weft_handle_destroy(h) == WEFT_OK);
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);
}

TEST_CASE("c errors: a handle is idle when its tasks are done") {
  weft_runtime* rt = make(1, "virtual");
  weft_handle* h = weft_handle_create(nullptr);
  weft_task t = sized<weft_task>();
  t.body = nothing;
  const weft_access reads = weft_read(h);
  t.accesses = &reads;
  t.access_count = 1;
  CHECK(weft_submit(rt, &t) == WEFT_OK);
  CHECK(weft_handle_idle(h) == 0);
  CHECK(weft_wait(rt) == WEFT_OK);
  CHECK(weft_handle_idle(h) == 1);
  CHECK(weft_handle_destroy(h) == WEFT_OK);
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);
}

TEST_CASE("c errors: a body fails") {
  for (const char* machine : both_machines) {
    weft_runtime* rt = make(2, machine);
    long x = 1, y = 1;
    weft_handle *a = weft_handle_create(&x), *c = weft_handle_create(&y);
    bodies b;
    bool after = false, skipped = true, other = false;
    REQUIRE(b.submit(rt, {weft_write(a)}, [&](void**) {
      CHECK(weft_fail("no such file") == WEFT_OK);
      CHECK(weft_fail("and more") == WEFT_OK);
      after = true;
    }) == WEFT_OK);
    REQUIRE(b.submit(rt, {weft_read(a), weft_write(c)}, [&](void**) { skipped = false; }) == WEFT_OK);
    REQUIRE(b.submit(rt, {}, [&](void**) { other = true; }) == WEFT_OK);
    CHECK(of(weft_wait_handle(rt, c)) == outcome{WEFT_TASK_FAILED, "no such file"});
    CHECK(of(weft_wait(rt)) == outcome{WEFT_TASK_FAILED, "no such file"});
    CHECK(after);
    CHECK(skipped);
    CHECK(other);
    CHECK(weft_wait(rt) == WEFT_OK);
    REQUIRE(b.submit(rt, {weft_read(a)}, [](void**) { weft_fail(nullptr); }) == WEFT_OK);  // healed, so it runs
    CHECK(of(weft_wait(rt)) == outcome{WEFT_TASK_FAILED, "weft: a task called weft_fail(NULL)"});
    int inner = -1;
    std::string text;
    REQUIRE(b.submit(rt, {}, [&](void**) {
      b.submit(rt, {}, [](void**) { weft_fail("a child"); });
      inner = weft_wait(rt);
      text = last();
    }) == WEFT_OK);
    CHECK(weft_wait(rt) == WEFT_OK);
    CHECK(inner == WEFT_TASK_FAILED);
    CHECK(text == "a child");
    for (weft_handle* h : {a, c}) CHECK(weft_handle_destroy(h) == WEFT_OK);
    CHECK(weft_runtime_destroy(rt) == WEFT_OK);
  }
  CHECK(of(weft_fail("?")) == misuse("weft_fail: called outside of a body submitted by weft_submit"));
  CHECK(of(weft_workspace(8)) == misuse("workspace() is called outside of a task body"));
  weft_charge(1);  // does nothing
}

TEST_CASE("c errors: a body throws") {
  for (const char* machine : both_machines) {
    weft_runtime* rt = make(2, machine);
    bodies b;
    const auto thrown = [&](function f) {
      REQUIRE(b.submit(rt, {}, std::move(f)) == WEFT_OK);
      return of(weft_wait(rt));
    };
    CHECK(thrown([](void**) { throw std::runtime_error("thrown"); }) == outcome{WEFT_TASK_FAILED, "thrown"});
    CHECK(thrown([](void**) { throw 7; }) ==
          outcome{WEFT_TASK_FAILED, "weft: a task threw something that is no std::exception"});
    CHECK(thrown([](void**) { throw std::bad_alloc(); }) == outcome{WEFT_NO_MEMORY, "weft: no memory"});
    CHECK(thrown([](void**) { throw std::runtime_error(std::string(5000, 'x')); }) ==
          outcome{WEFT_TASK_FAILED, std::string(2047, 'x')});
    REQUIRE(b.submit(rt, {}, [](void**) { weft_fail("unnoticed"); }) == WEFT_OK);
    int status = WEFT_OK;
    CHECK(stderr_of([&] { status = weft_runtime_destroy(rt); }).empty());
    CHECK(of(status) == outcome{WEFT_TASK_FAILED, "unnoticed"});
  }
}

TEST_CASE("c errors: the functions of a reduction throw") {
  for (const char* machine : both_machines) {
    weft_runtime* rt = make(3, machine);
    long total = 0;
    weft_reduction r = sum_of_longs();
    r.create = [](void*, void*, const void*) { throw std::runtime_error("create"); };
    r.apply = add_longs;
    bodies b;
    const auto add_twenty = [&](weft_handle* h) {
      for (int i = 0; i < 20; ++i)
        REQUIRE(b.submit(rt, {weft_reduce(h)}, [](void** part) {
          *static_cast<long*>(part[0]) += 1;
          weft_charge(20'000);
        }) == WEFT_OK);
      return of(weft_wait(rt));
    };
    weft_handle* h = weft_reduction_create(&total, &r);
    CHECK(add_twenty(h) == outcome{WEFT_TASK_FAILED, "create"});
    CHECK(total == 0);
    CHECK(weft_handle_destroy(h) == WEFT_OK);
    r.create = nullptr;
    r.apply = [](void*, void*, void*) { throw std::runtime_error("apply"); };
    h = weft_reduction_create(&total, &r);
    CHECK(add_twenty(h) == outcome{WEFT_TASK_FAILED, "apply"});
    CHECK(weft_handle_destroy(h) == WEFT_OK);
    if (machine == both_machines[0]) {  // in virtual time parts are sure to meet
      r.apply = add_longs;
      r.merge = [](void*, void*, void*) { throw std::runtime_error("merge"); };
      h = weft_reduction_create(&total, &r);
      CHECK(add_twenty(h) == outcome{WEFT_TASK_FAILED, "merge"});
      CHECK(weft_handle_destroy(h) == WEFT_OK);
    }
    CHECK(weft_runtime_destroy(rt) == WEFT_OK);
  }
}

TEST_CASE("c errors: calls from the wrong place") {
  for (const char* machine : both_machines) {
    const bool modelled = machine == both_machines[0];
    weft_runtime* rt = make(2, machine);
    weft_runtime* second = make(1, "virtual");
    long x = 0;
    weft_handle* h = weft_handle_create(&x);
    bodies b;
    outcome self_destroy{}, runtime_destroy{}, self_wait{};
    REQUIRE(b.submit(rt, {weft_write(h)}, [&](void**) {
      self_destroy = of(weft_handle_destroy(h));
      self_wait = of(weft_wait_handle(rt, h));
      runtime_destroy = of(weft_runtime_destroy(rt));
    }) == WEFT_OK);
    CHECK(weft_wait(rt) == WEFT_OK);
    CHECK(self_destroy == misuse("weft_handle_destroy: called by a task that uses the handle"));
    CHECK(self_wait.status == WEFT_MISUSE);
    CHECK(runtime_destroy.status == WEFT_MISUSE);
    outcome submitted{}, destroyed{};
    std::thread([&] {
      CHECK(last().empty());
      submitted = of(b.submit(rt, {weft_write(h)}, [&](void**) { x = 9; }));
      destroyed = of(weft_runtime_destroy(rt));
    }).join();
    CHECK(submitted == (modelled ? misuse("weft_submit: a runtime on a modelled machine is used only by the thread "
                                          "that made it")
                                 : outcome{WEFT_OK, ""}));
    CHECK(destroyed == misuse("weft_runtime_destroy: called by another thread than the one that made the runtime"));
    REQUIRE(b.submit(second, {}, [](void**) {}) == WEFT_OK);
    CHECK(weft_wait(rt) == WEFT_OK);
    CHECK(x == (modelled ? 0 : 9));
    CHECK(weft_pause(rt) == WEFT_OK);
    REQUIRE(b.submit(rt, {weft_write(h)}, [&](void**) { x = 10; }) == WEFT_OK);
    CHECK(of(weft_wait_handle(second, h)) ==
          misuse("weft_wait_handle: the handle is in use by another runtime; wait for it there"));
    CHECK(weft_handle_destroy(h) == WEFT_OK);  // waits
    CHECK(x == 10);
    CHECK(weft_runtime_destroy(second) == WEFT_OK);
    CHECK(weft_runtime_destroy(rt) == WEFT_OK);
  }
}

TEST_CASE("c errors: a program that can make no progress is told so") {
  weft_runtime* rt = make(2, "virtual");
  weft_handle* h = weft_handle_create(nullptr);
  CHECK(weft_handle_set_name(h, "h") == WEFT_OK);
  bodies b;
  weft_task named = sized<weft_task>();
  named.name = "parent";
  REQUIRE(b.submit(
              rt, {weft_write(h)},
              [&](void**) {
                b.submit(rt, {weft_write(h)}, [](void**) {});
                weft_wait(rt);
              },
              named) == WEFT_OK);
  const outcome o = of(weft_wait(rt));
  CHECK(o.status == WEFT_MISUSE);
  CHECK(o.text.find("task 'parent' waits inside its body") != std::string::npos);
  CHECK(o.text.find("waits for version 1 of handle 'h'") != std::string::npos);
  CHECK(weft_runtime_destroy(rt) == WEFT_MISUSE);
  CHECK(weft_handle_destroy(h) == WEFT_OK);
}
