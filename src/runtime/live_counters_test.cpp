// A runtime that others may look at: what a reader finds is what the runtime counts, it is answered while all workers
// are busy, and nothing is left when the runtime has ended. The reader is the test itself, through the page's own
// file.
#include "runtime/live_counters.hpp"

#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "sanitized.hpp"
#include "weft/weft.hpp"

namespace weft {
namespace {

// The pages of this process, as whoever looks finds them.
[[nodiscard]] std::vector<std::string> pages() {
  std::vector<std::string> found;
  DIR* const folder = opendir("/proc/self/fd");
  REQUIRE(folder != nullptr);
  while (const dirent* const entry = readdir(folder)) {
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    char target[256] = {};
    if (readlink(path.c_str(), target, sizeof target - 1) > 0 && std::string(target).starts_with("/memfd:weft-top"))
      found.push_back(path);
  }
  closedir(folder);
  return found;
}

struct reader {
  explicit reader(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(file >= 0);
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    REQUIRE(at != MAP_FAILED);
    head = static_cast<trace::live_head*>(at);
    rows = reinterpret_cast<trace::live_row*>(head + 1);
  }
  ~reader() { munmap(head, bytes); }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  void ask() const {
    const std::uint32_t question = base::shared(head->asked).fetch_add(1, base::release) + 1;
    syscall(SYS_futex, &head->asked.raw, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    while (base::shared(head->answered).load(base::acquire) != question) std::this_thread::yield();
  }
  [[nodiscard]] std::uint64_t tasks() const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < head->rows; ++i) all += rows[i].tasks;
    return all;
  }

  static constexpr std::size_t bytes = 4096;
  trace::live_head* head;
  trace::live_row* rows;
};

}  // namespace

TEST_CASE("live counters: an answer is what the runtime counts") {
  runtime rt({.workers = 2, .machine = "host", .top = true});
  const auto found = pages();
  REQUIRE(found.size() == 1);
  const reader r(found[0]);
  CHECK(base::shared(r.head->magic).load(base::acquire) == trace::live_magic);
  CHECK(r.head->version == trace::live_version);
  CHECK(r.head->process == getpid());
  CHECK(r.head->rows == 3);
  CHECK(std::string(r.head->policy) == rt.policy());
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 1000; ++i) rt.submit([] {});
    rt.wait();
    r.ask();
    CHECK(r.tasks() == static_cast<std::uint64_t>(1000 * round));
    CHECK(r.tasks() == rt.statistics().tasks);
    CHECK(r.head->live == 0);
    CHECK(r.rows[0].does == trace::live_does::outside);
  }
}

TEST_CASE("live counters: somebody asks all the time while tasks fork, wait and are stolen") {
  runtime rt({.workers = 4, .machine = "host", .top = true});
  const reader r(pages().at(0));
  std::atomic<bool> over{false};
  std::uint64_t answers = 0, before = 0;
  bool grows = true;
  std::thread asks([&] {
    do {
      r.ask();
      grows = grows && r.tasks() >= before;
      before = r.tasks();
      ++answers;
    } while (!over);
  });
  handle<int> h(0);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 20; ++i) {
      rt.submit(named("parent"), [&rt] {
        for (int j = 0; j < 5; ++j) rt.submit(named("child"), [] {});
        rt.wait();
      });
      rt.submit(add(h), named("adds"), [](int& x) { ++x; });
    }
    rt.wait();
  }
  over = true;
  asks.join();
  CHECK(rt.get(h) == 1000);
  CHECK(grows);
  CHECK(answers != 0);
  r.ask();
  CHECK(r.tasks() == 50 * 20 * 7);
}

TEST_CASE("live counters: each runtime has its own, and leaves nothing") {
  CHECK(pages().empty());
  {
    runtime one({.workers = 1, .machine = "host", .top = true});
    const reader first(pages().at(0));
    {
      runtime two({.workers = 2, .machine = "host", .top = true});
      CHECK(pages().size() == 2);
      runtime silent({.workers = 2, .machine = "host"});
      CHECK(pages().size() == 2);
    }
    CHECK(pages().size() == 1);
    CHECK(base::shared(first.head->over).load(base::relaxed) == 0);
    one.submit([] {});
    one.wait();
    first.ask();
    CHECK(first.tasks() == 1);
  }
  CHECK(pages().empty());
}

// Beside threads ThreadSanitizer does not outlive it.
TEST_CASE("live counters: a child by fork that ends leaves the page to who made it" * doctest::skip(thread_sanitizer)) {
  runtime rt({.workers = 2, .machine = "host", .top = true});
  rt.submit([] {});
  rt.wait();
  const reader r(pages().at(0));
  const pid_t child = fork();
  if (child == 0) {
    rt.~runtime();
    _exit(pages().empty() ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(base::shared(r.head->over).load(base::relaxed) == 0);
  r.ask();
  CHECK(r.tasks() == 1);
}

TEST_CASE("live counters: who asks when the runtime ends is told") {
  std::unique_ptr<reader> r;
  {
    runtime rt({.workers = 2, .machine = "host", .top = true});
    r = std::make_unique<reader>(pages().at(0));
  }
  CHECK(base::shared(r->head->over).load(base::relaxed) == 1);
}

}  // namespace weft
