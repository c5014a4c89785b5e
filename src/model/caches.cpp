#include "model/caches.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::model {
namespace {

unsigned group(const core& c, unsigned number, cache::shared_by who) {
  switch (who) {
  case cache::shared_by::core: return number;
  case cache::shared_by::inner: return c.inner;
  case cache::shared_by::outer: return c.at.cache;
  }
  return number;
}

std::uint64_t key_of(std::uint32_t cache, std::uint32_t chunk) { return std::uint64_t{chunk} << 32 | cache; }

}  // namespace

// --- index

std::uint32_t caches::index::find(std::uint32_t cache, std::uint32_t chunk) const noexcept {
  const std::uint64_t key = key_of(cache, chunk);
  for (std::size_t i = home(key);; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].copy == none) return none;
    if (slots_[i].key == key) return slots_[i].copy;
  }
}

void caches::index::insert(std::uint32_t cache, std::uint32_t chunk, std::uint32_t copy) {
  if (2 * (count_ + 1) > slots_.size()) grow();
  const std::uint64_t key = key_of(cache, chunk);
  std::size_t i = home(key);
  while (slots_[i].copy != none) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = {key, copy};
  ++count_;
}

// Slots behind the gap move up unless they are where they belong, so that no search meets a hole; no tombstones pile up
// in runs with millions of evictions.
void caches::index::erase(std::uint32_t cache, std::uint32_t chunk) noexcept {
  const std::uint64_t key = key_of(cache, chunk);
  const std::size_t mask = slots_.size() - 1;
  std::size_t gap = home(key);
  while (slots_[gap].key != key || slots_[gap].copy == none) gap = (gap + 1) & mask;
  for (std::size_t i = (gap + 1) & mask; slots_[i].copy != none; i = (i + 1) & mask) {
    if (((i - home(slots_[i].key)) & mask) < ((i - gap) & mask)) continue;
    slots_[gap] = slots_[i];
    gap = i;
  }
  slots_[gap] = {};
  --count_;
}

void caches::index::grow() {
  std::vector<slot> old(slots_.size() * 2);
  old.swap(slots_);
  --shift_;
  for (const slot& s : old) {
    if (s.copy == none) continue;
    std::size_t i = home(s.key);
    while (slots_[i].copy != none) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = s;
  }
}

// --- caches

caches::caches(const machine& m)
    : levels_(static_cast<unsigned>(m.memory.caches.size())), path_(m.cores.size() * levels_) {
  for (unsigned level = 0; level < levels_; ++level) {
    const cache& description = m.memory.caches[level];
    std::vector<unsigned> groups;
    for (unsigned c = 0; c < m.cores.size(); ++c) groups.push_back(group(m.cores[c], c, description.who));
    std::vector<unsigned> distinct = groups;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t c = 0; c < groups.size(); ++c) {
      const auto place = std::lower_bound(distinct.begin(), distinct.end(), groups[c]) - distinct.begin();
      path_[c * levels_ + level] = static_cast<std::uint32_t>(stores_.size() + static_cast<std::size_t>(place));
    }
    store empty;
    empty.capacity = description.bytes;
    empty.level = level;
    stores_.insert(stores_.end(), distinct.size(), empty);
    is_shared_.push_back(distinct.size() < groups.size());
  }
}

caches::source caches::touch(unsigned core, std::uint32_t chunk, std::uint32_t bytes, bool writes) {
  if (chunk >= chunks_.size()) chunks_.resize(std::max<std::size_t>(chunk + std::size_t{1}, 2 * chunks_.size()));
  const source from = find(core, chunk);
  const unsigned reach = from.where == source::kind::level ? from.number + 1 : levels_;
  for (unsigned level = reach; level-- > 0;) bring(path(core, level), chunk, bytes);
  state& s = chunks_[chunk];
  if (writes) {
    drop_others(core, chunk);
    s.owner = core;
    if (s.holders == none) write_back(s, bytes);
  } else if (s.owner != none && s.owner != core) {
    write_back(s, bytes);
  }
  return from;
}

