// Ten thousand empty tasks through a small window, created inline or by another worker: whoever is blocked must go on
// because there is room, or because all who could run tasks stand, and not by patience. When one of those rules fails
// nothing is wrong but the time: each batch takes a step of 5 to 20 ms, seconds in place of milliseconds. So what is
// judged is what such a step means, counted by a window that is the real one but for that: the limit grew because
// nothing moved, or a submitter's time ran out beside room for all, and nobody had woken it. On a busy computer a few
// may be, so the best of three runs counts. The same count must find two windows that are broken on purpose, in
// programs that are long enough for ten steps and more: with the three of a short one a busy computer may do without.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "machine/host/host.hpp"
#include "place/topology.hpp"
#include "sched/engine/engine.hpp"
#include "weft/weft.hpp"

namespace weft {
namespace {

enum class flaw { none, counts_one_thread_more, wakes_nobody };

// The engine's parts are found by the type of the machine.
struct counted : machine::host {
  // With ten times the patience a computer that is busy with other things does not look like one where nothing moves.
  // Where the steps must come they may come sooner.
  static bool block_for(machine::cell<std::uint32_t>& word, std::uint64_t ns) noexcept {
    return host::block_for(word, planted == flaw::none ? 10 * ns : ns);
  }
  static inline flaw planted = flaw::none;
  static inline std::atomic<unsigned> steps{0};
};

}  // namespace

namespace sched {

// What a window has to ask for, and whom it has woken that has not looked since: a wake may take long to arrive.
struct overheard : window_needs {
  explicit overheard(window_needs& real) noexcept : asks(real) {}
  void wake(submitter& s) noexcept override {
    {
      const std::lock_guard guard(lock);
      woken.push_back(&s);
    }
    asks.wake(s);
  }
  [[nodiscard]] std::uint64_t tasks_begun() noexcept override { return asks.tasks_begun(); }
  [[nodiscard]] bool has_room(std::uint8_t size_class, std::size_t live_max) noexcept override {
    return asks.has_room(size_class, live_max);
  }
  [[nodiscard]] bool is_forgotten(const submitter& s, std::size_t limit) noexcept {
    const std::lock_guard guard(lock);
    return asks.has_room(s.size_class, limit / 4 + base::pool_batch_records) &&
           std::find(woken.begin(), woken.end(), &s) == woken.end();
  }
  window_needs& asks;
  std::mutex lock;
  std::vector<const submitter*> woken;

 protected:
  ~overheard() = default;
};

template <> class window<counted> final : private overheard, public window<machine::host> {
  using real = window<machine::host>;

 public:
  window(window_needs& needs, std::size_t most, const rules& r) noexcept : overheard(needs), real(*this, most, r) {}
  void open(unsigned threads, bool grows) noexcept {
    real::open(counted::planted == flaw::counts_one_thread_more ? threads + 1 : threads, grows);
  }
  void room_made(std::uint8_t size_class) noexcept {
    if (counted::planted != flaw::wakes_nobody) real::room_made(size_class);
  }
  bool worker_idle(bool wants_more) noexcept {
    return counted::planted != flaw::wakes_nobody && real::worker_idle(wants_more);
  }
  [[nodiscard]] bool look_again(submitter& s) noexcept {
    const bool beyond = real::look_again(s);
    const std::lock_guard guard(lock);
    std::erase(woken, &s);
    return beyond;
  }
  [[nodiscard]] bool judges(const submitter&) const noexcept { return true; }  // all are counted
  void judge(submitter& s, const progress& now) noexcept {
    const std::size_t before = limit();
    const bool forgotten = is_forgotten(s, before);
    real::judge(s, now);
    if (forgotten || limit() > before) ++counted::steps;
  }
};

}  // namespace sched

namespace {

struct program {
  unsigned workers;
  std::size_t window;
  bool decoupled;
  unsigned bodies;  // submitted by the main thread
  unsigned each;    // submitted by each of them
};

// Steps of patience that it took.
unsigned steps_of(const program& p) {
  using engine = sched::engine<counted>;
  constexpr std::size_t stack = std::size_t{128} << 10;
  std::atomic<unsigned> done{0};
  counted::steps = 0;
  {
    engine e(sched::engine_setup{.workers_wanted = p.workers,
                                 .seed = 1,
                                 .window_tasks = p.window,
                                 .stack_bytes = stack,
                                 .search_ns = base::search_ns,
                                 .decoupled = p.decoupled});
    const unsigned n = e.the_machine().start(p.workers, &engine::worker_entry, &e, {});
    e.open(place::tree(place::usable_cores(), n), sched::find_policy("random"));
    e.the_machine().run();
    for (unsigned b = 0; b < p.bodies; ++b)
      detail::submit(e, [&e, &p, &done] {
        for (unsigned i = 0; i < p.each; ++i) detail::submit(e, [&done] { ++done; });
        ++done;
      });
    e.wait_all();
  }
  CHECK(done == p.bodies * (1 + p.each));
  return counted::steps;
}

constexpr unsigned steps_max = 1;

// Whether it takes more than a few, time and again.
bool creeps(const program& p, flaw planted = flaw::none) {
  counted::planted = planted;
  bool does = true;
  for (int run = 0; run < 3 && does; ++run) does = steps_of(p) > steps_max;
  counted::planted = flaw::none;
  return does;
}

// Whether that is seen of the flaw. Not each time: where the computer is busy the threads may come in an order in which
// nobody is to be woken.
bool caught(const program& p, flaw planted) {
  for (int tries = 0; tries < 20; ++tries)
    if (creeps(p, planted)) return true;
  return false;
}

}  // namespace

TEST_CASE("small window: nobody goes on by patience where there is room, or all stand") {
  for (const unsigned workers : {2u, 3u, 4u})
    for (const std::size_t window : {64u, 1024u})
      for (const bool decoupled : {false, true}) {
        CAPTURE(workers);
        CAPTURE(window);
        CAPTURE(decoupled);
        CHECK(!creeps({workers, window, decoupled, 10'100, 0}));
        CHECK(!creeps({workers, window, decoupled, 100, 100}));
        CHECK(!creeps({workers, window, decoupled, 10, 1009}));
      }
}

TEST_CASE("small window: a window that counts a thread too many is caught") {
  CHECK(caught({2, 64, true, 32, 100}, flaw::counts_one_thread_more));
}

TEST_CASE("small window: a window that wakes nobody is caught") {
  for (const unsigned workers : {2u, 3u, 4u}) {
    CAPTURE(workers);
    CHECK(caught({workers, 64, true, 4000, 0}, flaw::wakes_nobody));
  }
}

}  // namespace weft
