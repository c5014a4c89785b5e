// A runtime of static storage that another thread made on first use, or a task of another runtime, was ended by a
// third thread at the end of the program: "internal error". Right: it ends in order, with all of its tasks done, and
// the thread that made it, if it is still there, goes on as one that knows no runtime.
// Run: thread
// Run: task
// Run: tasks
// Run: task_of_one
// Run: used_later
// Run: by_pointer
// Run: maker_goes_on
// Machines: host
// Times: 3
#include <string>
#include <weft/weft.hpp>

#include <atomic>
#include <memory>
#include <thread>

#include "found.hpp"

namespace {

std::atomic<int> ran{0}, expected{0};

// Made before the runtime, so destroyed behind it.
struct last_look {
  ~last_look() { require(ran == expected, std::to_string(ran) + " tasks ran, not " + std::to_string(expected)); }
} const at_the_end;

weft::runtime& lazy() {
  static weft::runtime rt({.workers = 2});
  return rt;
}
void submit(weft::runtime& rt) {
  ++expected;
  rt.submit([] { ++ran; });
}
void use(weft::runtime& rt) {
  for (int i = 0; i < 10; ++i) submit(rt);
  weft::handle<int> h(0);
  rt.submit(weft::write(h), [](int& x) { x = 1; });
  require(rt.get(h) == 1, "a task of the runtime that was made on first use");
}

void by_tasks(unsigned workers, int tasks) {
  weft::runtime rt({.workers = workers, .creation = "inline"});
  for (int i = 0; i < tasks; ++i) rt.submit([] { use(lazy()); });
  rt.wait();
}

void by_pointer() {
  std::unique_ptr<weft::runtime> rt;
  std::thread([&] {
    rt = std::make_unique<weft::runtime>(weft::options{.workers = 2});
    for (int i = 0; i < 10; ++i) submit(*rt);
  }).join();
  rt->wait();
  use(*rt);
  rt.reset();
  require(ran == expected, "tasks that were submitted by a thread that has ended");
}

// The maker is still there when another thread has ended its runtime.
void maker_goes_on() {
  std::unique_ptr<weft::runtime> rt;
  std::atomic<int> step{0};
  std::thread maker([&] {
    rt = std::make_unique<weft::runtime>(weft::options{.workers = 2});
    use(*rt);
    step = 1;
    while (step != 2) std::this_thread::yield();
    int sum = 0;
    weft::fork_join([&] { sum += 1; }, [&] { sum += 2; });
    weft::finish([&] { weft::async([&] { sum += 4; }); });
    weft::event e;
    e.fulfil();
    e.wait();
    require(sum == 7 && weft::worker_id() == -1, "the thread whose runtime has ended");
    weft::runtime next({.workers = 2});
    use(next);
    next.wait();
  });
  while (step != 1) std::this_thread::yield();
  rt.reset();
  step = 2;
  maker.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = word(argc, argv, 1, "thread");
  if (how == "thread" || how == "used_later") std::thread([] { use(lazy()); }).join();
  if (how == "used_later") {
    use(lazy());
    lazy().wait();
  }
  if (how == "task") by_tasks(2, 1);
  if (how == "task_of_one") by_tasks(1, 1);
  if (how == "tasks") {
    by_tasks(2, 20);
    use(lazy());
    lazy().wait();
  }
  if (how == "by_pointer") by_pointer();
  if (how == "maker_goes_on") maker_goes_on();
}
