// The runtimes of this process in which others create what a thread submits (creation.hpp). A handle learns which
// runtime uses it when its first task is created; until then only this list tells its destructor, and its idle(), that
// a task on it may be on the way.
// Not for runtimes that create inline: while there is no other, a handle pays one load.
#pragma once
#include <cstdint>

#include "base/atomic.hpp"

namespace weft::sched {

// A runtime's entry.
class decoupled {
 public:
  decoupled() = default;
  decoupled(const decoupled&) = delete;
  decoupled& operator=(const decoupled&) = delete;
  virtual ~decoupled() = default;

  // Returns when what the calling thread has submitted so far is created.
  virtual void await_creation() noexcept = 0;
  // Whether nothing is left to create.
  [[nodiscard]] virtual bool all_created() noexcept = 0;

  [[nodiscard]] static bool any() noexcept;
  static void await_all() noexcept;
  [[nodiscard]] static bool none_pending() noexcept;

 protected:
  void enlist();
  // Returns when nobody is inside. Who: the runtime's end, before the entry goes. forked: whoever was inside is lost.
  void strike(bool forked) noexcept;

 private:
  detail::cell<std::uint32_t> visitors_;
};

}  // namespace weft::sched
