// Futures: what the body of a task returns, for whoever asked for it.
//
//   weft::future<double> f = rt.submit(weft::returns(), weft::read(a), [](const matrix& a) { return trace(a); });
//   rt.submit(weft::read(f), weft::write(b), [](const double& t, matrix& b) { b /= t; });   // after it, with its value
//   std::printf("%g\n", f.get());
//
// A future is a handle that its task alone writes. So everything that goes for a handle goes for it: a task that reads
// it runs after its task and gets the value, after(f) gives the order without the value, and a failure poisons it and
// skips who reads it. Other than a handle it may be copied and moved; all copies share one value, which is gone when
// neither a copy nor a task that reads it is left. Letting go of the last one never waits. OpenMP's taskwait with
// depend is f.wait(); std::async's future is this one, without its waiting destructor.
//
// A coroutine whose parameters have a weft::runtime& (or that is a member function with such a parameter) may return a
// future. It begins as a task of that runtime. Where it awaits a future it lets go of its worker, and goes on as a task
// when that is there; nothing is kept but its frame. Each that waits counts for two tasks of options::window.
//
//   weft::future<int> sum(weft::runtime& rt, const node* n) {
//     if (n == nullptr) co_return 0;
//     weft::future<int> left = sum(rt, n->left), right = sum(rt, n->right);
//     co_return n->value + co_await left + co_await right;
//   }
//
// Its parameters live as long as it; what they refer to must. An exception that leaves it is what the future fails
// with. Cost: an allocation and two accesses beside what submit() costs; a task that nobody asks costs what it did
// without this. A coroutine costs an event more (weft/event.hpp), and each wait in it that does not find its value a
// task.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <coroutine>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>

#include "weft/detail/arguments.hpp"
#include "weft/detail/future_state.hpp"
#include "weft/runtime.hpp"

namespace weft {

template <class T> class future;

namespace detail {
template <class T> struct future_promise;
template <class... Done> struct submit_returning_at;
// Containers of what cannot be copied say that they can.
template <class T> inline constexpr bool can_be_copied = std::is_copy_constructible_v<T>;
template <class T>
  requires requires { typename T::value_type; }
inline constexpr bool can_be_copied<T> =
    std::is_copy_constructible_v<T> && std::is_copy_constructible_v<typename T::value_type>;
template <class T> struct future_clause {
  const future<T>& of;
  [[nodiscard]] future<T> kept() const noexcept { return of; }
};
template <class... Args> [[nodiscard]] auto submit_returning(engine_base& e, Args&&... clauses_and_body);
}  // namespace detail

// Clause of runtime::submit, which then returns a weft::future of what the body returns. A reference is copied.
[[nodiscard]] inline detail::returns_clause returns() noexcept { return {}; }

template <class T> class future {
 public:
  using value_type = T;
  using promise_type = detail::future_promise<T>;
  future() noexcept = default;

  // Whether there is something to wait for. Errors: all that waits or reads throws weft::error if not.
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(state_); }
  // Whether the task is done, so that get() does not wait for it. Order: relaxed, a hint.
  [[nodiscard]] bool ready() const noexcept { return valid() && state_->data.version() != 0; }
  // Returns when the task is done, as runtime::wait(h) does: in a body that is set aside meanwhile, other threads may
  // wait, and the thread that made the runtime runs tasks. The value stays when the runtime has ended.
  // Errors: what the body threw, or why it was not called, each time; what children and events of the task failed with,
  // until runtime::wait() has thrown it. That throws the others, too, as it does for handles.
  void wait() const { state().await(); }
  // Waits, then gives the value, which lives as long as a copy of this; the last copy, if it is itself about to go,
  // gives it away, and one that is not the last a copy of it. A value that cannot be copied is given away when the
  // tasks that read it are done. Errors: as wait(); weft::error if such a one is asked for while there are other
  // copies.
  decltype(auto) get() const& {
    wait();
    if constexpr (!std::is_void_v<T>) return static_cast<const T&>(state_->value());
  }
  T get() && {
    wait();
    if constexpr (!std::is_void_v<T>) {
      if constexpr (detail::can_be_copied<T>) {
        if (!detail::is_only_share(*state_)) return static_cast<const T&>(state_->value());
      } else {
        state_->await_readers();
        if (!detail::is_only_share(*state_)) detail::throw_value_is_shared();
      }
      return std::move(state_->value());
    }
  }
  // A task after this one, with its value: submit(returns(), read(*this), f), in the same runtime, which is there.
  template <class F> [[nodiscard]] auto then(F&& f) const {
    if constexpr (std::is_void_v<T>)
      return submit_returning(*state().engine, detail::order_clause<detail::kind_read>{state_->order()},
                              static_cast<F&&>(f));
    else
      return submit_returning(*state().engine, detail::future_clause<T>{*this}, static_cast<F&&>(f));
  }

