// Order: bodies that appear to run one after the other, by their timestamps, and do not have to (Swarm §3). A body
// creates others for later; what it reads and writes of shared data goes through its context:
//
//   void visit(weft::ordered_context& x, std::uint64_t distance, node* n) {
//     if (x.load(n->distance) <= distance) return;
//     x.store(n->distance, distance);
//     for (const edge& e : n->edges) x.at(distance + e.length, visit, e.to);
//   }
//   weft::ordered q(rt);
//   q.at(0, visit, source);
//   q.run();
//
// The order is that of a serial program with a queue: the earliest timestamp first, and of equal ones the one that was
// created first. The same bodies run under each executor, which ordered_options::executor chooses, or WEFT_ORDERED:
//
//   speculative   bodies run ahead of their order on real cores, and again where that was wrong
//   serial        one after the other, in order: the reference
//   oracle        serial, and it notes what each body costs and touches, and how many could have run at a time
//   swarm         the architecture of the Swarm paper, modelled: cycles in place of nanoseconds. Of equal timestamps
//                 it takes any first, as that architecture does
//
// These two are in a library of their own: #include <weft/lab/oracle.hpp> or <weft/lab/swarm.hpp>, and link weft::lab.
//
// Two more are for bodies of which the program promises something. Nothing is logged there, and nothing runs twice:
//
//   levels        those of one timestamp may run in any order: they do so at the same time, one timestamp after the
//                 other
//   relaxed       all may, and come to the same in the end, as relaxing the edges of a graph does: they run at the same
//                 time, the earliest soon but not first, and never two with the same first argument
//
// A body may run before those that come earlier in order, and read what is not yet as it will be. It is then called
// again or forgotten, and its stores never happened. Until then it must do no harm: bounds of what it loaded are to be
// checked before they are used, a pointer may be null or to what was released, and a loop must end for any values. What
// it does beside load and store is not undone: serialize() first. So it is with ordinary tasks: those that a body
// submits after serialize() are submitted in order, and only by what happens. Data that no body writes may be read
// plainly, or by read(), which tells a model about it. A body that is in vain may be left in the middle, by an
// exception of ours out of a call of its context: such a body is not noexcept, and what it catches and does not know it
// throws on.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include "weft/detail/cell.hpp"
#include "weft/detail/ordered.hpp"

namespace weft {

struct swarm_options;

// What bodies got and did. Of executors that never speculate, started and committed are equal.
struct ordered_counts {
  std::uint64_t committed = 0;  // calls of bodies that counted: as many as a serial run makes; "relaxed" may need more
  std::uint64_t started = 0;    // calls of bodies, whatever became of them
  std::uint64_t in_order = 0;   // of those that counted, calls that did not run ahead: where that does not pay
  double seconds = 0;           // of run(), on the clock of the machine it ran on; modelled cycles in seconds of it
  // Speculative: how long bodies one after the other would have taken, by what those in order took; more than `seconds`
  // means that it paid. And how far ahead of the oldest body others may run at the end, in calls.
  double serial_seconds = 0;
  std::size_t window = 0;
};

struct ordered_options {
  // "speculative" (default), "serial", "levels", "relaxed"; with weft::lab "oracle", "swarm". nullptr: what
  // WEFT_ORDERED says, or the default.
  const char* executor = nullptr;
  // Speculative: so many calls may be ahead of the oldest, 1 to 2^20. 0: it adapts to how many of them are in vain.
  std::size_t window = 0;
  // Speculative: bodies run ahead also where that does not pay. By default they then run in order for a while, so that
  // the loss stays small against all.
  bool always_ahead = false;
  // The chip that "swarm" models (weft/lab/swarm.hpp). nullptr: what WEFT_SWARM says, or that of the paper.
  const swarm_options* swarm = nullptr;
};

// What a body has of the section it runs in. It is good until the body returns, for the thread that runs it.
// Types that are loaded and stored must be trivially copyable; an object may be loaded in parts.
// Order: of "levels" and "relaxed" a load acquires, a store releases and exchange_if is both; the others make bodies
// appear one after the other.
class ordered_context {
 public:
  explicit ordered_context(detail::ordered_hooks& hooks, bool plain) noexcept : hooks_(hooks), plain_(plain) {}
  ordered_context(const ordered_context&) = delete;
  ordered_context& operator=(const ordered_context&) = delete;

