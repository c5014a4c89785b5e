// What bodies get that run at the same time as others of their section, with nothing between them. Nothing is logged,
// and nothing runs twice. Who: one thread at a time. Order: a load acquires, a store releases, and an exchange is both:
// who finds what another body has stored (a node that it has filled and linked, say) sees what that had stored before.
#pragma once
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "ordered/word.hpp"
#include "weft/error.hpp"
#include "weft/ordered.hpp"

namespace weft::ordered_run {

class side_by_side : public detail::ordered_hooks {
 public:
  side_by_side() = default;
  side_by_side(const side_by_side&) = delete;
  side_by_side& operator=(const side_by_side&) = delete;
  // Who: when nobody looks there any more.
  void free_released() noexcept {
    for (const memory& m : released_) ::operator delete(m.at, std::align_val_t(m.alignment));
    released_.clear();
  }

 protected:
  ~side_by_side() { free_released(); }
  [[nodiscard]] virtual const char* executor() const noexcept = 0;

 private:
  struct memory {
    void* at;
    std::size_t alignment;
  };

  void load(const void* from, void* to, std::size_t bytes) override {
    using namespace speculative;
    for_each_word(from, bytes, [&](std::uintptr_t word, byte_mask mask, unsigned first, unsigned here, std::size_t at) {
      const std::uint64_t value = read_memory<base::acquire>(word, mask) >> (8 * first);
      std::memcpy(static_cast<std::byte*>(to) + at, &value, here);
    });
  }
  void store(void* to, const void* from, std::size_t bytes) override {
    using namespace speculative;
    for_each_word(to, bytes, [&](std::uintptr_t word, byte_mask mask, unsigned first, unsigned here, std::size_t at) {
      std::uint64_t value = 0;
      std::memcpy(&value, static_cast<const std::byte*>(from) + at, here);
      write_memory<base::release>(word, value << (8 * first), mask);
    });
  }
  [[nodiscard]] std::uint64_t load_word(const void* from) override {
    return speculative::read_piece<std::uint64_t, base::acquire>(reinterpret_cast<std::uintptr_t>(from));
  }
  void store_word(void* to, std::uint64_t value) override {
    speculative::write_piece<std::uint64_t, base::release>(reinterpret_cast<std::uintptr_t>(to), value);
  }
  [[nodiscard]] bool exchange_if(void* at, const void* expected, const void* value, std::size_t bytes) override {
    switch (bytes) {
    case 1: return exchange<std::uint8_t>(at, expected, value);
    case 2: return exchange<std::uint16_t>(at, expected, value);
    case 4: return exchange<std::uint32_t>(at, expected, value);
    default: WEFT_ASSERT(bytes == 8); return exchange<std::uint64_t>(at, expected, value);
    }
  }
  template <class T> [[nodiscard]] static bool exchange(void* at, const void* expected, const void* value) noexcept {
    WEFT_ASSERT(reinterpret_cast<std::uintptr_t>(at) % sizeof(T) == 0);  // else it may be two exchanges
    T was, becomes;
    std::memcpy(&was, expected, sizeof was);
    std::memcpy(&becomes, value, sizeof becomes);
    return base::atomic_ref<T>(*static_cast<T*>(at))
        .compare_exchange_strong(was, becomes, base::acq_rel, base::acquire);
  }
  void read_only(const void*, std::size_t) override {}
  void work(std::uint64_t) override {}
  void* allocate(std::size_t bytes, std::size_t alignment) override {
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void release(void* at, std::size_t, std::size_t alignment) override {
    if (at != nullptr) released_.push_back({at, alignment});
  }
  void serialize() override {
    throw error("weft: executor '" + std::string(executor()) +
                "' runs bodies at the same time, and this one wants to be the oldest (serialize). Use the executor "
                "'speculative' or 'serial'");
  }

  std::vector<memory> released_;
};

}  // namespace weft::ordered_run
