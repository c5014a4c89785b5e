// The slow halves of weft/detail/branch.hpp and scope.hpp: a call of the runtime that the worker belongs to, if there
// is one.
#include "weft/detail/branch.hpp"
#include "weft/detail/scope.hpp"
#include "weft/error.hpp"

namespace weft::detail {

worker nobodys_worker;

void fork_slowly(worker& w, branch& b) {
  if (w.engine != nullptr) w.engine->fork(w, b);
}

bool join_slowly(worker& w, branch& b) { return w.engine == nullptr || w.engine->join(w, b); }

void drop_slowly(worker& w, branch& b) noexcept {
  if (w.engine != nullptr) w.engine->drop(w, b);
}

void open_slowly(worker& w, scope& s) { w.engine->open_scope(w, s); }

void close_slowly(worker& w, scope& s) { w.engine->close_scope(w, s); }

void throw_async_outside() {
  throw error("weft: async with an access, a pin, a priority or an event is called on a thread that no runtime knows; "
              "call runtime::submit there, or make the runtime on this thread");
}

}  // namespace weft::detail
