// Bellman-Ford's algorithm as suites of irregular programs have it (Galois, Lonestar; Swarm §5): a node whose distance
// has become less goes to a list, and whoever takes it relaxes its arcs; a node may be visited many times. Lists are
// ordered by distance, but roughly (OBIM; Nguyen, Lenharth and Pingali, SOSP 2013): one for each range of distances, of
// chunks of 32 nodes. A thread fills chunks of its own, and others see only full ones; it stays with its list until
// nothing is left there, and only then looks for the earliest that has something. So threads meet seldom, and go along
// arcs from distances that are not the last word. In the order of putting alone, a road map takes two hundred visits of
// each node. It ends when all threads are idle and all lists are empty.
#include <memory>
#include <numeric>

#include "paged.hpp"
#include "search_threads.hpp"

namespace weft::apps::order {
namespace {

class relaxation {
 public:
  relaxation(search& s, const search_costs& costs)
      : search_(s), costs_(costs), lists_(lists_count), threads_(chip_threads_max) {}

  void run(chip_thread& t, std::uint64_t source) {
    thread& me = threads_[t.rank()];
    if (t.rank() == 0) {
      t.atomic_store(search_.nodes[source].distance, 0);
      put(t, me, {source, 0});
    }
    for (entry e{}; take(t, me, e);) visit(t, me, e);
  }
  [[nodiscard]] std::uint64_t visits() const noexcept {
    return std::accumulate(threads_.begin(), threads_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const thread& each) { return sum + each.visits; });
  }

 private:
  static constexpr std::uint64_t chunk_entries = 32, lists_count = 1024, ended = UINT64_MAX;
  // Beside loads, stores and atomic operations: of an entry of a chunk, of a chunk that is put or taken, of a list that
  // is looked at, of a relaxation.
  static constexpr std::uint64_t entry_instructions = 2, chunk_instructions = 10, look_instructions = 2,
                                 relax_instructions = 2;

  struct entry {
    std::uint64_t node, distance;
  };
  struct alignas(64) chunk {
    entry entries[chunk_entries];
    chunk* next;
    std::uint64_t count;
  };
  struct alignas(64) list {  // the last in, first out
    chip_lock lock;
    chunk* first = nullptr;
  };
  struct alignas(page_bytes) thread {
    chunk* filling[lists_count] = {};
    chunk* emptying = nullptr;
    std::uint64_t current = 0;  // the list that it takes from
    std::uint64_t visits = 0;
  };
  struct alignas(64) word {
    std::uint64_t value = 0;
  };

  void visit(chip_thread& t, thread& me, entry e) {
    t.work(costs_.visit);
    const search::node& n = search_.nodes[e.node];
    if (t.atomic_load(n.distance) < e.distance) return;  // somebody has come on a shorter path
    ++me.visits;
    const std::uint64_t last = t.load(n.last);
    for (std::uint64_t i = t.load(n.first); i < last; ++i) {
      t.work(costs_.arc);
      const arc a = t.load(search_.arcs[i]);
      if (relax(t, search_.nodes[a.to].distance, e.distance + a.length)) put(t, me, {a.to, e.distance + a.length});
    }
  }
  bool relax(chip_thread& t, std::uint64_t& distance, std::uint64_t to) {
    for (;;) {
      t.work(relax_instructions);
      const std::uint64_t there = t.atomic_load(distance);
      if (there <= to) return false;
      if (t.compare_exchange(distance, there, to)) return true;
    }
  }

  [[nodiscard]] list& list_of(std::uint64_t number) noexcept { return lists_[number % lists_count]; }

