// Which sanitizer a test is compiled with. g++ says so by a macro, clang by a feature.
#pragma once
#include <span>

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

// One thread plays all cores of a modelled machine: ThreadSanitizer has nothing to see there, and takes minutes not to
// see it. What runs there is the same in every build, so the others cover it.
inline constexpr bool real_threads_only = thread_sanitizer;
inline constexpr const char* machine_names[] = {"host", "virtual"};
inline constexpr std::span<const char* const> both_machines{machine_names, real_threads_only ? 1u : 2u};

#undef WEFT_HAS_FEATURE
