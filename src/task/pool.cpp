#include "task/pool.hpp"

#include <new>

namespace weft::task {

namespace {
constexpr std::align_val_t line{64};
}

// The magazine stands behind the records: it lives as long as they do.
magazine* slabs::carve(std::uint8_t size_class) {
  const std::size_t bytes = detail::record_bytes[size_class];
  if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 8);  // so that the slab cannot be lost below
  auto* memory = static_cast<std::byte*>(::operator new(bytes* magazine::capacity + sizeof(magazine), line));
  all_.push_back({memory, size_class});
  auto* m = new (memory + bytes * magazine::capacity) magazine;
  for (std::uint32_t i = 0; i < magazine::capacity; ++i) {
    auto* r = new (memory + i * bytes) record{};
    r->size_class = size_class;
    begin(*r, detail::record_state::free);
    m->slot[magazine::capacity - 1 - i] = r;  // taken from the end, so in the order of addresses
  }
  return m;
}

record* slabs::allocate_large(std::size_t bytes) {
  auto* l = new (::operator new(sizeof(large) + bytes, line)) large{large_, nullptr};
  if (large_ != nullptr) large_->previous = l;
  large_ = l;
  auto* r = new (l->content()) record{};
  r->size_class = detail::record_classes;
  return r;
}

void slabs::free_large(record* r) noexcept {
  auto* l = reinterpret_cast<large*>(r) - 1;
  (l->previous == nullptr ? large_ : l->previous->next) = l->next;
  if (l->next != nullptr) l->next->previous = l->previous;
  ::operator delete(l, line);
}

slabs::~slabs() {
  while (large_ != nullptr) free_large(large_->content());  // what a stall left behind
  for (const slab& s : all_) ::operator delete(s.bytes, line);
}

}  // namespace weft::task
