// What stands behind a future: a handle that the task of the future writes, the value, and what went wrong instead. Its
// task has a share in it, and so has each that reads it. So the value goes with whoever lets go last. That is often a
// task, whose access is not over then, so the rest stays until a later future is made (leave()): letting go never
// waits.
#pragma once
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/clause.hpp"
#include "weft/event.hpp"
#include "weft/handle.hpp"

namespace weft::detail {

struct engine_base;

struct future_core {
  engine_base* engine = nullptr;  // of the task
  std::exception_ptr failure;     // written by the task, before its access is over
  bool has_value = false;         // the same
  future_core* next = nullptr;    // among those that are left
  cell<std::uint32_t> shares{0};  // of futures, tasks and coroutines; at the last one's end the value goes
  handle<void> over;              // read by the task, so that no failure poisons it: for coroutines that go on anyway

  explicit future_core(engine_base& e) noexcept : engine(&e) {}
  future_core(const future_core&) = delete;
  future_core& operator=(const future_core&) = delete;
  [[nodiscard]] virtual handle_state& done() noexcept = 0;
  virtual void drop_value() noexcept = 0;
  [[nodiscard]] bool is_done() noexcept;  // acquire: and what the task wrote is there
  [[nodiscard]] bool is_unused() noexcept;
  // Returns when the task is done. Errors: what it failed with; those of runtime::wait(h).
  void await();
  // Returns when the tasks that use it, as far as they are submitted, are done, too.
  void await_readers();
  // The body was not called, and its handle is poisoned if it was to be. Who: whoever destroys the body.
  void was_not_called() noexcept;
  virtual ~future_core() = default;
};

[[noreturn]] void throw_no_future();        // weft::error
[[noreturn]] void throw_value_is_shared();  // the same

// A share more, and one less; with the last the value goes. Order: the last comes behind all that was done by others.
void add_share(future_core& s) noexcept;
void drop_share(future_core& s) noexcept;
// Whether there is one share, and no task uses the value. Order: acquire. Who: has that share.
[[nodiscard]] bool is_only_share(future_core& s) noexcept;
// Ends those that were left and are used by no task any more.
void end_left_futures() noexcept;

// A share, or none.
template <class State> class share_of {
 public:
  share_of() noexcept = default;
  explicit share_of(State* s) noexcept : s_(s) {
    if (s_ != nullptr) add_share(*s_);
  }
  template <class Derived>
    requires std::is_convertible_v<Derived*, State*>
  share_of(const share_of<Derived>& other) noexcept : share_of(other.get()) {}
  share_of(const share_of& other) noexcept : share_of(other.s_) {}
  share_of(share_of&& other) noexcept : s_(std::exchange(other.s_, nullptr)) {}
  share_of& operator=(share_of other) noexcept {
    std::swap(s_, other.s_);
    return *this;
  }
  ~share_of() {
    if (s_ != nullptr) drop_share(*s_);
  }
  [[nodiscard]] State* get() const noexcept { return s_; }
  [[nodiscard]] State* operator->() const noexcept { return s_; }
  [[nodiscard]] State& operator*() const noexcept { return *s_; }
  [[nodiscard]] explicit operator bool() const noexcept { return s_ != nullptr; }

 private:
  State* s_ = nullptr;
};

template <class T> struct future_state : future_core {
  // What stays until a later future is made must be small.
  static constexpr bool is_apart = sizeof(T) > 256;
  explicit future_state(engine_base& e) : future_core(e), data(value()) {}
  ~future_state() override {
    data.state().drain();
    drop_value();
  }
  [[nodiscard]] handle_state& done() noexcept override { return data.state(); }
  [[nodiscard]] handle_base& order() noexcept { return data; }
  void drop_value() noexcept override {
    end_value();
    if constexpr (is_apart)
      if (void* const at = std::exchange(room.at, nullptr); at != nullptr)
        ::operator delete(at, std::align_val_t{alignof(T)});
  }
  template <class Make> void set(Make make) {
    end_value();  // a coroutine may return a value and then another
    ::new (static_cast<void*>(&value())) T(make());
    has_value = true;
  }
  // Who: after set().
  [[nodiscard]] T& value() noexcept {
    if constexpr (is_apart)
      return *static_cast<T*>(room.at);
    else
      return *reinterpret_cast<T*>(room.bytes);
  }

 private:
  void end_value() noexcept {
    if (std::exchange(has_value, false)) value().~T();
  }
  struct here {
    alignas(T) unsigned char bytes[sizeof(T)];
  };
  struct apart {
    void* at = ::operator new(sizeof(T), std::align_val_t{alignof(T)});
  };
  std::conditional_t<is_apart, apart, here> room;

 public:
  handle<T&> data;
};
template <> struct future_state<void> : future_core {
  using future_core::future_core;
  ~future_state() override { data.state().drain(); }
  [[nodiscard]] handle_state& done() noexcept override { return data.state(); }
  [[nodiscard]] handle_base& order() noexcept { return data; }
  void drop_value() noexcept override { has_value = false; }
  template <class Make> void set(Make make) {
    make();
    has_value = true;
  }

  handle<void> data;
};

template <class State> [[nodiscard]] share_of<State> make_future_state(engine_base& e) {
  end_left_futures();
  return share_of<State>(new State(e));
}

// Accesses of a kind that give the body nothing, whatever the type of the datum.
template <std::uint8_t Kind> struct order_clause {
  handle_base& target;
};

}  // namespace weft::detail
