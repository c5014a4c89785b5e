// The lock of something that belongs to the process and not to one runtime: threads that no runtime knows take it, too.
// Under it nothing waits and nothing is a step of a modelled machine, which would let another core in; so src/sched,
// which knows no threads, may use it, and a modelled machine never finds it taken.
#pragma once
#include <mutex>
#include <thread>

namespace weft::base {

using process_lock = std::mutex;
using process_hold = std::scoped_lock<process_lock>;

// While a thread waits for another one of the process that is about to leave.
inline void let_others_run() noexcept { std::this_thread::yield(); }

}  // namespace weft::base