  [[nodiscard]] detail::future_state<T>& state() const {
    if (!state_) [[unlikely]]
      detail::throw_no_future();
    return *state_;
  }

 private:
  template <class...> friend struct detail::submit_returning_at;
  friend detail::future_promise<T>;
  explicit future(detail::share_of<detail::future_state<T>> s) noexcept : state_(std::move(s)) {}

  detail::share_of<detail::future_state<T>> state_;
};

// This task runs after f's, and its body gets the value. It keeps a copy of f meanwhile.
template <class T>
  requires(!std::is_void_v<T>)
[[nodiscard]] auto read(const future<T>& f) {
  static_cast<void>(f.state());  // there is one
  return detail::future_clause<T>{f};
}
// This task runs after f's.
template <class T> [[nodiscard]] auto after(const future<T>& f) {
  return detail::order_clause<detail::kind_read>{f.state().order()};
}

namespace detail {

template <std::uint8_t Kind> struct access_traits<order_clause<Kind>> : one_access {
  static constexpr bool plain = true;
  using type = void;
  static constexpr std::uint8_t kind = Kind;
};
template <std::uint8_t Kind> void note(record&, access*& a, const order_clause<Kind>& c) noexcept {
  (a++)->handle_and_kind = reinterpret_cast<std::uintptr_t>(&c.target.state()) | kind_bits(Kind);
}

template <class T> struct access_traits<future_clause<T>> : one_access {
  static constexpr bool plain = true;
  static constexpr bool keeps = true;
  using type = T&;
  static constexpr std::uint8_t kind = kind_read;
};
template <class T> void note(record&, access*& a, const future_clause<T>& c) noexcept {
  (a++)->handle_and_kind = reinterpret_cast<std::uintptr_t>(&c.of.state().done()) | kind_bits(kind_read);
}

// What a body returns that is called with the data of its clauses, as caller does it.
template <class... Data> struct given_data {
  template <class Body> using result = std::invoke_result_t<Body&, Data...>;
  template <class Body> static constexpr bool fits = std::is_invocable_v<Body&, Data...>;
  template <class More> using with = given_data<Data..., More>;
};
template <class Clause, class Before> auto data_with() {
  using traits = access_traits<Clause>;
  if constexpr (traits::is_array_of_streams) {
    return typename Before::template with<std::span<const std::span<typename traits::element>>>{};
  } else if constexpr (traits::stretches != 0) {
    return typename Before::template with<std::span<typename traits::element>>{};
  } else if constexpr (traits::is_range) {
    if constexpr (std::is_void_v<typename traits::type>)
      return Before{};
    else
      return typename Before::template with<data_view<typename traits::type, traits::kind>>{};
  } else if constexpr (!traits::is_access) {
    return Before{};
  } else if constexpr (requires { typename traits::reduction; }) {
    return typename Before::template with<decltype(std::declval<typename traits::reduction::part&>().get())>{};
  } else if constexpr (std::is_void_v<typename traits::type>) {
    return Before{};
  } else {
    return typename Before::template with<datum<typename traits::type, traits::kind>>{};
  }
}
template <class Before, class... Clauses> struct data_of {
  using type = Before;
};
template <class Before, class Clause, class... Rest> struct data_of<Before, Clause, Rest...>
    : data_of<decltype(data_with<Clause, Before>()), Rest...> {};

// The body of a task that somebody has asked for its result.
template <class Body, class T> class returning {
 public:
  returning(share_of<future_state<T>> to, Body&& body) : body_(std::move(body)), to_(std::move(to)) {}
  returning(share_of<future_state<T>> to, const Body& body) : body_(body), to_(std::move(to)) {}
  returning(returning&&) = default;
  ~returning() {
    if (to_ && !was_called_) to_->was_not_called();
  }
  template <class... Data>
    requires std::is_invocable_v<Body&, Data...>
  void operator()(Data&&... data) {
    was_called_ = true;
    try {
      to_->set([&]() -> decltype(auto) { return body_(static_cast<Data&&>(data)...); });
    } catch (...) {
      to_->failure = std::current_exception();
      throw;
    }
  }

 private:
  Body body_;
  share_of<future_state<T>> to_;
  bool was_called_ = false;
};

// submit(c1, returns(), c2, body) becomes builder<...>::submit(e, body, write of the future, c1, c2).
template <class... Done> struct submit_returning_at {
  template <class Body> static auto go(engine_base& e, const Done&... done, Body&& body) {
    using data = typename data_of<given_data<>, Done...>::type;
    using kept = std::remove_cvref_t<Body>;
    static_assert(!clause_list<Done...>::is_team,
                  "weft: the members of a team return nothing; write what they find into a handle");
    static_assert(data::template fits<kept>, "weft: the body must take the data of its access clauses in clause order");
    using result = std::remove_cvref_t<typename data::template result<kept>>;
    auto state = make_future_state<future_state<result>>(e);
    future<result> f(state);
    using whole = returning<kept, result>;
    submit_with<engine_base, whole>(e, whole(std::move(state), static_cast<Body&&>(body)),
                                    order_clause<kind_write>{f.state().order()},
                                    order_clause<kind_read>{f.state().over}, done...);
    return f;
  }
  template <class Next, class Second, class... Rest>
  static auto go(engine_base& e, const Done&... done, Next&& next, Second&& second, Rest&&... rest) {
    using clause = std::remove_cvref_t<Next>;
    if constexpr (std::is_same_v<clause, returns_clause>)
      return submit_returning_at<Done...>::go(e, done..., static_cast<Second&&>(second), static_cast<Rest&&>(rest)...);
    else
      return submit_returning_at<Done..., clause>::go(e, done..., next, static_cast<Second&&>(second),
                                                      static_cast<Rest&&>(rest)...);
  }
};
template <class... Args> auto submit_returning(engine_base& e, Args&&... clauses_and_body) {
  return submit_returning_at<>::go(e, static_cast<Args&&>(clauses_and_body)...);
}

// --- coroutines

// A task that lets a coroutine go on. Where it is skipped, because its scope is cancelled, that is done as its body is
// destroyed: who has begun ends, as any body does.
class resumes {
 public:
  explicit resumes(std::coroutine_handle<> what) noexcept : what_(what) {}
  resumes(resumes&& other) noexcept : what_(std::exchange(other.what_, nullptr)) {}
  resumes& operator=(resumes&&) = delete;
  ~resumes() {
    if (what_ == nullptr) return;
    try {
      what_.resume();
    } catch (...) {  // of a coroutine of another type, in a scope that is cancelled: its task was skipped anyway
    }
  }
  void operator()() { std::exchange(what_, nullptr).resume(); }
  void forget() noexcept { what_ = nullptr; }

