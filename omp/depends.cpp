#include "omp/depends.hpp"

#include <algorithm>

#include "omp/settings.hpp"

namespace weft::omp {

namespace {

[[nodiscard]] std::size_t place_of(const void* address, std::size_t mask) noexcept {
  const auto x = reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(x >> 32) & mask;
}

}  // namespace

depends::depends() : table_(64) {}

void depends::grow() {
  std::vector<entry*> larger(table_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (entry& e : entries_) {
    std::size_t i = place_of(e.address, mask);
    while (larger[i] != nullptr) i = (i + 1) & mask;
    larger[i] = &e;
  }
  table_.swap(larger);
}

depends::entry& depends::find(const void* address) {
  const std::size_t mask = table_.size() - 1;
  std::size_t i = place_of(address, mask);
  for (; table_[i] != nullptr; i = (i + 1) & mask)
    if (table_[i]->address == address) return *table_[i];
  entry& e = entries_.emplace_back(address);
  table_[i] = &e;
  if (entries_.size() * 2 > table_.size()) grow();
  return e;
}

// An address that a list names in two ways is written.
void depends::name(const void* address, depend_kind kind) {
  if (address == nullptr) refuse("depend(...: omp_all_memory) is not supported");
  if (kind == depend_kind::inout) kind = depend_kind::out;
  entry& e = find(address);
  if (e.list == list_) {
    if (e.kind != kind) e.kind = depend_kind::out;
    return;
  }
  e.list = list_;
  e.kind = kind;
  named_.push_back(&e);
}

accesses& depends::of(void** list) {
  ++list_;
  named_.clear();
  const auto number = [list](std::size_t i) { return reinterpret_cast<std::uintptr_t>(list[i]); };
  if (number(0) != 0) {  // count, how many are out or inout, addresses: those first
    const std::size_t count = number(0), out = number(1);
    for (std::size_t i = 0; i < count; ++i) name(list[2 + i], i < out ? depend_kind::out : depend_kind::in);
  } else {  // 0, count, how many are out, mutexinoutset, in; addresses in that order, then the addresses of depobjs
    const std::size_t count = number(1), out = number(2), mutex = out + number(3), in = mutex + number(4);
    for (std::size_t i = 0; i < count; ++i) {
      if (i < in) {
        name(list[5 + i], i < out ? depend_kind::out : i < mutex ? depend_kind::mutexinoutset : depend_kind::in);
        continue;
      }
      void** const object = static_cast<void**>(list[5 + i]);
      const auto kind = reinterpret_cast<std::uintptr_t>(object[1]);
      if (kind < 1 || kind > 5) refuse("a depobj of unknown kind %zu: not initialised, or destroyed", kind);
      name(object[0], static_cast<depend_kind>(kind));
    }
  }
  result_.reads.clear();
  result_.writes.clear();
  result_.adds.clear();
  result_.concurrents.clear();
  for (entry* e : named_) {
    auto& kind = e->kind == depend_kind::in              ? result_.reads
                 : e->kind == depend_kind::mutexinoutset ? result_.adds
                 : e->kind == depend_kind::inoutset      ? result_.concurrents
                                                         : result_.writes;
    kind.push_back(&e->order);
  }
  return result_;
}

bool depends::idle() noexcept {
  return std::all_of(entries_.begin(), entries_.end(), [](entry& e) { return e.order.idle(); });
}

}  // namespace weft::omp
