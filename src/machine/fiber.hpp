// A fiber: a stack that can be left and entered again. Workers run their loop on fibers, so that a waiting body can be
// set aside, stack and all, while its worker goes on with another (ARCHITECTURE.md, "Waiting").
// Switching is Boost.Context's fcontext layer, one below its fiber class, which enters a new stack once at creation,
// unseen by the sanitizers, and frees it by unwinding (docs/decisions/0003). What is added here is what the sanitizers
// need to follow a switch.
// Who: a fiber is entered by one thread at a time; it may be entered from another thread than it was left on.
#pragma once
#include <cstddef>

#include <boost/context/detail/fcontext.hpp>

#include "machine/float_control.hpp"
#include "machine/stack.hpp"
#include "weft/detail/worker.hpp"

namespace weft::machine {

class fiber {
 public:
  // Something to do after a switch, on the stack that was switched to, when the fiber left is completely saved: only
  // then may others be told that it can be entered. The action lies on the stack that was left, so run() must not touch
  // it once it has told them.
  struct action {
    void (*run)(action& self);
  };

  detail::place_of_body where;  // kept by who switches workers between stacks

  fiber();  // stands for the stack the calling thread is on
  // A new stack of `bytes` (stack.hpp). On the first jump to it, entry(argument) is called, which computes as `floats`
  // says; it must end by jump_out(). Errors: std::bad_alloc if no stack can be had.
  fiber(std::size_t bytes, void (*entry)(void*), void* argument, const float_control& floats = {});
  ~fiber();  // only when never entered, or left by jump_out()
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  // Leaves this fiber, which is running, for `to`; returns when something jumps back. `after` runs on `to` first.
  // Cost: about 6 ns on the host.
  void jump(fiber& to, action* after);
  // Leaves this fiber for good.
  [[noreturn]] void jump_out(fiber& to);

 private:
  struct message;  // what the leaving side tells the arriving side
  static void enter(boost::context::detail::transfer_t t);
  static void arrived(boost::context::detail::transfer_t t);

  boost::context::detail::fcontext_t context_ = nullptr;  // valid while left
  stack stack_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  float_control floats_;
  // For the sanitizers; unused, but of the same layout, without them.
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
  void* tsan_ = nullptr;
};

}  // namespace weft::machine
