// Tasks that wait, each naming k handles (SuperGlue §5.3): what does one more dependency cost? All tasks read the same
// k handles, so nothing ever holds them up but the bookkeeping, and all are submitted before the first may run; both
// submission and execution are timed. Each handle is written once before that, and once after the readers, which must
// not see it; and it must find as many finished accesses as came before it.
#pragma once
#include <span>

#include "micro.hpp"

namespace weft::apps::micro {

// The rows of the table. Up to clauses_max each has a program of its own, with a clause for each dependency; above, the
// handles are one range.
inline constexpr std::size_t clauses_max = 32;
[[nodiscard]] std::span<const std::size_t> dependency_counts() noexcept;

// Any number of dependencies. Submits `tasks` readers beside those that write the handles before and after: two for
// each handle, or two in all where the handles are a range.
[[nodiscard]] sample run_dependencies(runtime& rt, std::size_t dependencies, std::size_t tasks, std::size_t grain_ns,
                                      const mistake& planted = {});

// The slope of the straight line that fits values[i] at counts[i] best.
[[nodiscard]] double slope(std::span<const std::size_t> counts, std::span<const double> values) noexcept;

}  // namespace weft::apps::micro
