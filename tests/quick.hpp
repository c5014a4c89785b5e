// How much of what is repeated with other seeds. `ctest --preset quick` is for every commit, sets
// WEFT_TEST_QUICK, and gets a tenth; what runs without it, `make test` too, gets all.
#pragma once
#include <cstdint>
#include <cstdlib>

#include "sanitized.hpp"

inline const bool hurried = std::getenv("WEFT_TEST_QUICK") != nullptr;

// Sizes that are cut where code is instrumented are cut for it, too.
inline const bool brief = sanitized || hurried;

[[nodiscard]] inline std::uint64_t few(std::uint64_t all) noexcept { return hurried ? (all + 9) / 10 : all; }
