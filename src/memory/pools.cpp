#include "memory/pools.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"

namespace weft::memory {

namespace {

// A thread has at most 64 KiB of a class at hand, in 32 blocks at most, and nothing of blocks so large that a lock is
// little beside their use.
constexpr unsigned at_hand_max = 32;
constexpr unsigned classes_at_hand = 10;  // 64 bytes to 32 KiB
constexpr unsigned room_of(unsigned size_class) {
  return static_cast<unsigned>(std::min<std::uint64_t>(at_hand_max, 65'536 / bytes_of(size_class)));
}
constexpr auto first_of = [] {
  std::array<unsigned, classes_at_hand + 1> first{};
  for (unsigned c = 0; c < classes_at_hand; ++c) first[c + 1] = first[c] + room_of(c);
  return first;
}();
static_assert(room_of(classes_at_hand - 1) == 2);

constexpr std::int64_t as_signed(std::uint64_t bytes) noexcept { return static_cast<std::int64_t>(bytes); }

// Once more after a refusal, when everything that is free went back to the system.
template <class Take> auto take_or_trim(pools& all, Take take) {
  try {
    return take();
  } catch (const std::bad_alloc&) {
    all.trim();
  }
  return take();
}

}  // namespace

// Free blocks of one node that a thread has at hand.
struct alignas(64) pools::shelf {
  gauge::drift in_use;
  gauge::drift* in_use_all = nullptr;  // of the locker
  std::uint8_t count[classes_at_hand] = {};
  std::byte* block[first_of[classes_at_hand]] = {};
};

struct alignas(64) pools::locker {
  explicit locker(unsigned nodes) : at(std::make_unique<detail::cell<shelf*>[]>(nodes)) {}
  gauge::drift in_use;  // of all nodes
  std::unique_ptr<detail::cell<shelf*>[]> at;
};

pools::pools(unsigned nodes, page_source& source, const keep& rule)
    : source_(source), in_use_(std::make_unique<gauge[]>(nodes)) {
  WEFT_ASSERT(nodes != 0);
  for (unsigned n = 0; n < nodes; ++n) nodes_.push_back(std::make_unique<node_pool>(n, source, map_, rule));
}

pools::~pools() {
  for (detail::cell<locker*>& c : lockers_) {
    locker* const l = detail::peek(c);  // who ends the pools comes behind all who used them
    if (l == nullptr) continue;
    for (unsigned n = 0; n < nodes(); ++n) delete detail::peek(l->at[n]);
    delete l;
  }
}

[[gnu::always_inline]] inline pools::shelf* pools::shelf_here(unsigned node) noexcept {
  const unsigned seat = seat::number();
  locker* const l = seat == seats_max ? nullptr : detail::peek(lockers_[seat]);
  shelf* const s = l == nullptr ? nullptr : detail::peek(l->at[node]);
  return s != nullptr ? s : new_shelf(node);
}

[[gnu::always_inline]] inline void pools::add(shelf* s, unsigned node, std::int64_t bytes) noexcept {
  if (s == nullptr) [[unlikely]] {
    in_use_[node].add(bytes);
    in_use_all_.add(bytes);
    return;
  }
  in_use_[node].add(bytes, s->in_use);
  in_use_all_.add(bytes, *s->in_use_all);
}

// The node of a block that is taken.
[[gnu::always_inline]] inline unsigned pools::settle(chunk& c, const std::byte* block) noexcept {
  whereabouts* const w = c.place_of(block);
  return w == nullptr ? c.node() : ask(c, block, *w);
}

void* pools::take(std::size_t bytes, unsigned node) {
  WEFT_ASSERT(node < nodes());
  if (bytes > chunk_bytes) return take_large(bytes, node);
  const unsigned c = class_of(bytes);
  shelf* const s = shelf_here(node);
  std::byte* block = nullptr;
  if (c < classes_at_hand && s != nullptr) [[likely]] {
    if (s->count[c] == 0) refill(*s, c, node);
    block = s->block[first_of[c] + --s->count[c]];
  } else {
    take_or_trim(*this, [&] { return nodes_[node]->take(c, &block, 1); });
  }
  add(s, node, as_signed(bytes_of(c)));
  return block;
}

void pools::give_back(void* block, std::size_t bytes) noexcept {
  auto* const b = static_cast<std::byte*>(block);
  chunk* const k = map_.find(b);
  WEFT_ASSERT(k != nullptr);  // or it is no block of these pools
  const unsigned node = settle(*k, b);
  shelf* const s = shelf_here(node);
  add(s, node, -as_signed(k->block_bytes()));
  if (k->size_class() == chunk::direct) {
    WEFT_ASSERT(b == k->begin() && round_up(bytes, source_unit_bytes) == k->bytes());
    nodes_[k->node()]->give_back_one(k);
    return;
  }
  const unsigned c = class_of(bytes);
  WEFT_ASSERT(c == k->size_class());
  if (c < classes_at_hand && s != nullptr) [[likely]] {
    if (s->count[c] == room_of(c)) make_room(*s, c, node);
    s->block[first_of[c] + s->count[c]++] = b;
  } else {
    nodes_[node]->give_back(c, &b, 1);
  }
}

unsigned pools::node_of(const void* block, [[maybe_unused]] std::size_t bytes) noexcept {
  const auto* const b = static_cast<const std::byte*>(block);
  chunk* const k = map_.find(b);
  WEFT_ASSERT(k != nullptr && (k->size_class() == chunk::direct || k->size_class() == class_of(bytes)));
  return settle(*k, b);
}

pool_counts pools::counts() const {
  pool_counts r;
  gauge::reading all(in_use_all_);
  std::vector<gauge::reading> node;
  for (unsigned n = 0; n < nodes(); ++n) node.emplace_back(in_use_[n]);
  for (const detail::cell<locker*>& c : lockers_) {
    const locker* const l = detail::peek_acquire(c);
    if (l == nullptr) continue;
    all.with(l->in_use);
    for (unsigned n = 0; n < nodes(); ++n)
      if (const shelf* const s = detail::peek_acquire(l->at[n])) node[n].with(s->in_use);
  }
  for (unsigned n = 0; n < nodes(); ++n) {
    r.node.push_back({node[n].sum(), node[n].peak(), nodes_[n]->held()});
    r.all.held += r.node.back().held;
  }
  r.all.in_use = all.sum();
  r.all.peak = all.peak();
  r.strays = detail::peek(strays_);
  return r;
}

void pools::trim() noexcept {
  if (locker* const l = locker_here())
    for (unsigned n = 0; n < nodes(); ++n) {
      shelf* const s = detail::peek(l->at[n]);
      for (unsigned c = 0; s != nullptr && c < classes_at_hand; ++c) {
        if (s->count[c] != 0) nodes_[n]->give_back(c, s->block + first_of[c], s->count[c]);
        s->count[c] = 0;
      }
    }
  // A stray can no longer be told from others of its chunk, nor its chunk become whole, before its pages are gone.
  for (const auto& n : nodes_)
    for (unsigned c = class_of(asked_bytes_min); source_.tells() && c < size_classes; ++c)
      while (std::byte* const b = n->forget_stray(c)) nodes_[map_.find(b)->node()]->give_back(c, &b, 1);
  for (const auto& n : nodes_) n->trim();
}

// nullptr: a thread without seat, or there is no memory for it; then it takes the lock for each block.
[[gnu::noinline]] pools::locker* pools::locker_here() noexcept {
  const unsigned seat = seat::number();
  if (seat == seats_max) return nullptr;
  locker* l = detail::peek(lockers_[seat]);  // written by who had the seat
  if (l == nullptr) {
    try {
      l = new locker(nodes());
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    detail::poke_release(lockers_[seat], l);  // pairs with counts()
  }
  return l;
}

[[gnu::noinline]] pools::shelf* pools::new_shelf(unsigned node) noexcept {
  locker* const l = locker_here();
  shelf* const s = l == nullptr ? nullptr : new (std::nothrow) shelf;
  if (s == nullptr) return nullptr;
  s->in_use_all = &l->in_use;
  detail::poke_release(l->at[node], s);  // pairs with counts()
  return s;
}

[[gnu::noinline]] void pools::refill(shelf& s, unsigned c, unsigned node) {
  const unsigned half = room_of(c) / 2;  // so that the next that come back find room
  const unsigned got = take_or_trim(*this, [&] { return nodes_[node]->take(c, s.block + first_of[c], half); });
  s.count[c] = static_cast<std::uint8_t>(got);
}

// The older half goes: the others are likelier to be in this core's cache.
[[gnu::noinline]] void pools::make_room(shelf& s, unsigned c, unsigned node) noexcept {
  const unsigned half = room_of(c) / 2;
  std::byte** const first = s.block + first_of[c];
  nodes_[node]->give_back(c, first, half);
  std::copy(first + half, first + s.count[c], first);
  s.count[c] = static_cast<std::uint8_t>(s.count[c] - half);
}

// From the first time that the system tells, that node. Of several who ask at a time one is believed. Relaxed:
// a number and no more.
unsigned pools::ask(chunk& c, const std::byte* block, whereabouts& where) noexcept {
  const auto place = base::shared(where.node_and_1);
  std::uint32_t known = place.load(base::relaxed);
  if (known != 0) return known - 1;
  const auto found = source_.node_of(block);
  if (!found) return c.node();
  WEFT_ASSERT(*found < nodes());
  if (!place.compare_exchange_strong(known, *found + 1, base::relaxed, base::relaxed)) return known - 1;
  if (*found == c.node()) return *found;
  base::shared(strays_).fetch_add(1, base::relaxed);
  in_use_[c.node()].add(-as_signed(c.block_bytes()));
  in_use_[*found].add(as_signed(c.block_bytes()));
  return *found;
}

std::byte* pools::take_large(std::uint64_t bytes, unsigned node) {
  if (bytes > std::uint64_t{1} << 46) throw std::bad_alloc();  // sums stay right
  const chunk* const k = take_or_trim(*this, [&] { return nodes_[node]->take_one(bytes); });
  add(shelf_here(node), node, as_signed(k->bytes()));
  return k->begin();
}

}  // namespace weft::memory
