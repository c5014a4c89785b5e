// What bodies of Python waited for the lock of their interpreter, the GIL: a counter that weftrt adds to the trace of a
// run (python/src/gil.hpp). Such a wait is part of the body's time.
#pragma once
#include <string>
#include <vector>

#include "analysis.hpp"
#include "text.hpp"

namespace weft::tool::report {

// Of each task; empty: nothing of the kind was recorded, so there was no such lock, or nobody waited.
[[nodiscard]] std::vector<ns> gil_waits(const trace::file& r);
// Of the time in bodies. 0: nobody waited.
[[nodiscard]] double gil_share(const trace::file& r);
// From this share on it is worth a word.
inline constexpr double gil_from = 0.05;

// Nothing below that; else what to do.
[[nodiscard]] std::vector<advice> gil_advice(const trace::file& r);

}  // namespace weft::tool::report
