// The slow halves of weft/detail/branch.hpp: a call of the runtime that the worker belongs to, if there is one.
#include "weft/detail/branch.hpp"

namespace weft::detail {

worker nobodys_worker;

void fork_slowly(worker& w, branch& b) {
  if (w.engine != nullptr) w.engine->fork(w, b);
}

bool join_slowly(worker& w, branch& b) { return w.engine == nullptr || w.engine->join(w, b); }

void drop_slowly(worker& w, branch& b) noexcept {
  if (w.engine != nullptr) w.engine->drop(w, b);
}

}  // namespace weft::detail
