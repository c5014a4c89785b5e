// Something of type T for each word of the program's memory, found by the word's address.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "base/assert.hpp"

namespace weft::machine {

// On real cores by a hash of the address: there are 2^Bits of them, and several words may share one. Who: any thread.
template <class T, unsigned Bits> class by_hash {
 public:
  [[nodiscard]] T& of(std::uintptr_t word) noexcept {
    WEFT_DEBUG_ASSERT(word % 8 == 0);
    return all_[(word >> 3) * 0x9e3779b97f4a7c15u >> (64 - Bits)];
  }

 private:
  std::unique_ptr<T[]> all_ = std::make_unique<T[]>(std::size_t{1} << Bits);
};

// In virtual time nothing may depend on addresses, which differ from run to run: there words are numbered as they are
// met, and each has a T of its own. Who: the one thread that a modelled machine has. Errors: std::bad_alloc.
template <class T> class by_number {
 public:
  [[nodiscard]] T& of(std::uintptr_t word) {
    const auto [at, is_new] = numbers_.try_emplace(word, all_.size());
    if (is_new) all_.emplace_back();
    WEFT_ASSERT(at->second < all_.size());
    return all_[at->second];
  }

 private:
  struct alignas(64) alone : T {};
  std::unordered_map<std::uintptr_t, std::size_t> numbers_;
  std::deque<alone> all_;
};

}  // namespace weft::machine
