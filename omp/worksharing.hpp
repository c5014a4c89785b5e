// Worksharing constructs. Each member counts the constructs it meets; the k-th of the team is in place k % n of a ring,
// which whoever comes first sets up, and the last to leave frees for construct k + n. A member that is n constructs
// ahead of another - all nowait - waits.
#pragma once
#include "omp/abi.hpp"
#include "omp/team.hpp"

namespace weft::omp {

// The next construct of the team, for the calling member. is_first: the caller sets it up, and then says ready().
struct met_share {
  workshare& share;
  bool is_first;
};
[[nodiscard]] met_share meet(thread& th) noexcept;
void ready(thread& th, workshare& w) noexcept;
void leave(thread& th) noexcept;

[[nodiscard]] inline position& at(thread& th) noexcept { return th.now->of->members[th.number].at; }

// Returns when it is the turn of the chunk that the caller is at, or the loop is cancelled.
void await_turn(thread& th, workshare& w) noexcept;

// Task reductions of a construct: of the member that sets it up, and of all others once it is ready.
void begin_shared_reductions(thread& th, workshare& w, std::uintptr_t* list, bool is_first);
void join_shared_reductions(thread& th, const workshare& w, std::uintptr_t* list) noexcept;

}  // namespace weft::omp
