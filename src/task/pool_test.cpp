// The pool of records: what is given comes from what was recycled, by whichever worker; the window holds; and no record
// is ever given twice, alone or under random schedules.
#include "task/pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "interleave.hpp"
#include "machine/host/host.hpp"

namespace weft::task {
namespace {

constexpr std::size_t batch = base::pool_batch_records;
constexpr std::size_t large = 1 << 20;

struct host_pool : pool<machine::host> {
  host_pool(std::size_t live_max, unsigned workers) : pool(workers), window(live_max) {}
  std::size_t window;
};

// As the submitter does before the record can be recycled.
record* take(host_pool& p, worker& w, std::uint8_t size_class = 0, bool beyond = false) {
  record* r = p.allocate(w, size_class, beyond ? p.no_limit : p.window);
  if (r != nullptr) begin(*r, detail::record_state::filling);
  return r;
}

std::vector<record*> take_all(host_pool& p, worker& w, bool beyond = false, std::size_t most = large) {
  std::vector<record*> all;
  while (all.size() < most) {
    record* r = take(p, w, 0, beyond);
    if (r == nullptr) break;
    all.push_back(r);
  }
  return all;
}

std::size_t carved(host_pool& p) {
  std::size_t n = 0;
  p.all().for_each([&n](const record&) { ++n; });
  return n;
}

}  // namespace

TEST_CASE("pool: a recycled record is the next one given") {
  host_pool p(large, 1);
  worker w;
  record* first = take(p, w);
  record* second = take(p, w);
  CHECK(first != second);
  CHECK(!p.recycle(w, first));
  CHECK(take(p, w) == first);
  CHECK(carved(p) == batch);
}

TEST_CASE("pool: records of a class have its size, whole cache lines, and do not overlap") {
  host_pool p(large, 1);
  worker w;
  std::set<std::byte*> taken;
  for (std::uint8_t c = 0; c < detail::record_classes; ++c) {
    for (int i = 0; i < 200; ++i) {
      record* r = take(p, w, c);
      REQUIRE(r != nullptr);
      CHECK(r->size_class == c);
      CHECK(reinterpret_cast<std::uintptr_t>(r) % 64 == 0);
      auto* bytes = reinterpret_cast<std::byte*>(r);
      for (std::size_t line = 0; line < detail::record_bytes[c]; line += 64) CHECK(taken.insert(bytes + line).second);
      // The whole of it is ours: AddressSanitizer sees a write beyond.
      std::memset(bytes + sizeof(record), 0xff, detail::record_bytes[c] - sizeof(record));
    }
  }
}

TEST_CASE("pool: what one worker recycles another is given, a batch at a time") {
  host_pool p(large, 2);
  worker creates;
  worker finishes;
  std::vector<record*> first = take_all(p, creates, false, 2 * batch);
  CHECK(carved(p) == 2 * batch);
  std::size_t given = 0;
  for (record* r : first) given += p.recycle(finishes, r) ? 1 : 0;
  CHECK(given == 0);  // it keeps two magazines
  CHECK(finishes.rest_is_full[0]);
  CHECK(finishes.free_count[0] == batch);
  CHECK(p.recycle(finishes, take(p, creates)));
  CHECK(finishes.free_count[0] == 1);
  const std::size_t made = carved(p);
  const std::vector<record*> second = take_all(p, creates, false, batch - 1 + batch);
  CHECK(std::set(second.begin(), second.end()).size() == 2 * batch - 1);
  for (record* r : second) CHECK(std::count(first.begin(), first.end(), r) <= 1);
  CHECK(std::count_if(second.begin(), second.end(),
                      [&first](record* r) { return std::count(first.begin(), first.end(), r) == 1; }) == batch);
  CHECK(carved(p) == made);
  CHECK(take(p, creates) != nullptr);
  CHECK(carved(p) == made + batch);
}

TEST_CASE("pool: who foresees has the next magazine when half of one is used, if there is one and the window allows") {
  for (const bool has_room : {true, false}) {
    host_pool p(large, 1);
    worker creates, finishes;
    for (record* r : take_all(p, creates, false, 4 * batch))
      static_cast<void>(p.recycle(finishes, r));  // gives two back
    const std::size_t made = carved(p);
    unsigned due = 0;
    for (std::size_t i = 0; i < batch; ++i) {
      CHECK(take(p, creates) != nullptr);
      if (!p.foresee(creates, 0)) continue;
      ++due;
      p.foresee_magazine(creates, 0, has_room ? p.no_limit : 0);
      CHECK(creates.rest_is_full[0] == (has_room && i + 1 >= batch / 2));
    }
    CHECK(due >= 1);
    CHECK(carved(p) == made);
    for (std::size_t i = 0; has_room && i < batch; ++i) CHECK(take(p, creates) != nullptr);
    CHECK(creates.free_count[0] == 0);
  }
}

TEST_CASE("pool: to foresee makes no record, and does nothing for large ones") {
  host_pool p(large, 1);
  worker w;
  for (std::size_t i = 0; i < batch; ++i) {
    CHECK(take(p, w) != nullptr);
    if (p.foresee(w, 0)) p.foresee_magazine(w, 0, p.no_limit);
  }
  CHECK(carved(p) == batch);
  CHECK(!w.rest_is_full[0]);
  CHECK(!p.foresee(w, detail::record_classes));
}

TEST_CASE("pool: a free record is not read: what was in it when it was recycled is no part of any list") {
  host_pool p(large, 1);
  worker w;
  std::vector<record*> all = take_all(p, w, false, 5 * batch);
  for (record* r : all) {
    p.recycle(w, r);
    r->waiting.next = r->waiting.prev = reinterpret_cast<record*>(1);  // as a listed one, followed, would fault
  }
  const std::vector<record*> again = take_all(p, w, false, 5 * batch);
  CHECK(std::set(again.begin(), again.end()) == std::set(all.begin(), all.end()));
}

TEST_CASE("depot: whoever holds less than two magazines finds an empty one, with every record at rest") {
  for (const unsigned holders : {1u, 3u}) {
    CAPTURE(holders);
    host_pool p(large, holders);
    std::vector<worker> all(holders);
    std::vector<record*> live;
    for (std::uint8_t c = 0; c < detail::record_classes; ++c)
      for (int i = 0; i < 500; ++i) live.push_back(take(p, all[0], c));
    for (std::size_t i = 0; i < live.size(); ++i) p.recycle(all[i % holders], live[i]);
    CHECK(carved(p) == 4 * 512);
    for (const worker& w : all)
      for (std::uint8_t c = 0; c < detail::record_classes; ++c) {
        CHECK(w.free[c] != w.rest[c]);
        CHECK((w.free[c] != nullptr && w.rest[c] != nullptr));
      }
  }
}

TEST_CASE("pool: a steady program allocates nothing, whoever creates and whoever finishes") {
  host_pool p(large, 2);
  worker a;
  worker b;
  for (int round = 0; round < 100; ++round)
    for (record* r : take_all(p, a, false, 500)) p.recycle(b, r);
  CHECK(carved(p) <= 500 + 4 * batch);
}

TEST_CASE("pool: the window has room for as many live records as asked for, beside all magazines") {
  for (const unsigned workers : {1u, 2u, 5u}) {
    for (const std::size_t window : {batch, batch + 1, std::size_t{1000}}) {
      CAPTURE(workers);
      CAPTURE(window);
      host_pool p(window, workers);
      std::vector<worker> all(workers);
      // The others hoard as much as they may.
      for (unsigned i = 1; i < workers; ++i) {
        const std::vector<record*> some = take_all(p, all[i], false, 2 * batch - 1);
        for (record* r : some) p.recycle(all[i], r);
      }
      const std::vector<record*> live = take_all(p, all[0]);
      CHECK(live.size() >= window);
      CHECK(carved(p) <= window + workers * 2 * batch);
    }
  }
}

TEST_CASE("pool: a full window gives nothing, then what is recycled; beyond it, only when told to") {
  host_pool p(batch, 1);
  worker w;
  std::vector<record*> live = take_all(p, w);
  CHECK(live.size() == 3 * batch);
  CHECK(take(p, w) == nullptr);
  CHECK(take(p, w, 1) != nullptr);  // each class has its own window
  record* extra = take(p, w, 0, true);
  REQUIRE(extra != nullptr);
  CHECK(take_all(p, w).size() == batch - 1);  // the rest of the batch that was made for it
  CHECK(take(p, w) == nullptr);
  p.recycle(w, extra);
  CHECK(take(p, w) == extra);
  CHECK(take(p, w) == nullptr);
}

TEST_CASE("pool: what was made beyond the window does not widen it") {
  host_pool p(batch, 1);
  worker w;
  std::vector<record*> live = take_all(p, w);
  CHECK(!p.has_room(0, batch));
  CHECK(p.has_room(0, 2 * batch));
  CHECK(p.has_room(0, p.no_limit));
  for (record* r : take_all(p, w, true, 10 * batch)) live.push_back(r);
  CHECK(live.size() == 13 * batch);
  CHECK(!p.has_room(0, 10 * batch));
  for (record* r : live) p.recycle(w, r);
  CHECK(p.has_room(0, batch));
  CHECK(take_all(p, w).size() == 3 * batch);
  CHECK(carved(p) == 13 * batch);
}

TEST_CASE("pool: fresh and recycled records are marked free, for the report of a program that cannot go on") {
  host_pool p(large, 1);
  worker w;
  record* r = take(p, w);
  std::size_t free = 0;
  const auto count = [&free](const record& x) { free += x.state == detail::record_state::free ? 1 : 0; };
  p.all().for_each(count);
  CHECK(free == batch - 1);
  p.recycle(w, r);
  free = 0;
  p.all().for_each(count);
  CHECK(free == batch);
}

namespace {

using M = interleave::unsteady;

// Workers that create much and finish little, and the other way round, so that batches must travel.
const char* tried(std::uint64_t seed) {
  interleave::play<M> play(seed);
  base::random rng(seed * 11);
  const unsigned workers = 2 + rng.below(3);
  pool<M> p(workers);
  std::vector<worker> all(workers);
  std::vector<record*> live;  // recycled by whoever comes
  std::set<record*> given;
  const char* wrong = nullptr;
  const auto body = [&](unsigned id) {
    worker& w = all[id - 1];
    const std::uint32_t creates = 10 + 80 * (id % 2);
    for (int step = 0; step < 1500 && wrong == nullptr; ++step) {
      if (rng.below(100) < creates) {
        record* r = p.allocate(w, 0, rng.below(50) == 0 ? p.no_limit : base::window_tasks_min);
        if (r == nullptr) {
          if (given.size() < base::window_tasks_min) wrong = "the window is closed and not full";
          continue;
        }
        begin(*r, detail::record_state::filling);
        if (!given.insert(r).second) wrong = "a record was given twice";
        live.push_back(r);
      } else if (!live.empty()) {
        const std::size_t at = rng.below(static_cast<std::uint32_t>(live.size()));
        record* r = live[at];
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
        given.erase(r);
        p.recycle(w, r);
      }
    }
  };
  if (!play.run(workers, body, [&] { return play.all_left() || wrong != nullptr; }) && wrong == nullptr)
    wrong = "no end";
  return wrong;
}

}  // namespace

TEST_CASE("pool: no record is given twice under random schedules, and the window opens in time") {
  interleave::all_seeds(300, &tried);
}

TEST_CASE("pool: one thread creates, another finishes, and each record is one thread's at a time") {
  constexpr std::uint64_t records = 30'000;
  host_pool p(1000, 2);
  detail::cell<record*> belt[16];  // where one puts records for the other
  std::thread finishes([&] {
    worker w;
    std::uint64_t last = 0;
    for (std::uint64_t i = 0, spins = 0; i < records;) {
      record* r = machine::host::exchange(belt[i % std::size(belt)], static_cast<record*>(nullptr), base::acq_rel);
      if (r == nullptr) {
        machine::host::relax(static_cast<unsigned>(++spins));
        continue;
      }
      WEFT_ASSERT(r->order == ++last);
      r->order = 0;
      p.recycle(w, r);
      ++i;
    }
  });
  worker w;
  std::uint64_t stamped = 0;
  for (std::uint64_t i = 0, spins = 0; i < records; ++i) {
    record* r = nullptr;
    while ((r = take(p, w)) == nullptr) machine::host::relax(static_cast<unsigned>(++spins));
    stamped += r->order;  // not 0 if it is still on the belt
    r->order = i + 1;
    while (machine::host::load(belt[i % std::size(belt)], base::acquire) != nullptr)
      machine::host::relax(static_cast<unsigned>(++spins));
    machine::host::store(belt[i % std::size(belt)], r, base::release);
  }
  finishes.join();
  CHECK(stamped == 0);
  CHECK(carved(p) <= 1000 + 4 * batch);
}

}  // namespace weft::task