bool caches::dirty_elsewhere(std::uint32_t owner, unsigned core, std::uint32_t chunk) const noexcept {
  for (unsigned level = 0; level < levels_; ++level)
    if (path(owner, level) != path(core, level) && index_.find(path(owner, level), chunk) != none) return true;
  return false;
}

// A shared level may hold the chunk while its owner has a newer one further in: then the owner delivers.
caches::source caches::find(unsigned core, std::uint32_t chunk) const noexcept {
  const std::uint32_t owner = chunks_[chunk].owner;
  if (owner != none && owner != core && dirty_elsewhere(owner, core, chunk)) return {source::kind::core, owner};
  for (unsigned level = 0; level < levels_; ++level)
    if (index_.find(path(core, level), chunk) != none) return {source::kind::level, level};
  return {source::kind::memory, 0};
}

void caches::bring(std::uint32_t cache, std::uint32_t chunk, std::uint32_t bytes) {
  store& s = stores_[cache];
  const std::uint32_t held = index_.find(cache, chunk);
  if (held != none) {
    if (s.newest == held) return;
    leave_order(s, copies_[held]);
    make_newest(s, held);
    return;
  }
  while (s.oldest != none && s.used + bytes > s.capacity) evict(s.oldest);
  if (bytes > s.capacity) return;
  std::uint32_t at = free_;
  if (at == none) {
    at = static_cast<std::uint32_t>(copies_.size());
    copies_.push_back({});
  } else {
    free_ = copies_[at].next;
  }
  state& owner = chunks_[chunk];
  copies_[at] = {chunk, cache, bytes, none, none, owner.holders, none};
  if (owner.holders != none) copies_[owner.holders].previous = at;
  owner.holders = at;
  s.used += bytes;
  make_newest(s, at);
  index_.insert(cache, chunk, at);
}

void caches::drop_others(unsigned core, std::uint32_t chunk) {
  for (std::uint32_t at = chunks_[chunk].holders; at != none;) {
    const copy& c = copies_[at];
    const std::uint32_t next = c.next;
    if (c.cache != path(core, stores_[c.cache].level)) remove(at);
    at = next;
  }
}

void caches::drop(std::uint32_t chunk) {
  if (chunk >= chunks_.size()) return;
  while (chunks_[chunk].holders != none) remove(chunks_[chunk].holders);
  chunks_[chunk].owner = none;
}

void caches::evict(std::uint32_t at) {
  const copy c = copies_[at];
  remove(at);
  state& s = chunks_[c.chunk];
  if (s.owner != none && s.holders == none) write_back(s, c.bytes);
}

void caches::write_back(state& s, std::uint32_t bytes) noexcept {
  s.owner = none;
  written_back_ += bytes;
}

void caches::remove(std::uint32_t at) {
  const copy c = copies_[at];
  store& s = stores_[c.cache];
  WEFT_ASSERT(s.used >= c.bytes);
  s.used -= c.bytes;
  leave_order(s, c);
  (c.previous == none ? chunks_[c.chunk].holders : copies_[c.previous].next) = c.next;
  if (c.next != none) copies_[c.next].previous = c.previous;
  index_.erase(c.cache, c.chunk);
  copies_[at].next = free_;
  free_ = at;
}

void caches::leave_order(store& s, const copy& c) {
  (c.newer == none ? s.newest : copies_[c.newer].older) = c.older;
  (c.older == none ? s.oldest : copies_[c.older].newer) = c.newer;
}

void caches::make_newest(store& s, std::uint32_t at) {
  copies_[at].newer = none;
  copies_[at].older = s.newest;
  (s.newest == none ? s.oldest : copies_[s.newest].newer) = at;
  s.newest = at;
}

}  // namespace weft::model
