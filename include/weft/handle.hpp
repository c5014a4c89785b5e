// Handles: data under the runtime's care. A handle orders the tasks that use it by versions (SuperGlue §2.1, §3.1);
// what it protects is up to you: a value it owns, something that lives elsewhere, or no data at all.
//
//   weft::handle<tile>   a{256};        owns a tile constructed from the arguments
//   weft::handle<tile&>  b{existing};   refers to a tile you keep alive
//   weft::handle<void>   token;         orders tasks and carries nothing
//
// A handle's address is its identity, so it is neither copied nor moved; std::vector<weft::handle<T>> v(n) and
// std::deque hold many. Moving one, as a vector that grows would, does not compile and is told in words. Its destructor
// waits for the tasks that use it. Cost: 64 bytes beside the data, about 5 ns to create. Who: any thread may create,
// use in submit, and destroy.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <type_traits>
#include <utility>

#include "weft/detail/handle_state.hpp"
#include "weft/memory_placement.hpp"

namespace weft {

// What all handles share. Size: one cache line.
class handle_base {
 public:
  // For reports, traces and error messages. `text` must outlive the handle (a literal does).
  void name(const char* text) noexcept { detail::set_name(state_, text); }
  // nullptr if the handle was never named. Reports then say "handle #id".
  [[nodiscard]] const char* name() const noexcept { return detail::name_in(state_); }
  // How large the data is, in bytes, wherever it lies: a modelled machine then charges what moving it takes, from the
  // caches or the memory node where it is (docs/guide/28-memory-model.md). 0, the default: moving it takes no time.
  // Who: one thread, before the first task names the handle. Cost: a store, and with a name an allocation. Real
  // machines ignore it. Errors: weft::error above 2^40.
  void bytes(std::uint64_t n);
  [[nodiscard]] std::uint64_t bytes() const noexcept { return detail::bytes_of(state_); }
  // The same, and on which memory nodes the data lie: what is local and what is remote, and which controllers are used.
  // bytes(n) alone is first touch. Cost: an allocation. Errors: as above; a placement that means nothing.
  void bytes(std::uint64_t n, const memory_placement& how);
  // The same of data in a range that place_memory() was told about; first touch outside of all such ranges. What is
  // said of the range later does not count. Errors: as above; if only a part of the data is in that range.
  void lies_at(const void* begin, std::uint64_t n);
  // Number of this handle in order of creation in the process, from 1.
  [[nodiscard]] std::uint32_t id() const noexcept { return state_.id; }
  // Finished accesses so far. Who: any thread. Order: relaxed, so a hint unless the caller has waited.
  [[nodiscard]] std::uint64_t version() const noexcept { return detail::peek(state_.word) >> detail::alarm_bits; }

  // Whether all accesses submitted so far are done. Who: any thread; it may have changed by the time you look, and a
  // handle that is being used at this moment is not idle,
  // nor is any while a task is on its way to a creator (options::creation). Order: acquire, so what the tasks wrote is
  // visible.
  [[nodiscard]] bool idle() noexcept { return state_.idle(); }

  [[nodiscard]] detail::handle_state& state() noexcept { return state_; }

 protected:
  handle_base() = default;
  ~handle_base() = default;

 private:
  detail::handle_state state_;
};

namespace detail {
// What moving a handle comes to. Were the move constructor deleted, a vector that grows would be told so deep inside
// the standard library; declared and never to be instantiated, it has the first words.
template <class T> struct a_handle_cannot_move_use_vector_v_n_or_deque {
  static_assert(sizeof(T*) == 0,
                "weft: a handle cannot move, its address is its identity; a std::vector<handle<T>> v(n) "
                "of fixed size or a growing std::deque holds many");
};
}  // namespace detail

// Owns a T. The value is destroyed after the last task that uses it is done.
template <class T> class handle : public handle_base {
 public:
  using value_type = T;
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit handle(Args&&... args) : data_(static_cast<Args&&>(args)...) {}
  handle(const handle&) = delete;
  handle(handle&&) { static_cast<void>(detail::a_handle_cannot_move_use_vector_v_n_or_deque<T>{}); }
  ~handle() { state().drain(); }  // before data_ goes

  // The datum, unprotected: for set-up before any task uses it. After that use weft::runtime::get, which waits.
  [[nodiscard]] T& unguarded() noexcept { return data_; }

 private:
  T data_;
};

// Refers to a T that the caller keeps alive until the handle is gone.
template <class T> class handle<T&> : public handle_base {
 public:
  using value_type = T;
  explicit handle(T& data) noexcept : data_(&data) {}
  handle(const handle&) = delete;
  handle(handle&&) { static_cast<void>(detail::a_handle_cannot_move_use_vector_v_n_or_deque<T>{}); }
  [[nodiscard]] T& unguarded() noexcept { return *data_; }

 private:
  T* data_;
};

// Carries no data: orders tasks that share something the runtime cannot see (a file, a connection, a phase).
template <> class handle<void> : public handle_base {
 public:
  using value_type = void;
};

}  // namespace weft
