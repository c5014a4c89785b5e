// A small number for each thread that lives, so that an object may keep something for each thread in an array. When a
// thread ends its number goes to the next one that asks, and with it whatever is kept under that number: nobody has to
// be told that a thread ended. Beyond seats_max threads at once the further ones have no number.
// A task may move to another thread wherever it may be set aside, so nobody may keep a number beyond such a point.
#pragma once
#include <cstdint>

namespace weft::memory {

inline constexpr unsigned seats_max = 2048;  // twice as many as a runtime has workers

class seat {
 public:
  // Below seats_max, and no other thread's; seats_max: this thread has none. Order: what the thread before wrote under
  // the number is seen. Cost: a load; the first call of a thread takes a lock.
  [[nodiscard]] static unsigned number() noexcept {
    if (mine_ == unasked) [[unlikely]]
      sit();
    return mine_;
  }

 private:
  struct leaver;
  static constexpr std::uint32_t unasked = ~std::uint32_t{0};
  static void sit() noexcept;
  // Read in functions of this room alone, which never switch stacks.
  static thread_local constinit std::uint32_t mine_;
};

}  // namespace weft::memory