 private:
  std::coroutine_handle<> what_;
};

// Kept: by whom the future is, else it goes with the wait, and the value is given away.
template <class T, bool IsKept> struct future_awaiter {
  std::conditional_t<IsKept, const future<T>&, future<T>> of;
  [[nodiscard]] bool await_ready() const { return of.state().is_done(); }
  void await_suspend(std::coroutine_handle<> waits) const {
    future_state<T>& s = of.state();
    resumes on(waits);
    try {
      detail::submit(*s.engine, order_clause<kind_concurrent>{s.over}, std::move(on));
    } catch (...) {  // there is no task: whoever waits hears it
      on.forget();
      throw;
    }
  }
  decltype(auto) await_resume() {
    if constexpr (IsKept)
      return of.get();
    else
      return std::move(of).get();
  }
};

// A task is done with the event when the coroutine is.
template <class T> struct coroutine_state : future_state<T> {
  using future_state<T>::future_state;
  event ended;
};

// The task in which a coroutine begins. If that is skipped the coroutine is gone.
template <class Promise> class begins {
 public:
  explicit begins(std::coroutine_handle<Promise> what) noexcept : what_(what) {}
  begins(begins&& other) noexcept : what_(std::exchange(other.what_, nullptr)) {}
  begins& operator=(begins&&) = delete;
  ~begins() {
    if (what_ == nullptr) return;
    what_.promise().state_->was_not_called();
    what_.destroy();
  }
  void operator()() { std::exchange(what_, nullptr).resume(); }
  void forget() noexcept { what_ = nullptr; }

 private:
  std::coroutine_handle<Promise> what_;
};

[[nodiscard]] inline engine_base* engine_among() noexcept { return nullptr; }
template <class First, class... Rest> [[nodiscard]] engine_base* engine_among(First& first, Rest&... rest) noexcept {
  if constexpr (std::is_same_v<First, runtime>)
    return &engine_of(first);
  else
    return engine_among(rest...);
}

// What co_return does, which is of one name or the other.
template <class Promise, class T> struct promise_result {
  template <class From = T> void return_value(From&& value) {
    static_cast<Promise&>(*this).to().set([&]() -> T { return static_cast<From&&>(value); });
  }
};
template <class Promise> struct promise_result<Promise, void> {
  void return_void() {
    static_cast<Promise&>(*this).to().set([] {});
  }
};

template <class T> struct future_promise : promise_result<future_promise<T>, T> {
  template <class... Args> explicit future_promise(Args&... args)
      : state_(make_future_state<coroutine_state<T>>(*engine_among(args...))) {
    static_assert((false || ... || std::is_same_v<Args, runtime>),
                  "weft: a coroutine that returns a weft::future takes the weft::runtime& on which it runs");
  }
  [[nodiscard]] future_state<T>& to() noexcept { return *state_; }

  future<T> get_return_object() noexcept { return future<T>(state_); }
  [[nodiscard]] auto initial_suspend() noexcept {
    struct submitted {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<future_promise> self) const {
        coroutine_state<T>& s = *self.promise().state_;
        begins task(self);
        try {
          detail::submit(*s.engine, order_clause<kind_write>{s.order()}, order_clause<kind_read>{s.over},
                         completes(s.ended), std::move(task));
        } catch (...) {  // there is no task: whoever called the coroutine hears it, and its frame goes
          task.forget();
          throw;
        }
      }
      void await_resume() const noexcept {}
    };
    return submitted{};
  }
  void unhandled_exception() noexcept { state_->failure = std::current_exception(); }
  [[nodiscard]] auto final_suspend() noexcept {
    struct over {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<future_promise> self) const noexcept {
        coroutine_state<T>& s = *self.promise().state_;  // is there until its task is done, whoever has a share
        const std::exception_ptr why = s.failure;
        self.destroy();
        if (why != nullptr)
          s.ended.fail(why);
        else
          s.ended.fulfil();
      }
      void await_resume() const noexcept {}
    };
    return over{};
  }

 private:
  friend begins<future_promise>;
  share_of<coroutine_state<T>> state_;
};

}  // namespace detail

// In a coroutine, of whatever type. Gives what get() gives.
template <class T> [[nodiscard]] auto operator co_await(const future<T>& f) noexcept {
  return detail::future_awaiter<T, true>{f};
}
template <class T> [[nodiscard]] auto operator co_await(future<T>&& f) noexcept {
  return detail::future_awaiter<T, false>{std::move(f)};
}

}  // namespace weft
