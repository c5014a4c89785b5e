// An array of a fixed size whose pages lie on memory nodes as a memory placement says.
//
//   weft::numa_array<double> field(n, weft::memory_placement::blocked());
//   field.fill();                                                         each page at its node
//   weft::async(weft::near(field, from, to), [&, from, to] { relax(field, from, to); });
//
// It stands for the allocations of PufferFish §III and its memory manager (§IV-A): who has the array knows its layout,
// so a hint is computed and the system is not asked. Its addresses are told to weft::place_memory for as long as it
// lives, so near(p, bytes), and handles that lie in it (handle_base::lies_at), know it too. Real machines get pages
// laid so; modelled ones compute with the same layout, and addresses do not matter. docs/guide/36-numa-arrays.md.
//
// A page is whole on one node, where its first byte belongs; so up to a page at the edge of a block lies at the node of
// its neighbour. With one memory node nothing is laid. If the system does not let us lay pages, or a node is full, the
// pages lie elsewhere, the layout stays what was asked for, and stderr is told of a refusal once.
// With WEFT_SERIAL an array is plain memory.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "weft/error.hpp"
#include "weft/finish.hpp"
#include "weft/memory_placement.hpp"
#include "weft/near.hpp"

namespace weft {

// Memory nodes of the machine that the calling thread works for: that of its runtime, in tasks and on the thread that
// made one; else this computer. At least 1. Cost: a few loads; the first call for this computer some 10 ms.
#ifdef WEFT_SERIAL
[[nodiscard]] inline unsigned memory_nodes() { return 1; }
#else
[[nodiscard]] unsigned memory_nodes();
#endif

// The memory node of this computer that has the page of an address; nothing if it was never written, or if the system
// does not tell. Nodes are numbered 0, 1, ... without those that this process may not use. On a modelled machine it
// still speaks of this computer. Who: any thread. Cost: a call of the system.
#ifdef WEFT_SERIAL
[[nodiscard]] inline std::optional<unsigned> node_of(const void*) { return {}; }
#else
[[nodiscard]] std::optional<unsigned> node_of(const void* address);
#endif

struct numa_array_options {
  // Pages of 2 MiB on most machines instead of 4 KiB: fewer misses in address translation, and coarser layouts, in
  // which blocks and turns begin with such a page. A wish: the system may have none to give.
  bool huge_pages = false;
};

namespace detail {

// Untyped and plain: what an array has, and gives back.
struct array_memory {
  void* begin = nullptr;
  std::uint64_t bytes = 0;
  memory_placement how{};
  bool huge = false;
};
inline constexpr std::size_t array_alignment = 4096;  // of the smallest pages there are
inline constexpr std::uint64_t fill_leaf_bytes = std::uint64_t{1} << 16;

#ifdef WEFT_SERIAL
[[nodiscard]] inline array_memory take_array(std::uint64_t bytes, const memory_placement& how, bool huge) {
  if (bytes == 0) return {nullptr, 0, how, huge};
  char* const begin = static_cast<char*>(::operator new(bytes, std::align_val_t{array_alignment}));
  for (std::uint64_t i = 0; i < bytes; ++i) begin[i] = 0;
  return {begin, bytes, how, huge};
}
inline void give_back_array(const array_memory& m) noexcept {
  ::operator delete(m.begin, std::align_val_t{array_alignment});
}
[[nodiscard]] inline std::optional<unsigned> node_of_byte(const array_memory& m, std::uint64_t) {
  if (m.how == memory_placement::first_touch()) return {};
  return 0u;
}
#else
// Errors: weft::error for a placement that cannot be meant, and if there is no such memory.
[[nodiscard]] array_memory take_array(std::uint64_t bytes, const memory_placement& how, bool huge);
void give_back_array(const array_memory& m) noexcept;
[[nodiscard]] std::optional<unsigned> node_of_byte(const array_memory& m, std::uint64_t at);
#endif
[[noreturn]] inline void throw_too_many_elements() {
  throw error("weft: a numa_array of so many elements would be larger than any memory");
}

}  // namespace detail

// Elements are bytes that need neither construction nor destruction: pages are given and taken whole.
// Who: any thread makes, moves and destroys one, as with any object; elements are the program's to guard.
template <class T> class numa_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "weft: a numa_array is pages of the system, so its elements must be trivially copyable and trivially "
                "destructible: numbers, pointers, structs of these");
  static_assert(alignof(T) <= detail::array_alignment,
                "weft: a numa_array begins with a page, so its elements are aligned to one at most");

 public:
  // Nothing.
  numa_array() noexcept = default;
  // `n` elements that are all bytes of zero, on pages that nobody has touched. Cost: calls of the system: one for each
  // range of pages on one node, one in all for interleaved(); the pages themselves when they are first written.
  // Errors: weft::error if there is no such memory, and for what block_cyclic and on_node cannot mean.
  explicit numa_array(std::size_t n, const memory_placement& how = memory_placement::blocked(),
                      const numa_array_options& options = {}) {
    if (n > PTRDIFF_MAX / sizeof(T)) detail::throw_too_many_elements();
    memory_ = detail::take_array(n * sizeof(T), how, options.huge_pages);
    size_ = n;
  }
  ~numa_array() {
    if (memory_.begin != nullptr) detail::give_back_array(memory_);
  }
  numa_array(const numa_array&) = delete;
  numa_array& operator=(const numa_array&) = delete;
  // Elements stay where they are.
  numa_array(numa_array&& other) noexcept
      : memory_(std::exchange(other.memory_, {})), size_(std::exchange(other.size_, 0)) {}
  numa_array& operator=(numa_array&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }

  // nullptr if there are no elements; else aligned to a page.
  [[nodiscard]] T* data() noexcept { return static_cast<T*>(memory_.begin); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(memory_.begin); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] std::span<T> span() noexcept { return {data(), size_}; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size_}; }
  [[nodiscard]] memory_placement placement() const noexcept { return memory_.how; }

  // What weft::near wants to know of the elements [from, to); what of these is not there counts as nothing.
  [[nodiscard]] detail::near_clause layout_of(std::size_t from, std::size_t to) const noexcept {
    return part(memory_.how, from, to);
  }
  // Where an element lies by its layout, by the page of its first byte, on the machine of the calling thread (see
  // memory_nodes); on a modelled machine pages are its chunks. Nothing for first_touch(), of which weft::node_of(&a[i])
  // knows. Needs i < size(). Cost: a few divisions.
  [[nodiscard]] std::optional<unsigned> node_of(std::size_t i) const {
    return detail::node_of_byte(memory_, i * sizeof(T));
  }

  // Writes the value to every element, by tasks of at least 64 KiB with hints to where they lie; those of a
  // first_touch() array are hinted as if it were blocked(), so with policies that follow hints each node has an equal
  // block of it afterwards. Returns when it is done. Who: where weft::finish may be called; on a thread that no runtime
  // knows, and with WEFT_SERIAL, it is a loop. Errors: as weft::finish.
  void fill(const T& value = T{}) {
    const T copy = value;  // it may be an element
    finish([&](here& at) { fill(at, copy, 0, size_); });
  }

 private:
  [[nodiscard]] detail::near_clause part(const memory_placement& how, std::size_t from, std::size_t to) const noexcept {
    if (to > size_) to = size_;
    if (from > to) from = to;
    return {{how, from * sizeof(T), memory_.bytes}, (to - from) * sizeof(T)};
  }
  // By halves, both of them tasks: what is written is written by a task that is hinted with just that.
  void fill(here& at, const T& value, std::size_t from, std::size_t to) {
    if ((to - from) * sizeof(T) < 2 * detail::fill_leaf_bytes) {
      for (; from < to; ++from) (*this)[from] = value;
      return;
    }
    const bool by_touch = memory_.how.how() == memory_placement::kind::first_touch;
    const memory_placement how = by_touch ? memory_placement::blocked() : memory_.how;
    const std::size_t middle = from + (to - from) / 2;
    async(at, part(how, from, middle), [this, &value, from, middle](here& x) { fill(x, value, from, middle); });
    async(at, part(how, middle, to), [this, &value, middle, to](here& x) { fill(x, value, middle, to); });
  }

  detail::array_memory memory_;
  std::size_t size_ = 0;
};

}  // namespace weft
