// How a thread computes with floating-point numbers: how it rounds, what traps, whether tiny numbers are 0. A body may
// change that, as far as its own statements go. So it travels with the stack of a body (fiber.hpp), and a stack that is
// made or used again while some body waits begins with what the program had when it made the runtime: not with what the
// body that happens to wait has set.
// Which exceptions have been raised is no setting; a stack begins with none.
#pragma once
#include <cfenv>
#include <cstdint>

namespace weft::machine {

class float_control {
 public:
  // That of the calling thread, now.
  float_control() noexcept {
#if defined(__x86_64__)
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sse_), "=m"(x87_));
    sse_ &= ~raised;
#else
    std::fegetenv(&all_);
#endif
  }
  // The calling thread computes like that from now on. Cost: two instructions.
  void apply() const noexcept {
#if defined(__x86_64__)
    asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(sse_), "m"(x87_));
#else
    std::fesetenv(&all_);
#endif
  }
  // Whether the calling thread computes as threads do at first: rounds to nearest, traps nothing, keeps tiny numbers. A
  // quick look at what programs change; true does not say that nothing else is changed. Cost: three instructions.
  [[nodiscard, gnu::always_inline]] static inline bool is_usual() noexcept {
#if defined(__x86_64__)
    std::uint8_t now[4];
    asm volatile("stmxcsr %0" : "=m"(now));
    return now[1] == 0x1f;
#else
    return std::fegetround() == FE_TONEAREST;
#endif
  }
  // On processors where the switch of stacks leaves it alone, whoever is back sets what it had.
  static constexpr bool travels_by_itself =
#if defined(__x86_64__)
      true;
#else
      false;
#endif

 private:
#if defined(__x86_64__)
  static constexpr std::uint32_t raised = 0x3f;
  std::uint32_t sse_ = 0;
  std::uint16_t x87_ = 0;
#else
  std::fenv_t all_;
#endif
};

}  // namespace weft::machine
