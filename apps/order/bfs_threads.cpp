// PBFS (Leiserson and Schardl, SPAA 2010): a level after the other, the nodes of a level in a bag that is cut in halves
// down to blocks of 128 nodes. Halves are stolen as Cilk does it: oldest first, from a victim by chance. Each thief
// begins a bag of its own for the next level, and where a thief and its victim join, the later of the two unites their
// bags. Distances are read and written without locks: two threads may reach a node at the same time and write the same
// level; then it is visited twice, which is harmless.
//
// A bag here is a list of full blocks and one that fills up. In the original, full blocks hang in trees of powers of
// two, so that two bags are united by a few pointers; a level of our meshes has ten or twenty blocks, so that a list
// takes no more.
#include <array>
#include <memory>
#include <string>

#include "paged.hpp"
#include "random.hpp"
#include "search_threads.hpp"

namespace weft::apps::order {
namespace {

class level_search {
 public:
  level_search(search& s, std::uint64_t source, const search_costs& costs)
      : search_(s), source_(source), costs_(costs), workers_(chip_threads_max), visits_(chip_threads_max) {}

  void run(chip_thread& t) {
    worker& me = workers_[t.rank()];
    random_numbers random(t.rank() + 1);
    bag* mine = nullptr;
    if (t.rank() == 0) {
      mine = new_bag(t);
      t.store(search_.nodes[source_].distance, 0);
      put(t, *mine, source_);
      if (begin_level(t, *mine)) work(t, me, mine);
    }
    while (t.atomic_load(done_.value) == 0) {
      range r{};
      if (!steal(t, me, random, r)) {
        t.work(steal_pause);
        continue;
      }
      mine = new_bag(t);
      divide(t, me, r, *mine);
      work(t, me, mine);
    }
  }
  [[nodiscard]] std::uint64_t visits() const noexcept {
    std::uint64_t sum = 0;
    for (const counter& v : visits_) sum += v.value;
    return sum;
  }

 private:
  static constexpr std::uint64_t block_nodes = 128;
  // Beside loads, stores and atomic operations: of a step of the scheduler, of an entry of a bag.
  static constexpr std::uint64_t step_instructions = 10, entry_instructions = 2;
  static constexpr std::uint64_t steal_pause = 50;  // after a vain attempt

  struct alignas(64) block {
    std::uint64_t nodes[block_nodes];
  };

  struct alignas(page_bytes) bag {
    static constexpr std::uint64_t blocks_max = 1021;
    block* full[blocks_max];
    std::uint64_t count = 0;
    block* filling = nullptr;
    std::uint64_t fill = 0;
  };

  // Where a thief and its victim meet. The first leaves its bag.
  struct alignas(64) join {
    bag* left = nullptr;
    join* above = nullptr;
  };

  struct range {
    std::uint64_t from, to;  // blocks of the level
  };

  // A thread's deque of ranges. The owner works at the tail; thieves lock it and take at the head. An owner that comes
  // to the last one locks it, too.
  struct alignas(page_bytes) worker {
    chip_lock lock;
    alignas(64) std::int64_t head = 0;
    alignas(64) std::int64_t tail = 0;
    // Where what this thread works on is joined; under the lock while others steal.
    alignas(64) join* context = nullptr;
    // A level is cut in halves some ten times.
    std::array<range, 64> ranges;

    [[nodiscard]] range& at(std::int64_t place) noexcept {
      return ranges[static_cast<std::size_t>(place) % ranges.size()];
    }
  };

  // What is being visited: its last block has so many nodes. It is written between two levels, by who joined last.
  struct alignas(page_bytes) level {
    block* full[bag::blocks_max];
    std::uint64_t blocks = 0, last = 0;
    std::uint64_t distance = UINT64_MAX;
  };
  struct alignas(64) counter {
    std::uint64_t value = 0;
  };

  // Works until nothing of its own is left and somebody else joins last, or all is done.
  void work(chip_thread& t, worker& me, bag* mine) {
    for (;;) {
      range r{};
      while (pop(t, me, r)) divide(t, me, r, *mine);
      if (!arrive(t, me, mine) || !begin_level(t, *mine)) return;
    }
  }
  // Keeps the first block, and leaves the halves above it to thieves.
  void divide(chip_thread& t, worker& me, range r, bag& out) {
    while (r.to - r.from > 1) {
      const std::uint64_t middle = r.from + (r.to - r.from) / 2;
      push(t, me, {middle, r.to});
      r.to = middle;
    }
    t.work(step_instructions);
    block* const b = t.load(level_.full[r.from]);
    const std::uint64_t distance = t.load(level_.distance);
    const std::uint64_t nodes = r.from + 1 == t.load(level_.blocks) ? t.load(level_.last) : block_nodes;
    for (std::uint64_t i = 0; i < nodes; ++i) visit(t, t.load(b->nodes[i]), distance, out);
    t.release(b);
  }
  void visit(chip_thread& t, std::uint64_t node, std::uint64_t distance, bag& out) {
    ++visits_[t.rank()].value;
    t.work(costs_.visit);
    const search::node& n = search_.nodes[node];
    const std::uint64_t last = t.load(n.last);
    for (std::uint64_t i = t.load(n.first); i < last; ++i) {
      t.work(costs_.arc);
      const std::uint64_t to = t.load(search_.arcs[i].to);
      std::uint64_t& there = search_.nodes[to].distance;
      if (t.load(there) != unreached) continue;
      t.store(there, distance + 1);
      put(t, out, to);
    }
  }