  void put(chip_thread& t, thread& me, entry e) {
    t.work(entry_instructions);
    const std::uint64_t number = e.distance / costs_.range;
    if (number < t.load(me.current)) t.store(me.current, number);
    chunk*& filling = me.filling[number % lists_count];
    chunk* c = t.load(filling);
    if (c == nullptr) {
      c = t.allocate<chunk>();
      t.store(c->count, 0);
      t.store(filling, c);
    }
    const std::uint64_t count = t.load(c->count);
    t.store(c->entries[count], e);
    t.store(c->count, count + 1);
    if (count + 1 != chunk_entries) return;
    t.store(filling, nullptr);
    append(t, number, c);
  }
  bool take(chip_thread& t, thread& me, entry& e) {
    t.work(entry_instructions);
    chunk* c = t.load(me.emptying);
    while (c == nullptr || t.load(c->count) == 0) {
      if (c != nullptr) t.release(c);
      c = find(t, me);
      t.store(me.emptying, c);
      if (c == nullptr && !wait_for_some(t)) return false;
    }
    const std::uint64_t count = t.load(c->count) - 1;
    e = t.load(c->entries[count]);
    t.store(c->count, count);
    return true;
  }
  // A chunk of its list, or else of the earliest that has any.
  chunk* find(chip_thread& t, thread& me) {
    if (chunk* const c = take_from(t, me, t.load(me.current))) return c;
    const std::uint64_t from = t.atomic_load(earliest_.value);
    for (std::uint64_t number = from; number < from + lists_count; ++number) {
      t.work(look_instructions);
      chunk* const c = take_from(t, me, number);
      if (c == nullptr) continue;
      t.store(me.current, number);
      if (number != from) t.compare_exchange(earliest_.value, from, number);
      return c;
    }
    return nullptr;
  }
  chunk* take_from(chip_thread& t, thread& me, std::uint64_t number) {
    if (chunk* const shared = remove(t, number)) return shared;
    chunk*& filling = me.filling[number % lists_count];
    chunk* const own = t.load(filling);
    if (own != nullptr) t.store(filling, nullptr);
    return own;
  }

  void append(chip_thread& t, std::uint64_t number, chunk* full) {
    t.work(chunk_instructions);
    t.fetch_add(chunks_.value, 1);
    list& l = list_of(number);
    l.lock.lock(t);
    t.store(full->next, t.atomic_load(l.first));
    t.atomic_store(l.first, full);
    l.lock.unlock(t);
    for (std::uint64_t e = t.atomic_load(earliest_.value); number < e; e = t.atomic_load(earliest_.value))
      if (t.compare_exchange(earliest_.value, e, number)) break;
  }
  chunk* remove(chip_thread& t, std::uint64_t number) {
    list& l = list_of(number);
    if (t.atomic_load(l.first) == nullptr) return nullptr;
    t.work(chunk_instructions);
    l.lock.lock(t);
    chunk* const first = t.atomic_load(l.first);
    if (first != nullptr) t.atomic_store(l.first, t.load(first->next));
    l.lock.unlock(t);
    if (first != nullptr) t.fetch_add(chunks_.value, UINT64_MAX);
    return first;
  }
  // False: all are idle, so nobody is left to put anything anywhere.
  bool wait_for_some(chip_thread& t) {
    if (t.fetch_add(idle_.value, 1) + 1 == t.count()) {
      t.atomic_store(chunks_.value, ended);
      return false;
    }
    if (t.wait(chunks_.value, 0) == ended) return false;
    t.fetch_add(idle_.value, UINT64_MAX);
    return true;
  }

  search& search_;
  const search_costs costs_;
  paged<list> lists_;  // of ranges of distances; the next round of them uses the same
  paged<thread> threads_;
  alignas(page_bytes) word earliest_;  // list that may have something
  word chunks_;                        // in lists; one that is just being put or taken may be too many
  word idle_;
};

}  // namespace

search_run distances_by_threads(search& s, std::uint64_t source, const search_costs& costs) {
  const auto all = std::make_unique<relaxation>(s, costs);
  search_run r;
  r.statistics = run_chip_threads([&](chip_thread& t) { all->run(t, source); });
  r.visits = all->visits();
  return r;
}

}  // namespace weft::apps::order
