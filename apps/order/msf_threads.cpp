// The minimum spanning forest as PBBS finds it: Kruskal's algorithm with deterministic reservations (Blelloch, Fineman,
// Gibbons, Shun, "Internally deterministic parallel algorithms can be fast", PPoPP 2012).
//
// The lightest 4/3 of as many edges as nodes, by a pivot from a sample, are sorted and handled. Of the others only
// those whose ends are not connected by then are sorted, and handled the same way (filter-Kruskal).
//
// To handle is to go through the edges by rounds of a prefix. Each edge of a round finds the roots of its ends, and
// reserves both: the least index of an edge stays. Behind a barrier an edge that holds one of its roots links that root
// to the other. It is the lightest edge out of that tree: a lighter one would have come before, or would hold the root.
// Indices fall along any row of such links, so there is no circle. Losers are packed in front of the next prefix.
#include "msf_threads.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "sample_sort.hpp"
#include "weft/error.hpp"

namespace weft::apps::order {

namespace {

// Edges a round: one of so many parts of all that are to be handled, as PBBS has it. It matters little: with a
// quarter as many rounds 64 cores take 6 % less, with four times as many 21 % more.
constexpr std::size_t light_rounds = 100, heavy_rounds = 20;
constexpr std::uint64_t compare_instructions = 2;  // and a jump
constexpr std::uint64_t commit_instructions = 6;   // two reservations compared, and where they lie
constexpr std::uint64_t nobody = UINT64_MAX;

struct sorted_edge {
  std::uint64_t a, b;
  std::uint64_t at;  // of candidates
};

// An edge in a round. `u` and `v` are roots; equal ones: it is done with.
struct slot {
  std::uint64_t index, u, v;
};

// Of what each thread has some: how many those before it have, and all together.
struct place {
  std::size_t before, all;
};

// What a thread has counted. Not part of the program: no cost.
struct alignas(64) counts {
  std::uint64_t filtered = 0, dropped = 0, linked = 0, rounds = 0, tries = 0;
};

class parallel_kruskal {
 public:
  parallel_kruskal(std::uint64_t nodes, paged<candidate>& edges, bool filter);
  void run(chip_thread& t);
  [[nodiscard]] forest_by_threads total(const swarm_statistics& chip) const;

 private:
  [[nodiscard]] std::uint64_t root_of(chip_thread& t, std::uint64_t node);
  void write_min(chip_thread& t, std::uint64_t root, std::uint64_t index);
  void reserve(chip_thread& t, slot& s, std::uint64_t index);
  [[nodiscard]] bool commit(chip_thread& t, const slot& s);
  void handle(chip_thread& t, std::span<const keyed> sorted, std::size_t rounds);
  void gather(chip_thread& t, std::span<const keyed> sorted);
  std::size_t split(chip_thread& t, std::uint64_t pivot);
  std::span<const keyed> filter(chip_thread& t, std::span<keyed> heavy);
  [[nodiscard]] place place_of(chip_thread& t, std::size_t mine);
  void wait(chip_thread& t) { sorter_.barrier().arrive_and_wait(t); }