  // The bag is the next level, its blocks the range of whoever has it. False: it is empty, and all is done.
  bool begin_level(chip_thread& t, bag& from) {
    const std::uint64_t fill = t.load(from.fill);
    if (fill != 0) close(t, from);
    const std::uint64_t count = t.load(from.count);
    if (count == 0) {
      t.release(&from);
      t.atomic_store(done_.value, 1);
      return false;
    }
    for (std::uint64_t i = 0; i < count; ++i) t.store(level_.full[i], t.load(from.full[i]));
    t.store(level_.blocks, count);
    t.store(level_.last, fill != 0 ? fill : block_nodes);
    t.store(level_.distance, t.load(level_.distance) + 1);
    t.store(from.count, 0);
    push(t, workers_[t.rank()], {0, static_cast<std::uint64_t>(count)});
    return true;
  }

  void push(chip_thread& t, worker& me, range r) {
    t.work(step_instructions);
    const std::int64_t tail = t.atomic_load(me.tail);
    t.store(me.at(tail), r);
    t.atomic_store(me.tail, tail + 1);
  }
  bool pop(chip_thread& t, worker& me, range& r) {
    t.work(step_instructions);
    const std::int64_t tail = t.atomic_load(me.tail);
    if (tail == t.atomic_load(me.head)) return false;
    t.atomic_store(me.tail, tail - 1);
    bool got = t.atomic_load(me.head) < tail;
    if (!got) {  // a thief was there at the same time: who has the lock sees who came first
      me.lock.lock(t);
      got = t.atomic_load(me.head) < tail;
      if (!got) t.atomic_store(me.tail, tail);
      me.lock.unlock(t);
    }
    if (got) r = t.load(me.at(tail - 1));
    return got;
  }
  bool steal(chip_thread& t, worker& me, random_numbers& random, range& r) {
    t.work(step_instructions);
    if (t.count() == 1) return false;
    std::uint64_t whom = random.below(t.count() - 1);
    whom += whom >= t.rank() ? 1 : 0;
    worker& victim = workers_[whom];
    if (t.atomic_load(victim.head) >= t.atomic_load(victim.tail)) return false;
    if (!victim.lock.try_lock(t)) return false;
    const std::int64_t head = t.atomic_load(victim.head);
    t.atomic_store(victim.head, head + 1);
    const bool got = head < t.atomic_load(victim.tail);
    if (got) {
      r = t.load(victim.at(head));
      auto* const met = new (t.allocate<join>()) join{};
      t.store(met->above, t.atomic_load(victim.context));
      t.atomic_store(victim.context, met);
      t.atomic_store(me.context, met);
    } else {
      t.atomic_store(victim.head, head);
    }
    victim.lock.unlock(t);
    return got;
  }
  // Joins, from the innermost on, until somebody else is to come later. True: it was the last everywhere, and its bag
  // has all that the level has found.
  bool arrive(chip_thread& t, worker& me, bag* mine) {
    for (;;) {
      t.work(step_instructions);
      me.lock.lock(t);  // a thief may be about to put its join there
      join* const at = t.atomic_load(me.context);
      me.lock.unlock(t);
      if (at == nullptr) return true;
      if (t.compare_exchange(at->left, nullptr, mine)) return false;
      unite(t, *mine, *t.atomic_load(at->left));
      t.atomic_store(me.context, t.load(at->above));
      t.release(at);
    }
  }

  bag* new_bag(chip_thread& t) {
    auto* const b = t.allocate<bag>();
    t.store(b->count, 0);
    t.store(b->fill, 0);
    t.store(b->filling, nullptr);
    return b;
  }
  void put(chip_thread& t, bag& b, std::uint64_t node) {
    t.work(entry_instructions);
    const std::uint64_t fill = t.load(b.fill);
    if (fill == 0) t.store(b.filling, t.allocate<block>());
    t.store(t.load(b.filling)->nodes[fill], node);
    t.store(b.fill, fill + 1);
    if (fill + 1 == block_nodes) close(t, b);
  }
  void close(chip_thread& t, bag& b) {
    add(t, b, t.load(b.filling));
    t.store(b.fill, 0);
  }
  static void add(chip_thread& t, bag& to, block* full) {
    const std::uint64_t count = t.load(to.count);
    if (count == bag::blocks_max)
      throw error("a level of more than " + std::to_string(bag::blocks_max * block_nodes) +
                  " nodes is too large for --executor threads; take a mesh that is less wide or less high");
    t.store(to.full[count], full);
    t.store(to.count, count + 1);
  }
  void unite(chip_thread& t, bag& into, bag& from) {
    const std::uint64_t count = t.load(from.count), fill = t.load(from.fill);
    for (std::uint64_t i = 0; i < count; ++i) add(t, into, t.load(from.full[i]));
    for (std::uint64_t i = 0; i < fill; ++i) put(t, into, t.load(from.filling->nodes[i]));
    if (fill != 0) t.release(t.load(from.filling));
    t.release(&from);
  }

  search& search_;
  const std::uint64_t source_;
  const search_costs costs_;
  paged<worker> workers_;
  level level_;
  counter done_;
  paged<counter> visits_;
};

}  // namespace

search_run levels_by_threads(search& s, std::uint64_t source, const search_costs& costs) {
  const auto all = std::make_unique<level_search>(s, source, costs);
  search_run r;
  r.statistics = run_chip_threads([&](chip_thread& t) { all->run(t); });
  r.visits = all->visits();
  return r;
}

}  // namespace weft::apps::order
