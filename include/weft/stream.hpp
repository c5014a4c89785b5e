// Streams: data that flows from task to task (OpenStream §2.1, §3). A task pushes elements, another pops them; who
// comes when is found from the order in which tasks are submitted, as with handles, and nobody names a task:
//
//   weft::stream<double> s;
//   rt.submit(weft::push(s, 64), [](std::span<double> out) { ... });
//   rt.submit(weft::pop(s, 64), [](std::span<const double> in) { ... });
//
//   push(s, n)         the next n elements are this task's to write                      body gets std::span<T>
//   pop(s, n)          the next n elements are this task's to read, and then taken       body gets std::span<const T>
//   pop(s, n, sees)    it sees more than it takes: the next task sees some of them again
//   peek(s, n)         sees the next n elements and takes none: for several that read the same
//   reuse(in, out, n)  pops n from one stream and pushes them to another in place        body gets std::span<T>
//
// push, pop and peek take an array of streams as well, as one clause: n elements of each. The body gets a span of
// spans, one for each stream: std::span<const std::span<T>>, or of std::span<const T>.
//
// Elements are matched in the order of submission, each push and pop with the next ones, whatever their sizes: one push
// of 100 may feed ten pops of 10, and the other way round. A task may be submitted before the one that feeds it; it
// waits. If nobody ever does, the report of a program that cannot go on says which elements of which stream are
// missing. Tasks run in any order that this allows: two that pop from one stream may run at the same time.
//
// Memory for elements is taken when the task that pushes them begins, on its memory node, and given back when they are
// taken and read: so a program that submits a million tasks has only so much memory in use as runs at a time, and what
// is written is local (OpenStream §3.2). With immediate() it is taken when the task is submitted, there.
// T is any type that can be moved and made by default; elements of one that is more than bytes are made when the memory
// is taken. A body that pushes finds values of an earlier life or none: it must write all of its elements.
//
// If a task that pushes fails, those that pop from it are skipped, as with handles. A submission that throws, because a
// body cannot be copied or memory ends, loses the elements that its task was to push: who pops them waits in vain, and
// is named in the report. A stream is not copied or moved.
// Its destructor waits for the tasks that use it; elements that nobody took are dropped, and end() says if there are
// any. Cost: as an access to a handle, and some 40 ns; a stretch over several buffers is gathered, by copies.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "weft/clause.hpp"
#include "weft/detail/stream_state.hpp"

namespace weft {

template <class T> class stream;

namespace detail {

[[nodiscard]] stream_state* make_stream(const element_type& type, const char* name);
void destroy_stream(stream_state* s) noexcept;
void set_stream_name(stream_state& s, const char* text) noexcept;
void set_immediate(stream_state& s, bool on) noexcept;
void discard_elements(stream_state& s, std::uint64_t n);
void end_stream(stream_state& s);
struct stream_counts {
  std::uint64_t pushed, popped;
};
[[noreturn]] void throw_takes_unseen(std::uint64_t takes, std::uint64_t sees);  // weft::error
[[noreturn]] void throw_many_streams(std::size_t count, std::size_t most);      // weft::error
[[nodiscard]] stream_counts counts_of(stream_state& s) noexcept;

template <class T> struct element_functions {
  // If one throws, those before it are ended.
  static void construct(void* at, std::size_t n) {
    struct made {
      T* first;
      std::size_t count = 0;
      ~made() { destroy(first, count); }
    } so_far{static_cast<T*>(at)};
    for (; so_far.count < n; ++so_far.count) new (so_far.first + so_far.count) T();
    so_far.count = 0;
  }
  static void destroy(void* at, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) static_cast<T*>(at)[i].~T();
  }
  static void move(void* to, void* from, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) static_cast<T*>(to)[i] = static_cast<T&&>(static_cast<T*>(from)[i]);
  }
  static void copy(void* to, const void* from, std::size_t n) {
    if constexpr (std::is_copy_assignable_v<T>)
      for (std::size_t i = 0; i < n; ++i) static_cast<T*>(to)[i] = static_cast<const T*>(from)[i];
  }
  static constexpr bool is_bytes = std::is_trivially_copyable_v<T>;
  static constexpr element_type type{sizeof(T),
                                     alignof(T),
                                     std::is_trivially_default_constructible_v<T> ? nullptr : &construct,
                                     std::is_trivially_destructible_v<T> ? nullptr : &destroy,
                                     is_bytes ? nullptr : &move,
                                     is_bytes ? nullptr : &copy,
                                     std::is_copy_assignable_v<T>};
};

template <class T, stretch_kind Kind> struct stream_clause {
  stream_state& from;
  std::uint64_t size;
  std::uint64_t takes;
};
template <class T> struct reuse_clause {
  stream_state& from;
  stream_state& to;
  std::uint64_t size;
};
// Of each stream of an array; a record has room for `Most` of them.
template <class T, stretch_kind Kind, std::size_t Most> struct streams_clause {
  stream<T>* all;
  std::size_t count;
  std::uint64_t size;
  std::uint64_t takes;
};

}  // namespace detail

