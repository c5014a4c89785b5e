// The program's side of `weft top`: a page that others find, and a thread that answers who asks there
// (trace/live_page.hpp). The thread sleeps in the kernel until somebody does.
#pragma once
#include <pthread.h>

#include <span>

#include "sched/admit/any_engine.hpp"
#include "trace/live_page.hpp"

namespace weft {

class live_counters final : public sched::onlooker {
 public:
  // Where the system refuses the page or the thread, nobody can look, and that is said on stderr: it is no reason
  // not to run. Who: the thread that makes the runtime, when its workers run.
  live_counters(sched::any_engine& of, const char* policy) noexcept;
  // The thread has ended. In a process that fork() made there is none, and the page stays as it is: it is the
  // other's.
  ~live_counters() override;
  live_counters(const live_counters&) = delete;
  live_counters& operator=(const live_counters&) = delete;

 private:
  // Return what was refused, or nullptr. Errors: std::bad_alloc.
  [[nodiscard]] const char* make_page(const char* policy);
  [[nodiscard]] const char* make_thread() noexcept;
  [[nodiscard]] std::span<trace::live_row> rows() noexcept;
  void drop() noexcept;
  void answer() noexcept;  // until over

  sched::any_engine& engine_;
  int file_ = -1;
  std::size_t bytes_ = 0;
  trace::live_head* head_ = nullptr;
  pthread_t thread_{};
  bool has_thread_ = false;
};

}  // namespace weft
