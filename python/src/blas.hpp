// The OpenBLAS libraries of this process, as NumPy and SciPy bring them along: one thread for each call while runtimes
// live, and inside a team the team's workers, by OpenBLAS' own callback. Nothing of it before the first runtime, and
// all as it was after the last.
#pragma once
#include "weft/openblas.hpp"

namespace weftrt::blas {

// A runtime lives. What is loaded later joins when a task with a team is submitted. Who: with the GIL.
void one_more_runtime();
void one_less_runtime();
// Looks for libraries again. Who: any thread that is in no team.
void look();
// All of them as one, for weft::openblas_guest.
[[nodiscard]] const weft::openblas& all() noexcept;

}  // namespace weftrt::blas