template <class T> class stream {
  static_assert(std::is_object_v<T> && !std::is_const_v<T>, "weft: a stream carries objects: weft::stream<double>");
  static_assert(std::is_default_constructible_v<T> && std::is_move_assignable_v<T>,
                "weft: elements of a stream are made before they are written and moved where a task sees several "
                "pushes at once: the type needs a default constructor and a move assignment");

 public:
  using value_type = T;
  // name: for reports; it must outlive the stream (a literal does). Errors: std::bad_alloc.
  explicit stream(const char* name = nullptr) : state_(detail::make_stream(detail::element_functions<T>::type, name)) {}
  ~stream() { detail::destroy_stream(state_); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  // Who: one thread, before the first task names the stream.
  void name(const char* text) noexcept { detail::set_stream_name(*state_, text); }
  // Memory for elements is taken when the task that pushes them is submitted, not when it begins: what other systems
  // do, for comparison. Who: as name().
  void immediate(bool on = true) noexcept { detail::set_immediate(*state_, on); }

  // Elements that tasks which push, and which pop, have been given so far. Who: any thread, for a moment.
  [[nodiscard]] std::uint64_t pushed() const noexcept { return detail::counts_of(*state_).pushed; }
  [[nodiscard]] std::uint64_t popped() const noexcept { return detail::counts_of(*state_).popped; }
  // Takes the next n elements, which nobody is to see. Errors: std::bad_alloc.
  void discard(std::size_t n) { detail::discard_elements(*state_, n); }
  // Errors: weft::error if there are elements that no task was given to pop, or tasks that nobody feeds; it says which.
  void end() { detail::end_stream(*state_); }

  [[nodiscard]] detail::stream_state& state() noexcept { return *state_; }

 private:
  detail::stream_state* const state_;
};

// Of 0 elements a task needs nothing, and its body gets an empty span.
template <class T> [[nodiscard]] auto push(stream<T>& s, std::size_t n) noexcept {
  return detail::stream_clause<T, detail::stretch_kind::push>{s.state(), n, n};
}
template <class T> [[nodiscard]] auto pop(stream<T>& s, std::size_t n) noexcept {
  return detail::stream_clause<T, detail::stretch_kind::pop>{s.state(), n, n};
}
// Errors: weft::error if it is to take more than it sees.
template <class T> [[nodiscard]] auto pop(stream<T>& s, std::size_t n, std::size_t sees) {
  if (sees < n) [[unlikely]]
    detail::throw_takes_unseen(n, sees);
  return detail::stream_clause<T, detail::stretch_kind::pop>{s.state(), sees, n};
}
template <class T> [[nodiscard]] auto peek(stream<T>& s, std::size_t n) noexcept {
  return detail::stream_clause<T, detail::stretch_kind::peek>{s.state(), n, 0};
}
// The memory goes from one stream to the other where both have these elements in a buffer of their own; else elements
// are moved. Tasks that peeked at them before are waited for.
template <class T> [[nodiscard]] auto reuse(stream<T>& in, stream<T>& out, std::size_t n) noexcept {
  return detail::reuse_clause<T>{in.state(), out.state(), n};
}

// ---- arrays of streams: a C array, std::array, std::span, std::vector, whatever has its streams in a row.

namespace detail {
template <class S> inline constexpr bool is_stream = false;
template <class T> inline constexpr bool is_stream<stream<T>> = true;
template <class R> using streams_in = decltype(std::span(std::declval<R&>()));
template <class R>
concept stream_array = requires { requires is_stream<typename streams_in<R>::element_type>; };
template <class R> using carried_by = typename streams_in<R>::element_type::value_type;

// How many streams there may be where the type does not say; so many on both sides of a task are all it may name.
inline constexpr std::size_t streams_max = stretches_max / 2;
template <class R, std::size_t Most> inline constexpr std::size_t most_streams =
    Most != 0                                      ? Most
    : streams_in<R>::extent == std::dynamic_extent ? streams_max
                                                   : streams_in<R>::extent;

template <stretch_kind Kind, std::size_t Most, class R>
[[nodiscard]] auto clause_of(R& all, std::size_t size, std::size_t takes) {
  const streams_in<R> in(all);
  constexpr std::size_t most = most_streams<R, Most>;
  if (in.size() > most) [[unlikely]]
    throw_many_streams(in.size(), most);
  return streams_clause<carried_by<R>, Kind, most>{in.data(), in.size(), size, takes};
}
}  // namespace detail

// Most: of streams, where the type of the array does not say how many there are; 0: 8. The streams outlive the
// submission, the array need not. Errors: weft::error for more streams, and if it is to take more than it sees.
template <std::size_t Most = 0, detail::stream_array R> [[nodiscard]] auto push(R&& all, std::size_t n) {
  return detail::clause_of<detail::stretch_kind::push, Most>(all, n, n);
}
template <std::size_t Most = 0, detail::stream_array R> [[nodiscard]] auto pop(R&& all, std::size_t n) {
  return detail::clause_of<detail::stretch_kind::pop, Most>(all, n, n);
}
template <std::size_t Most = 0, detail::stream_array R>
[[nodiscard]] auto pop(R&& all, std::size_t n, std::size_t sees) {
  if (sees < n) [[unlikely]]
    detail::throw_takes_unseen(n, sees);
  return detail::clause_of<detail::stretch_kind::pop, Most>(all, sees, n);
}
template <std::size_t Most = 0, detail::stream_array R> [[nodiscard]] auto peek(R&& all, std::size_t n) {
  return detail::clause_of<detail::stretch_kind::peek, Most>(all, n, 0);
}

}  // namespace weft
