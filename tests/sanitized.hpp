// Which sanitizer a test is compiled with. g++ says so by a macro, clang by a feature.
#pragma once

#if defined(__has_feature)
#define WEFT_HAS_FEATURE(x) __has_feature(x)
#else
#define WEFT_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || WEFT_HAS_FEATURE(address_sanitizer)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || WEFT_HAS_FEATURE(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif

// Instrumented programs are 5 to 20 times slower: they do less of the same.
inline constexpr bool sanitized = address_sanitizer || thread_sanitizer;

#undef WEFT_HAS_FEATURE
