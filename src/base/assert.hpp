// Assertions that stay on in release builds. They guard invariants of Weft itself; misuse by the caller throws
// weft::error instead. Cost: one predictable branch, so they are not used inside the inline owner path.
#pragma once

namespace weft::base {
// Prints the broken invariant and aborts: the state is unknown, going on could lose work silently.
[[noreturn]] void assertion_failed(const char* text, const char* file, int line) noexcept;
}  // namespace weft::base

#define WEFT_ASSERT(condition)                                                                                         \
  (static_cast<bool>(condition) ? void(0) : ::weft::base::assertion_failed(#condition, __FILE__, __LINE__))
