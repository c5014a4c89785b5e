// The lock of something that belongs to the process and not to one runtime: threads that no runtime knows take it, too.
// Under it nothing waits and nothing is a step of a modelled machine, which would let another core in. So src/sched,
// which knows no threads, may use it, and no core of a modelled machine finds it taken by another one.
#pragma once
#include <mutex>
#include <thread>

namespace weft::base {

using process_lock = std::mutex;
using process_hold = std::scoped_lock<process_lock>;

// Called by a thread that waits until another one has left what the lock guards.
inline void let_others_run() noexcept { std::this_thread::yield(); }

}  // namespace weft::base
