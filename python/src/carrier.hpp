// Which thread of the system carries which worker. CPython ties a body to the thread that it began on: its thread state
// belongs to that thread, and from 3.14 on the stack is measured (cpython#139653). Weft sets a body that waits aside,
// stack and all. Here both are right: a body of Python runs on its thread's own stack and stays there, and what moves
// is the worker. Protocol: python/protocol.md.
//
// A carrier is a thread of the system. It has a worker, or it sleeps, or it is in a body that has given its worker
// away.
#pragma once
#include <Python.h>
#include <semaphore.h>

#include <boost/context/detail/fcontext.hpp>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "weft/detail/worker.hpp"
#include "weft/event.hpp"

namespace weftrt {

class carrier;
class crew;
class core;
class gil_waits;

// What a fiber has called on the thread's stack, until it is back there.
struct call {
  void (*run)(carrier& here, void* argument);
  void* argument;
  boost::context::detail::fcontext_t fiber = nullptr;  // where it is called from; changes when the worker comes back
  weft::event* over = nullptr;                         // the body's thread wants a worker again
  carrier* thread = nullptr;                           // that the body is on
};

class carrier {
 public:
  // Of this thread; nullptr: none. Read anew where a fiber may have moved.
  [[nodiscard, gnu::noinline]] static carrier* here() noexcept;
  // Calls run(argument) on the stack of the thread that carries the running worker. Who: a body of Weft, on its fiber.
  // May return on another thread.
  static void on_thread_stack(crew& all, void (*run)(carrier&, void*), void* argument);

  // The body on this thread gives its worker to another thread. Errors: std::bad_alloc, std::system_error if there can
  // be no other thread; it still has it then.
  void give_away();
  // It has one again, perhaps another, when this returns. Who: without the GIL.
  void get_back();
  [[nodiscard]] unsigned sections() const noexcept { return worker_given_; }
  // The body is called by a team: others wait for it with their workers, so it cannot give its own away.
  void keep_worker(bool yes) noexcept { is_in_team_ = yes; }
  [[nodiscard]] bool has_body() const noexcept { return current_ != nullptr; }

  // Returns whether the thread had it: a task may be called by a submission.
  bool take_gil() noexcept {
    if (PyGILState_Check() != 0) return true;
    PyEval_RestoreThread(state_);
    return false;
  }
  void leave_gil(bool had) noexcept {
    if (!had) state_ = PyEval_SaveThread();
  }

  void* job = nullptr;       // the innermost task of Python on this thread
  core* drains = nullptr;    // whose simple tasks its call is at
  unsigned nested = 0;       // tasks that were called where their result was wanted
  gil_waits* gil = nullptr;  // of this thread, where a trace is recorded

 private:
  friend class crew;
  enum class what { run, hand_over, relay, go_home };
  struct message {
    what kind;
    call* of;
  };

  explicit carrier(crew& all);
  static void loop(boost::context::detail::transfer_t t);
  static void* thread_main(void* self);
  // Sleeps until it is given a worker, and enters the fiber of that. Returns the next message; nullptr: no more.
  boost::context::detail::transfer_t idle();
  void make_state();

  crew& all_;
  PyThreadState* state_ = nullptr;
  boost::context::detail::fcontext_t base_ = nullptr;  // its own stack, while a fiber runs on the thread
  call* current_ = nullptr;                            // that began on this thread and is not over
  bool is_in_team_ = false;
  bool keeps_ = false;                    // its worker, in a blocking section: it is the reserve
  unsigned worker_given_ = 0;             // how many blocking sections this thread's body is in
  std::optional<weft::event> over_;       // of the outermost of them
  weft::detail::worker* home_ = nullptr;  // that the thread began as; nullptr: a thread of ours
  sem_t wake_;
  weft::detail::worker* given_ = nullptr;  // what to go on with: that worker,
  call* given_call_ = nullptr;             // as the fiber of that call
  bool is_extra_ = false;                  // a thread of ours
  // The thread that made the runtime: Weft takes it for worker 0 whatever it does, so it runs no bodies of Python, and
  // sleeps while another carries that worker.
  bool is_maker_ = false;
  pthread_t id_{};
};

// The carriers of a runtime.
class crew {
 public:
  crew() = default;
  // Beyond those is the reserve, which keeps its thread.
  // Who: the thread that has made the runtime.
  void open(unsigned workers, bool keeps_maker_free) noexcept {
    workers_ = workers;
    if (keeps_maker_free) maker_ = pthread_self();
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  // Each worker is back on the thread it began on, which then leaves it as it ends. Who: a body pinned to each of the
  // `workers`; returns when all have come.
  void go_home(unsigned workers);
  // Ends the threads that were made here. Who: without the GIL, when all are home.
  void end();
  // Gives up the thread states. Who: with the GIL, when the runtime is gone.
  void forget();
  [[nodiscard]] unsigned threads() noexcept;

 private:
  friend class carrier;
  carrier& mine();  // the calling thread's, made if there is none
  carrier& idle_one();
  bool pass_on(weft::detail::worker& w, call& k) noexcept;
  void put_idle(carrier& c);
  void lay_down(weft::detail::worker& w, call& k);

  std::mutex lock_;
  std::vector<carrier*> all_;
  std::vector<carrier*> idle_;
  std::vector<std::pair<weft::detail::worker*, call*>> arrived_;  // of those that go home
  std::size_t coming_ = 0;
  unsigned workers_ = 0;
  pthread_t maker_{};
};

}  // namespace weftrt
