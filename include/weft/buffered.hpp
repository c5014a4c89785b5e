// Renaming by hand (SuperGlue §4.4): several buffers for one datum, each with a handle of its own, so that a task that
// makes a new value need not wait for the tasks that still read the old one.
//
//   weft::buffered<field, 3> f{size};
//   for (...) {
//     auto& now = f.current();
//     auto& next = f.advance();                                       // another buffer: no wait for readers of `now`
//     rt.submit(weft::read(now), weft::write(next), step);
//     rt.submit(weft::read(next), weft::subtasks(), output);          // may take its time, for N - 1 steps
//   }
//   rt.get(f.current())
//
// advance() and rename() give the buffer for a *new* value: what lies in it is some older one, and the task must write
// all of it. A task that changes the value, or adds to it, names current() and waits for the readers as always.
// If all buffers are in use, nothing is allocated and nothing fails: the writer waits for the users of the buffer that
// it was given. So N bounds the memory and how far writers run ahead of readers.
// Who: what is said here happens at submission, so one thread at a time, as for Listing 7 of the paper; or tasks that
// agree on an order by another handle. Destruction waits for the tasks that use any of the buffers.
// Cost: advance() an increment; rename() one exchange.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/handle.hpp"

namespace weft {

template <class T, std::size_t N = 2> class buffered {
  static_assert(N >= 2, "weft: one buffer is a handle; renaming takes two or more");

 public:
  using value_type = T;

  // Each buffer owns a T made from the arguments.
  template <class... Args>
    requires std::is_constructible_v<T, const Args&...>
  explicit buffered(const Args&... args) : buffered(std::make_index_sequence<N>(), args...) {}

  // The handle of the value as the tasks submitted so far leave it.
  [[nodiscard]] handle<T>& current() noexcept { return buffers_[at_]; }
  // The value `steps` advances ago, below N. Its buffer is not given out again before advance() has gone all round.
  [[nodiscard]] handle<T>& previous(std::size_t steps = 1) noexcept { return buffers_[(at_ + N - steps % N) % N]; }

  // Takes the next buffer in turn, for a value that replaces the current one, and gives its handle. The N - 1 values
  // before it stay readable by previous() and by the handles given for them.
  [[nodiscard]] handle<T>& advance() noexcept {
    at_ = (at_ + 1) % N;
    return buffers_[at_];
  }

  // As advance(), for programs that do not look at older values: stays with the current buffer if nobody uses it any
  // more, which is the one that is in the cache. With real cores it is chance whether that is so; the values are the
  // same either way.
  [[nodiscard]] handle<T>& rename() noexcept { return current().idle() ? current() : advance(); }

  [[nodiscard]] static constexpr std::size_t size() noexcept { return N; }
  // All buffers, for set-up and for ranges: each is a handle<T>.
  [[nodiscard]] handle<T>* begin() noexcept { return buffers_; }
  [[nodiscard]] handle<T>* end() noexcept { return buffers_ + N; }
  void name(const char* text) noexcept {
    for (handle<T>& h : buffers_) h.name(text);
  }

 private:
  template <std::size_t... I, class... Args> explicit buffered(std::index_sequence<I...>, const Args&... args)
      : buffers_{made<I>(args...)...} {}
  template <std::size_t, class... Args> [[nodiscard]] static handle<T> made(const Args&... args) {
    return handle<T>(args...);
  }

  handle<T> buffers_[N];
  std::size_t at_ = 0;
};

}  // namespace weft
