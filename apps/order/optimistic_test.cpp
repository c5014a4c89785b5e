// Optimistic transactions on their own: nothing lost, nothing half seen, and what was only read is validated, too.
#include "optimistic.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "random.hpp"

namespace weft::apps::order {
namespace {

struct alignas(64) cell {
  std::uint64_t values[2] = {};
  std::uint64_t tid = 0;
};

record record_of(cell& c, std::uint64_t key) { return {key, &c.tid, {&c.values[0], &c.values[1]}}; }

// Cells, and what all threads of a run need.
struct bench {
  explicit bench(std::size_t cells, std::uint32_t cores, std::uint64_t epoch_cycles = epochs::length)
      : chip{.cores = cores}, all(cells), transactions(cores), epoch(std::make_unique<epochs>(epoch_cycles)) {}

  // Until it has happened. Waits differ from thread to thread: two in step could abort each other for ever.
  template <class Body> void once(chip_thread& t, const Body& body) {
    transaction& x = transactions[t.rank()];
    random_numbers wait(t.rank());
    for (;;) {
      epoch->enter(t);
      x.begin();
      body(x);
      if (x.commit(t, *epoch, [] {})) return;
      ++aborts;
      t.work(wait.below(500));
    }
  }
  [[nodiscard]] transaction::values& update(chip_thread& t, transaction& x, std::uint64_t i) {
    return x.update(t, record_of(all[i], i));
  }
  [[nodiscard]] const transaction::values& read(chip_thread& t, transaction& x, std::uint64_t i) {
    return x.read(t, record_of(all[i], i));
  }
  template <class Body> swarm_statistics run(const Body& body) {
    return run_chip_threads(
        [&](chip_thread& t) {
          body(t);
          epoch->leave(t);
        },
        &chip);
  }

  swarm_options chip;
  paged<cell> all;
  paged<transaction> transactions;
  std::unique_ptr<epochs> epoch;
  std::uint64_t aborts = 0;
};

}  // namespace

TEST_CASE("order, optimistic: no update is lost, those of a cell that a transaction has twice neither") {
  for (const std::uint32_t cores : {1u, 4u, 16u}) {
    bench b(5, cores);
    b.run([&](chip_thread& t) {
      random_numbers random(t.rank());
      for (int i = 0; i < 40; ++i) {
        const std::uint64_t cells[] = {random.below(5), random.below(5), random.below(5)};
        b.once(t, [&](transaction& x) {
          for (const std::uint64_t c : cells) ++b.update(t, x, c)[c % 2];
        });
      }
    });
    CAPTURE(cores);
    CHECK((b.aborts != 0) == (cores != 1));
    std::uint64_t sum = 0;
    for (const cell& c : b.all) {
      CHECK(c.tid % 2 == 0);
      sum += c.values[0] + c.values[1];
    }
    CHECK(sum == cores * 40 * 3);
  }
}

TEST_CASE("order, optimistic: who only reads sees all of a transfer or nothing") {
  bench b(4, 16);
  for (cell& c : b.all) c.values[0] = c.values[1] = 100;
  std::uint64_t wrong = 0;
  b.run([&](chip_thread& t) {
    random_numbers random(t.rank());
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t from = random.below(4), to = random.below(4);
      std::uint64_t sum = 0;
      b.once(t, [&](transaction& x) {
        sum = 0;
        if (t.rank() % 2 == 0) {
          --b.update(t, x, from)[0];
          ++b.update(t, x, to)[1];
        } else {
          for (std::uint64_t c = 0; c < 4; ++c) sum += b.read(t, x, c)[0] + b.read(t, x, c)[1];
        }
      });
      wrong += t.rank() % 2 == 1 && sum != 800 ? 1 : 0;
    }
  });
  CHECK(wrong == 0);
  CHECK(b.aborts > 0);
}

TEST_CASE("order, optimistic: of two that each empty one cell if both are full, one does") {
  constexpr std::uint64_t rounds = 100;
  bench b(2 * rounds, 2);
  for (cell& c : b.all) c.values[0] = 1;
  const auto barrier = std::make_unique<chip_barrier>();
  b.run([&](chip_thread& t) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      barrier->arrive_and_wait(t);
      b.once(t, [&](transaction& x) {
        if (b.read(t, x, 2 * i)[0] + b.read(t, x, 2 * i + 1)[0] == 2) b.update(t, x, 2 * i + t.rank())[0] = 0;
      });
    }
  });
  for (std::uint64_t i = 0; i < rounds; ++i) CHECK(b.all[2 * i].values[0] + b.all[2 * i + 1].values[0] == 1);
  CHECK(b.aborts > 0);
}

TEST_CASE("order, optimistic: of all that insert one record one does") {
  bench b(20, 16);
  std::uint64_t inserted = 0;
  b.run([&](chip_thread& t) {
    for (std::uint64_t i = 0; i < 20; ++i)
      b.once(t, [&](transaction& x) {
        transaction::values* const v = x.insert(t, record_of(b.all[i], i));
        if (v != nullptr) *v = {t.rank(), i};
      });
  });
  for (std::uint64_t i = 0; i < 20; ++i) inserted += b.all[i].tid != 0 && b.all[i].values[1] == i ? 1 : 0;
  CHECK(inserted == 20);
  for (const cell& c : b.all) CHECK(c.values[0] < 16);
}

TEST_CASE("order, optimistic: epochs go on, also when thread 0 has left, and TIDs with them") {
  bench b(4, 4, 2000);
  b.run([&](chip_thread& t) {
    std::uint64_t last = 0;
    for (int i = 0; i < (t.rank() == 0 ? 100 : 150); ++i) {
      b.once(t, [&](transaction& x) {
        t.work(100);
        ++b.update(t, x, t.rank())[0];
      });
      CHECK(b.all[t.rank()].tid > last);
      last = b.all[t.rank()].tid;
    }
  });
  for (const cell& c : b.all) CHECK((c.tid >> 40) >= 3);
}

}  // namespace weft::apps::order
