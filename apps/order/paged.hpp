// Where data lie within a page decides about conflicts in the caches of a modelled chip. A heap puts an array wherever
// it has room, which depends on all that was allocated before, by whomever, so arrays that bodies share begin a page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace weft::apps::order {

inline constexpr std::size_t page_bytes = 4096;

template <class T> struct page_allocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{page_bytes};

  page_allocator() = default;
  template <class Other> page_allocator(const page_allocator<Other>&) noexcept {}
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T* at, std::size_t) noexcept { ::operator delete(at, alignment); }
  friend bool operator==(const page_allocator&, const page_allocator&) = default;
};

template <class T> using paged = std::vector<T, page_allocator<T>>;

}  // namespace weft::apps::order
