// From an address to the chunk that it is in: three levels of tables, by the bits of the address. Tables are never
// taken away, so who looks takes no lock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "memory/chunk.hpp"

namespace weft::memory {

class chunk_map {
 public:
  // nullptr: none that was put here. Of a larger one its first chunk_bytes count.
  // Who: any thread. Order: acquire; pairs with put(). Cost: three loads, each of the one before.
  [[nodiscard]] chunk* find(const void* p) const noexcept {
    const std::uint64_t n = number(p);
    const middle* const m = look(top_, n >> 2 * bits);
    const leaf* const l = m == nullptr ? nullptr : look(*m, n >> bits);
    return l == nullptr ? nullptr : look(*l, n);
  }

  // Makes room at an address, so that put() cannot fail. Who: any thread. Errors: std::bad_alloc.
  void prepare(const void* p) {
    const std::uint64_t n = number(p);
    const std::lock_guard guard(lock_);
    grow(grow(top_, n >> 2 * bits, middles_), n >> bits, leaves_);
  }
  // Who: who has the memory at its address. Order: release.
  void put(const void* p, chunk* c) noexcept {
    const std::uint64_t n = number(p);
    leaf* const l = look(*look(top_, n >> 2 * bits), n >> bits);
    detail::poke_release(l->at[n & mask], c);
  }

 private:
  static constexpr unsigned bits = 9;
  static constexpr std::uint64_t mask = (1u << bits) - 1;
  template <class T> struct table {
    detail::cell<T*> at[1u << bits];
  };
  using leaf = table<chunk>;
  using middle = table<leaf>;

  static std::uint64_t number(const void* p) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    static_assert(chunk_bytes == 1u << 21);
    WEFT_ASSERT(address >> (21 + 3 * bits) == 0);  // no system gives more to who does not ask for it
    return address / chunk_bytes;
  }
  template <class T> static T* look(const table<T>& t, std::uint64_t n) noexcept {
    return detail::peek_acquire(t.at[n & mask]);
  }
  template <class T> static T& grow(table<T>& t, std::uint64_t n, std::vector<std::unique_ptr<T>>& all) {
    T* found = look(t, n);
    if (found == nullptr) {
      all.push_back(std::make_unique<T>());
      found = all.back().get();
      detail::poke_release(t.at[n & mask], found);
    }
    return *found;
  }

  std::mutex lock_;
  table<middle> top_;
  std::vector<std::unique_ptr<middle>> middles_;
  std::vector<std::unique_ptr<leaf>> leaves_;
};

}  // namespace weft::memory
