#include "memory/seat.hpp"

#include <bit>
#include <mutex>

#include "base/assert.hpp"

namespace weft::memory {

namespace {

class numbers {
 public:
  unsigned take() noexcept {
    const std::lock_guard guard(lock_);
    for (unsigned w = 0; w < seats_max / 64; ++w)
      if (~taken_[w] != 0) {
        const auto bit = static_cast<unsigned>(std::countr_one(taken_[w]));
        taken_[w] |= std::uint64_t{1} << bit;
        return w * 64 + bit;
      }
    return seats_max;
  }
  void give_back(unsigned n) noexcept {
    const std::lock_guard guard(lock_);
    WEFT_ASSERT((taken_[n / 64] >> n % 64 & 1) == 1);
    taken_[n / 64] &= ~(std::uint64_t{1} << n % 64);
  }

 private:
  std::mutex lock_;
  std::uint64_t taken_[seats_max / 64] = {};
};
constinit numbers all;

}  // namespace

thread_local constinit std::uint32_t seat::mine_ = unasked;

struct seat::leaver {
  ~leaver() {
    all.give_back(mine_);
    mine_ = seats_max;  // what still runs in the thread goes without
  }
};

void seat::sit() noexcept {
  mine_ = all.take();
  if (mine_ == seats_max) return;
  static thread_local leaver at_the_end;
  static_cast<void>(at_the_end);
}

}  // namespace weft::memory
