// A section that one task runs from its first body to its last, whatever that leaves to others.
#pragma once
#include <exception>

#include "weft/clause.hpp"
#include "weft/handle.hpp"
#include "weft/ordered.hpp"
#include "weft/runtime.hpp"

namespace weft::ordered_run {

// Calls body() as a task of this runtime, whichever the calling thread belongs to besides, and returns when that and
// all tasks that it submits are done; the time that took is added to the counts. Errors: what the body throws; a
// cancelled scope's, and then it may not have run.
template <class Body> void run_section(runtime& rt, ordered_counts& counts, Body body) {
  const double began = rt.now_ns();
  handle<void> over;
  over.name("ordered section");
  std::exception_ptr thrown;  // the caller hears of it, and nobody else
  rt.submit(write(over), subtasks(), named("ordered section"), [&body, &thrown] {
    try {
      body();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  rt.wait(over);
  counts.seconds += (rt.now_ns() - began) * 1e-9;
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace weft::ordered_run
