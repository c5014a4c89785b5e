// Parallel reductions (SuperGlue §4.5): tasks that add to one datum run at the same time, each into a buffer of its own
// when another one is busy with the datum; buffers are merged as they meet, and the rest is applied before anyone can
// look. "Anyone" is: a task with another kind of access to the handle, a wait for the handle, weft::runtime::get, a
// wait for all tasks (rt.wait() outside of tasks), and the end of the runtime. (The paper applies only at the next
// access; a program that waits and then reads saw partial sums.) A wait for children - rt.wait() in a body, the end of
// a finish - applies nothing: what is open may be others', who still add to it, or the body's own. A body that looks at
// a sum asks rt.get(h), or rt.wait(h) first.
//
//   weft::reduction<double> energy;                                        // += into zero
//   rt.submit(weft::reduce(energy), [](double& part) { part += ...; });
//   rt.get(energy)
//
// What "add" means is an Op with three functions and a buffer type, which may differ from T (a histogram gathered in
// shorts, a force field of a few particles):
//   using buffer = ...;
//   static buffer create(const T& target);              a neutral buffer; may look at target's shape, not at its values
//   static void merge(buffer& into, buffer& from);      from is destroyed next
//   static void apply(T& target, buffer& from);
// What one of them throws, the task throws that reduces, or the one that applies what is left over: the handle has
// failed then, and what was in the two buffers is lost.
// The operation must be associative and commutative as far as you care: rounding may differ from run to run on real
// cores, and is the same on every run of a virtual machine. The same bits everywhere: weft/repeatable.hpp.
// Cost: two lock sections or two exchanges per task beside the access; a buffer is made only when two tasks overlap.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <type_traits>

#include "weft/clause.hpp"
#include "weft/detail/worker.hpp"
#include "weft/handle.hpp"

namespace weft {

// The default operation: T's +=, starting from T{}.
template <class T> struct plus {
  using buffer = T;
  [[nodiscard]] static T create(const T&) { return T{}; }
  static void merge(T& into, const T& from) { into += from; }
  static void apply(T& target, const T& from) { target += from; }
};

namespace detail {

// Tells the library how to apply what is left over for the reduction with this state, and that it is gone.
void register_reduction(handle_state& h, void (*apply)(handle_state& h));
void forget_reduction(handle_state& h) noexcept;

// Deletes what it owns, unless that is nullptr: <memory> is too much to include for it.
template <class T> struct owned {
  T* it;
  ~owned() { delete it; }
};

}  // namespace detail

template <class T, class Op = plus<T>> class reduction : public handle<T> {
 public:
  using operation = Op;
  using buffer = typename Op::buffer;
  static constexpr bool is_numbered = false;

  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit reduction(Args&&... args) : handle<T>(static_cast<Args&&>(args)...) {
    detail::register_reduction(this->state(), [](detail::handle_state& h) { of(h).apply(); });
  }
  ~reduction() {
    this->state().drain();
    detail::forget_reduction(this->state());
    delete static_cast<buffer*>(left_over_.raw);
  }

  // What one task writes to: the datum itself if nobody else does, else a buffer. give_back() when the body is over;
  // the destructor does so where the body has thrown.
  class part {
   public:
    explicit part(reduction& r) : r_(r), engine_(*r.state().engine) {
      if constexpr (std::is_same_v<buffer, T>) {
        if (engine_.try_exclusive(r.state())) {
          target_ = &r.unguarded();
          return;
        }
      }
      own_ = static_cast<buffer*>(engine_.exchange(r.state(), r.left_over_, nullptr));
      if (own_ == nullptr) own_ = new buffer(Op::create(r.unguarded()));
      target_ = own_;
    }
    ~part() {
      if (target_ == nullptr) return;
      try {
        give_back();
      } catch (...) {  // the exception that is on its way came first
      }
    }
    part(const part&) = delete;
    part& operator=(const part&) = delete;

    [[nodiscard]] buffer& get() noexcept { return *target_; }

    // Leaves the buffer with the handle. If another lies there, merges the two and tries again: every round takes one
    // buffer out of the world, so it ends. Errors: what merge() throws; both buffers are gone then.
    void give_back() {
      target_ = nullptr;
      if (own_ == nullptr) return engine_.release_exclusive(r_.state());
      while (auto* other = static_cast<buffer*>(engine_.exchange(r_.state(), r_.left_over_, own_))) {
        own_ = static_cast<buffer*>(engine_.exchange(r_.state(), r_.left_over_, nullptr));
        if (own_ == nullptr) {
          own_ = other;
          continue;
        }
        const detail::owned<buffer> from{other};
        detail::owned<buffer> into{own_};
        Op::merge(*own_, *other);
        into.it = nullptr;
      }
    }

   private:
    reduction& r_;
    detail::engine_base& engine_;
    buffer* own_ = nullptr;
    buffer* target_ = nullptr;
  };

 private:
  [[nodiscard]] static reduction& of(detail::handle_state& h) noexcept {
    return static_cast<reduction&>(reinterpret_cast<handle_base&>(h));
  }
  // Who: the task that closes a group of reduces; nobody else touches the handle then.
  void apply() {
    auto* rest = static_cast<buffer*>(left_over_.raw);
    left_over_.raw = nullptr;
    if (rest == nullptr) return;
    const detail::owned<buffer> until_applied{rest};
    Op::apply(this->unguarded(), *rest);
  }

  detail::cell<void*> left_over_;
};

namespace detail {
template <class R> struct reduce_clause {
  R& target;
};
}  // namespace detail

// Access clause: the body gets Op::buffer&, to add to. Reduces in a row run together.
template <class T, class Op> [[nodiscard]] auto reduce(reduction<T, Op>& r) noexcept {
  return detail::reduce_clause<reduction<T, Op>>{r};
}

}  // namespace weft
