// A line of memory is asked for before it is needed. A hint: it may be ignored, and no address is wrong.
#pragma once

namespace weft::base {

// The line will be written to: it comes to be this core's alone. Cost: one instruction, where there is one for it.
inline void will_write(const void* address) noexcept {
#if defined(__x86_64__)
  // A compiler for any x86-64 would fetch a copy, as for reading; processors without this instruction take it for none.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

// The line behind that of the address.
[[nodiscard]] inline const void* next_line(const void* address) noexcept {
  return static_cast<const char*>(address) + 64;
}

// It will be read, and others may keep it. Cost: one instruction.
inline void will_read(const void* address) noexcept {
#if defined(__x86_64__)
  // Not the builtin: g++ 12 takes a function that does nothing else for one without effect, and leaves out the call.
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address);
#endif
}

}  // namespace weft::base
