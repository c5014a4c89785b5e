// Assertions that stay on in release builds. They guard invariants of Weft itself; misuse by the caller throws
// weft::error instead. Cost: one predictable branch, so they are not used inside the inline owner path.
// WEFT_DEBUG_ASSERT is for paths that are counted in instructions, and for checks that cost more than a branch: every
// build without NDEBUG has it. In the others the condition is compiled and not evaluated, so it cannot rot.
#pragma once

namespace weft::base {
// Prints the broken invariant and aborts: the state is unknown, going on could lose work silently.
[[noreturn]] void assertion_failed(const char* text, const char* file, int line) noexcept;
}  // namespace weft::base

#define WEFT_ASSERT(condition)                                                                                         \
  (static_cast<bool>(condition) ? void(0) : ::weft::base::assertion_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define WEFT_DEBUG_ASSERT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define WEFT_DEBUG_ASSERT(condition) WEFT_ASSERT(condition)
#endif
