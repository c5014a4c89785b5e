#include "task/pool.hpp"

#include <new>

namespace weft::task {

namespace {
constexpr std::align_val_t line{64};
}

chain slabs::carve(std::uint8_t size_class) {
  const std::size_t bytes = detail::record_bytes[size_class];
  if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 8);  // so that the slab cannot be lost below
  auto* memory = static_cast<std::byte*>(::operator new(bytes* base::pool_batch_records, line));
  all_.push_back({memory, size_class});
  chain c;
  for (std::uint32_t i = base::pool_batch_records; i-- > 0;) {
    auto* r = new (memory + i * bytes) record{};
    r->size_class = size_class;
    r->state = detail::record_state::free;
    r->next = c.head;
    c.head = r;
    ++c.count;
  }
  return c;
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