  template <class T> [[nodiscard]] T load(const T& from) {
    static_assert(std::is_trivially_copyable_v<T>, "weft: what is loaded is copied as bytes");
    if (plain_) return from;
    if constexpr (detail::is_ordered_word<T>) return __builtin_bit_cast(T, hooks_.load_word(&from));
    alignas(T) std::byte bytes[sizeof(T)];
    hooks_.load(&from, bytes, sizeof(T));
    return *std::launder(reinterpret_cast<T*>(bytes));
  }
  template <class T> void store(T& to, const std::type_identity_t<T>& value) {
    static_assert(std::is_trivially_copyable_v<T>, "weft: what is stored is copied as bytes");
    if (plain_)
      to = value;
    else if constexpr (detail::is_ordered_word<T>)
      hooks_.store_word(&to, __builtin_bit_cast(std::uint64_t, value));
    else
      hooks_.store(&to, &value, sizeof(T));
  }
  // Stores `value` if what is there is `expected`, to the bit; returns whether it was. Nobody stores there meanwhile,
  // also where bodies of one timestamp run at the same time.
  template <class T>
  bool exchange_if(T& at, const std::type_identity_t<T>& expected, const std::type_identity_t<T>& value) {
    static_assert(std::has_unique_object_representations_v<T> && sizeof(T) <= 8 && alignof(T) == sizeof(T),
                  "weft: what is exchanged is a number or pointer of at most 8 bytes, or an aligned struct of such");
    return hooks_.exchange_if(&at, &expected, &value, sizeof(T));
  }
  // What no body of the section ever writes.
  template <class T> [[nodiscard]] const T& read(const T& from) {
    if (!plain_) hooks_.read_only(&from, sizeof(T));
    return from;
  }
  // So many instructions beside loads and stores. Where time is real it means nothing.
  void work(std::uint64_t instructions) {
    if (!plain_) hooks_.work(instructions);
  }
  // Calls body(context, timestamp, arguments...) when its turn comes. Errors: weft::error for a timestamp before that
  // of the body that asks: the past is over.
  template <class Body, class... Arguments> void at(std::uint64_t timestamp, Body body, Arguments... arguments) {
    if (timestamp < now_) [[unlikely]]
      detail::throw_back_in_time(now_, timestamp);
    hooks_.create(detail::make_call(timestamp, body, arguments...));
  }
  // Memory for n objects of T, not initialized: a body that did not happen has taken none. What is released is
  // released when the body has happened. Errors: std::bad_alloc.
  template <class T> [[nodiscard]] T* allocate(std::size_t n = 1) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (n > SIZE_MAX / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(hooks_.allocate(n * sizeof(T), alignof(T)));
  }
  template <class T> void release(T* at, std::size_t n = 1) { hooks_.release(at, n * sizeof(T), alignof(T)); }
  // Returns when everything before this body in order has happened, so that it will happen as it is: before output, and
  // whatever else cannot be undone. The body may begin again to get there; what comes before the call happens twice
  // then, so let it come first.
  void serialize() {
    if (!plain_) hooks_.serialize();
  }
  [[nodiscard]] std::uint64_t timestamp() const noexcept { return now_; }

  // Who: executors, before each call.
  void set_timestamp(std::uint64_t now) noexcept { now_ = now; }
  void set_plain(bool plain) noexcept { plain_ = plain; }

 private:
  detail::ordered_hooks& hooks_;
  std::uint64_t now_ = 0;
  bool plain_;  // nobody looks at loads and stores: they are just that
};

// A section of ordered bodies. Who: one thread, or one task; a section is a task for those around it, and sections may
// stand beside each other.
class ordered {
 public:
  // Errors: weft::error for an option that cannot be meant.
  explicit ordered(runtime& rt, const ordered_options& options = {});
  ~ordered();
  ordered(const ordered&) = delete;
  ordered& operator=(const ordered&) = delete;

  // A call to begin with. Errors: weft::error during run(), where a body creates calls through its context.
  template <class Body, class... Arguments> void at(std::uint64_t timestamp, Body body, Arguments... arguments) {
    if (detail::peek(runs_)) [[unlikely]]
      detail::throw_section_runs("at");
    executor_->create(detail::make_call(timestamp, body, arguments...));
  }
  // Runs all calls and what they create, and returns when everything has happened. Errors: what the first body in order
  // has thrown; everything before it has happened then, and what it stored itself until there; nothing behind it. Of
  // "levels" others of its timestamp may have happened, too, and of "relaxed" any; there it is of those that threw the
  // one with the least timestamp. weft::error where it runs already, in a body of its own or on another thread.
  void run();
  // Calls body(context, item) for each of the items; their order is that of the span.
  template <class T, class Body> void for_each(std::span<T> items, Body body) {
    for (std::size_t i = 0; i < items.size(); ++i)
      at(
          i, [](ordered_context& x, std::uint64_t, Body b, T* item) { b(x, *item); }, body, &items[i]);
    run();
  }
  [[nodiscard]] ordered_counts counts() const;
  // Which executor runs the section, whoever chose it: the options, WEFT_ORDERED, or nobody.
  [[nodiscard]] std::string_view executor_name() const noexcept;
  [[nodiscard]] detail::ordered_executor& executor() noexcept { return *executor_; }

 private:
  detail::ordered_executor* const executor_;
  detail::cell<bool> runs_;
};

}  // namespace weft