  const std::size_t light_;  // edges to be sorted first
  paged<candidate>& edges_;
  paged<keyed> input_, other_;  // what is sorted goes from one to the other
  paged<sorted_edge> sorted_;
  paged<std::uint64_t> up_;        // of a node; its own number: a root
  paged<std::uint64_t> holder_;    // of a root: an edge's index, or nobody
  paged<slot> slots_;              // of a round
  paged<std::uint64_t> lost_[2];   // indices of edges for the next round
  paged<std::uint64_t> in_parts_;  // how many of something each thread has
  paged<counts> counts_;           // of threads
  sample_sort sorter_;
};

std::size_t round_of(std::size_t edges, std::size_t rounds) noexcept { return edges / rounds + 1; }

parallel_kruskal::parallel_kruskal(std::uint64_t nodes, paged<candidate>& edges, bool filter)
    : light_(filter ? std::min<std::size_t>(edges.size(), nodes * 4 / 3) : edges.size()), edges_(edges),
      other_(edges.size()), sorted_(edges.size()), holder_(nodes),
      slots_(std::max(round_of(light_, light_rounds), round_of(edges.size(), heavy_rounds))),
      lost_{paged<std::uint64_t>(slots_.size()), paged<std::uint64_t>(slots_.size())}, in_parts_(chip_threads_max),
      counts_(chip_threads_max), sorter_(edges.size()) {
  for (const candidate& e : edges) input_.push_back({e.length << 32 | e.number, input_.size()});
  for (std::uint64_t i = 0; i < nodes; ++i) up_.push_back(i);
}

// Nobody links while roots are looked for: what others do to the way there shortens it.
std::uint64_t parallel_kruskal::root_of(chip_thread& t, std::uint64_t node) {
  const std::uint64_t first = t.atomic_load(up_[node]);
  if (first == node) return node;
  std::uint64_t root = first;
  for (std::uint64_t above; (above = t.atomic_load(up_[root])) != root;) root = above;
  for (std::uint64_t next = first; next != root; next = t.atomic_load(up_[node])) {
    t.atomic_store(up_[node], root);
    node = next;
  }
  return root;
}

void parallel_kruskal::write_min(chip_thread& t, std::uint64_t root, std::uint64_t index) {
  for (;;) {
    const std::uint64_t there = t.atomic_load(holder_[root]);
    t.work(compare_instructions);
    if (there <= index || t.compare_exchange(holder_[root], there, index)) return;
  }
}

void parallel_kruskal::reserve(chip_thread& t, slot& s, std::uint64_t index) {
  t.work(edge_instructions);
  const sorted_edge& e = sorted_[index];
  const std::uint64_t u = root_of(t, t.load(e.a)), v = root_of(t, t.load(e.b));
  t.store(s, {index, u, v});
  if (u == v) return;
  write_min(t, u, index);
  write_min(t, v, index);
}

// Each reserved root is given up by the edge that holds it: it is none any more, or free.
bool parallel_kruskal::commit(chip_thread& t, const slot& s) {
  t.work(commit_instructions);
  std::uint64_t from = s.v, to = s.u;
  if (t.atomic_load(holder_[s.v]) != s.index) std::swap(from, to);
  const bool holds_to = t.atomic_load(holder_[s.u]) == s.index;
  if (from == s.u && !holds_to) return false;
  if (from == s.v && holds_to) t.atomic_store(holder_[s.u], nobody);
  t.atomic_store(up_[from], to);
  t.store(edges_[t.load(sorted_[s.index].at)].chosen, 1);
  return true;
}

place parallel_kruskal::place_of(chip_thread& t, std::size_t mine) {
  t.store(in_parts_[t.rank()], mine);
  wait(t);
  place p{0, 0};
  for (std::uint32_t r = 0; r < t.count(); ++r) {
    t.work(loop_instructions + 1);
    if (r == t.rank()) p.before = p.all;
    p.all += t.load(in_parts_[r]);
  }
  return p;
}

// Edges as they are handled, in their order.
void parallel_kruskal::gather(chip_thread& t, std::span<const keyed> sorted) {
  const part mine = part_of(t, sorted.size());
  for (std::size_t i = mine.from; i < mine.to; ++i) {
    t.work(loop_instructions);
    const std::uint64_t at = t.load(sorted[i].at);
    t.store(sorted_[i], {t.load(edges_[at].a), t.load(edges_[at].b), at});
  }
  wait(t);
}

void parallel_kruskal::handle(chip_thread& t, std::span<const keyed> sorted, std::size_t rounds) {
  gather(t, sorted);
  counts& c = counts_[t.rank()];
  const std::size_t prefix = round_of(sorted.size(), rounds);
  std::size_t kept = 0, next = 0;
  for (std::size_t done = 0; done < sorted.size(); next = 1 - next) {
    const std::size_t edges = std::min(prefix, sorted.size() - done);
    const part mine = part_of(t, edges);
    for (std::size_t i = mine.from; i < mine.to; ++i) {
      t.work(loop_instructions);
      reserve(t, slots_[i], i < kept ? t.load(lost_[1 - next][i]) : done + i);
    }
    wait(t);
    std::size_t lost = 0;
    for (std::size_t i = mine.from; i < mine.to; ++i) {
      t.work(loop_instructions + compare_instructions);
      const slot s = t.load(slots_[i]);
      if (s.u == s.v)
        ++c.dropped;
      else if (commit(t, s))
        ++c.linked;
      else
        t.store(slots_[mine.from + lost++].index, s.index);
    }
    const place p = place_of(t, lost);
    for (std::size_t i = 0; i < lost; ++i) {
      t.work(loop_instructions);
      t.store(lost_[next][p.before + i], t.load(slots_[mine.from + i].index));
    }
    wait(t);
    if (p.all == edges) throw error("msf: a round in which no edge came to an end");  // the least index always does
    done += edges - p.all;
    kept = p.all;
    ++c.rounds, c.tries += mine.to - mine.from;
  }
}

// Light edges to the front of the other array, each kind in the order of the input. Returns how many.
std::size_t parallel_kruskal::split(chip_thread& t, std::uint64_t pivot) {
  const part mine = part_of(t, input_.size());
  std::size_t light = 0;
  for (std::size_t i = mine.from; i < mine.to; ++i) {
    t.work(loop_instructions + compare_instructions);
    light += t.load(input_[i].key) < pivot;
  }
  const place p = place_of(t, light);
  std::size_t to_light = p.before, to_heavy = p.all + mine.from - p.before;
  for (std::size_t i = mine.from; i < mine.to; ++i) {
    t.work(loop_instructions + compare_instructions);
    const keyed e = t.load(input_[i]);
    t.store(other_[e.key < pivot ? to_light++ : to_heavy++], e);
  }
  wait(t);
  return p.all;
}

// Those whose ends are not connected, to the front of the input's array.
std::span<const keyed> parallel_kruskal::filter(chip_thread& t, std::span<keyed> heavy) {
  const part mine = part_of(t, heavy.size());
  std::size_t left = 0;
  for (std::size_t i = mine.from; i < mine.to; ++i) {
    t.work(loop_instructions + edge_instructions);
    const keyed e = t.load(heavy[i]);
    const candidate& c = edges_[e.at];
    const std::uint64_t u = root_of(t, t.load(c.a)), v = root_of(t, t.load(c.b));
    if (u != v) t.store(heavy[mine.from + left++], e);
  }
  counts_[t.rank()].filtered += mine.to - mine.from - left;
  const place p = place_of(t, left);
  for (std::size_t i = 0; i < left; ++i) {
    t.work(loop_instructions);
    t.store(input_[p.before + i], t.load(heavy[mine.from + i]));
  }
  wait(t);
  return {input_.data(), p.all};
}

void parallel_kruskal::run(chip_thread& t) {
  const part mine = part_of(t, holder_.size());
  for (std::size_t i = mine.from; i < mine.to; ++i) t.store(holder_[i], nobody);
  const std::span<keyed> input(input_), other(other_);
  if (light_ == input.size()) {
    sorter_.sort(t, input, other);
    return handle(t, other, light_rounds);
  }
  const std::size_t light = split(t, sorter_.near(t, input, light_));
  sorter_.sort(t, other.first(light), input.first(light));
  handle(t, input.first(light), light_rounds);
  const std::span<const keyed> left = filter(t, other.subspan(light));
  sorter_.sort(t, left, other.first(left.size()));
  handle(t, other.first(left.size()), heavy_rounds);
}

forest_by_threads parallel_kruskal::total(const swarm_statistics& chip) const {
  forest_by_threads sum{.chip = chip, .rounds = counts_[0].rounds};
  for (const counts& c : counts_) {
    sum.filtered += c.filtered;
    sum.dropped += c.dropped;
    sum.linked += c.linked;
    sum.tries += c.tries;
  }
  return sum;
}

}  // namespace

forest_by_threads forest_of(std::uint64_t nodes, paged<candidate>& edges, bool filter) {
  const auto all = std::make_unique<parallel_kruskal>(nodes, edges, filter);
  const swarm_statistics chip = run_chip_threads([&](chip_thread& t) { all->run(t); });
  return all->total(chip);
}

}  // namespace weft::apps::order
