// What a program has used it gives back: after each front, with all that its runtime had, as many blocks of memory are
// left as there were before. Blocks that are reachable are no leak to a sanitizer, and are one all the same. The same
// where there is no memory in the middle of something: whoever is refused some leaves what it had.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "fronts.hpp"
#include "replay.hpp"
#include "sanitized.hpp"

namespace {

// Of operator new, in this whole program. The call that brings `calls_left` to 0 is refused, and none after it.
std::atomic<long> blocks{0}, calls_left{-1};

}  // namespace

#if defined(__has_feature)
#define WEFT_HAS_FEATURE(x) __has_feature(x)
#else
#define WEFT_HAS_FEATURE(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !WEFT_HAS_FEATURE(address_sanitizer) &&         \
    !WEFT_HAS_FEATURE(thread_sanitizer)  // theirs tell more
static bool is_refused() noexcept {
  return calls_left.load(std::memory_order_relaxed) > 0 && calls_left.fetch_sub(1, std::memory_order_relaxed) == 1;
}
void* operator new(std::size_t bytes) {
  void* const p = is_refused() ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
  if (p == nullptr) throw std::bad_alloc();
  blocks.fetch_add(1, std::memory_order_relaxed);
  return p;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  void* const p = is_refused() ? nullptr : std::aligned_alloc(a, (bytes + a - 1) / a * a);
  if (p == nullptr) throw std::bad_alloc();
  blocks.fetch_add(1, std::memory_order_relaxed);
  return p;
}
void operator delete(void* p) noexcept {
  if (p != nullptr) blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept { operator delete(p); }
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { operator delete(p); }
#endif

TEST_CASE("leaves nothing: each front, on a modelled machine" * doctest::skip(sanitized)) {
  for (const auto& p : fronts::programs)
    for (const char* creation : {"inline", "decoupled"}) {
      INFO(p.name << ", " << std::string(creation));
      const deadline limit(p.name);
      long left[3];
      for (long& after : left) {
        {
          weft::runtime rt({.workers = 3, .machine = "virtual", .model = {.mode = "coarse"}, .creation = creation});
          p.run(rt);
        }
        after = blocks;
      }
      CHECK(left[2] == left[1]);
    }
}

// Of a team of many, so that its seats are more records than a worker keeps. The member that is refused throws it, and
// the next team has its guest.
TEST_CASE("leaves nothing: a guest for whom there is no memory" * doctest::skip(sanitized)) {
  constexpr unsigned workers = 200;
  const deadline limit("leaves nothing: a guest*");
  long left = -1;
  unsigned refused = 0;
  for (long calls = 1;; ++calls) {
    unsigned hosted = 0, failed = 0;
    {
      weft::runtime rt({.workers = workers, .machine = "virtual", .model = {.mode = "coarse"}});
      unsigned come = 0;
      const auto team = [&](long let) {
        rt.submit(weft::team(workers), weft::pin(1), [&, let](weft::team_context& t) {
          t.barrier();
          if (t.rank() == 0) weft::charge(1e6);  // so it is always the same worker that sees to the seats
          if (++come % workers == 0) calls_left = let;
          weft::guest(t, [&](weft::guest_context&) { ++hosted; });
          calls_left = -1;
        });
        try {
          rt.wait();
        } catch (const std::bad_alloc&) {
          ++failed;
        }
      };
      team(calls);
      calls_left = -1;
      team(-1);
    }
    CHECK(hosted + failed == 2);
    if (calls > 2) CHECK(blocks == left);
    left = blocks;
    refused += failed;
    if (failed == 0) break;
  }
  CHECK(refused >= 3);
}

// On real threads, whose main thread is away between its waits: gangs that wait for it are told, and one that was not
// to be is none of them, but may serve a team that it is not in.
TEST_CASE("leaves nothing: a guest for whom there is no memory is none that the main thread keeps waiting" *
          doctest::skip(sanitized)) {
  constexpr unsigned workers = 4;
  const deadline limit("leaves nothing: a guest for whom*");
  unsigned refused = 0;
  for (long calls = 1; calls <= 12; ++calls) {
    weft::runtime rt({.workers = workers, .machine = "host"});
    weft::handle<int> first;
    std::atomic<unsigned> come = 0, hosted = 0;
    const auto host = [&](weft::team_context& t, long let) {
      if (++come == t.width()) calls_left = let;
      weft::guest(t, [&](weft::guest_context&) { ++hosted; });
      calls_left = -1;
    };
    rt.submit(weft::team(workers), weft::read(first), [&](weft::team_context& t, int) { host(t, calls); });
    rt.submit(weft::team(2), weft::pin(2), weft::write(first), [&](weft::team_context& t, int&) { host(t, -1); });
    bool failed = false;
    try {
      rt.wait();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    refused += failed ? 1 : 0;
    CHECK(hosted + (failed ? 1 : 0) >= 2);
  }
  CHECK(refused >= 2);
}

// As many records as a program has at a time are all it ever needs, whatever way they end.
TEST_CASE("leaves nothing: what has run runs again in the memory that it has" * doctest::skip(sanitized)) {
  const auto nested = [](const auto& self, weft::runtime& rt, unsigned depth) -> void {
    weft::finish([&] {
      const auto body = [&self, &rt, depth] {
        if (depth != 0) self(self, rt, depth - 1);
      };
      for (unsigned i = 0; i < 3; ++i) depth % 2 == 0 ? weft::async(body) : rt.submit(body);
    });
  };
  struct refuses {  // to be moved into its record
    refuses() = default;
    refuses(const refuses&) {}
    refuses(refuses&&) { throw weft::error("stays"); }
    void operator()() const {}
    char larger_than_a_scope_keeps[200] = {};
  };
  const auto refused = [](weft::here& at) {
    const refuses body;
    for (unsigned i = 0; i < 600; ++i) CHECK_THROWS_WITH(weft::async(at, body), "stays");
  };
  for (const char* machine : {"host", "virtual"}) {
    weft::runtime rt({.workers = 1, .machine = machine});
    long after[3];
    for (long& n : after) {
      for (unsigned k = 0; k < 8; ++k) {
        rt.submit([&] { nested(nested, rt, 6); });
        rt.submit([&] { weft::finish(refused); });
        rt.submit([&] {
          for (unsigned i = 0; i < 600; ++i)
            rt.submit([&rt, i] {
              if (i % 3 == 0) rt.submit([] {});
            });
          rt.wait();
        });
      }
      rt.wait();
      n = blocks;
    }
    CAPTURE(machine);
    CHECK(after[2] < after[0] + 40);  // a hundred if they were lost, 64 to a block; a thread has come, or a stack
  }
}
