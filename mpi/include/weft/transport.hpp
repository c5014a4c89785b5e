// The seam between ranks and what carries their messages. Three are there: threads of one process
// (weft/thread_ranks.hpp), MPI (weft/mpi.hpp), and a network that is modelled (weft/modelled_ranks.hpp). Another one is
// a class with these calls.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

namespace weft {

class runtime;
namespace detail {
class poller;
}

// A message on its way. It is the caller's, and stays where it is from post() until progress() gives it back.
struct message {
  void* data = nullptr;
  std::size_t bytes = 0;  // what is sent, or may come; both sides say the same, but for `shorter`
  int peer = 0;           // where to, where from
  int tag = 0;            // 0 to tag_limit()
  bool sends = false;
  bool shorter = false;  // on both sides: it goes in one part, `bytes` is the most; afterwards, how many came
  bool spoiled = false;  // sends: there are no data, and the other side is to learn that. Receives: it did
  message* next = nullptr;
  std::size_t parts = 0;  // the transport's own
};

// What one rank sees. Messages of one sender with one tag come in the order in which they were posted.
// Who: one thread at a time, any thread. None of the calls waits for another rank.
class transport {
 public:
  virtual ~transport() = default;
  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  // The largest tag, at least 31.
  [[nodiscard]] virtual int tag_limit() const noexcept = 0;
  // The messages of rt's ranks are what it carries. Who: once, before the calls below. Errors: weft::error for a
  // runtime that it cannot serve. By default that is one on a modelled machine, whose time messages would not take.
  virtual void begin(runtime& rt);
  // m begins. Errors: as progress(); m is not on its way then.
  virtual void post(message& m) = 0;
  // What is over since the last call, linked by `next`; nullptr: nothing. Errors: weft::error if the other ranks cannot
  // be relied on any more; then, and from then on, nothing that is on its way will be given back.
  [[nodiscard]] virtual message* progress() = 0;
  // This rank leaves, with nullptr when all it wanted is done, else because of that. What is on its way is let go: its
  // memory is not touched any more; small messages that were posted before are still delivered. After leaving for a
  // reason the others do not wait for this rank: what they have on their way throws from their progress().
  // Who: once, as the last call.
  virtual void leave(const char* why) noexcept = 0;

 private:
  friend detail::poller;
  bool is_taken_ = false;  // one weft::ranks, or a cluster, has it, or had it
};

// What of a T goes over the wire. T is copied as bytes, or has elements in a row that are; others specialise this. The
// number of bytes must be the same on both sides.
template <class T> struct wire {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "weft: a T that is sent is trivially copyable, or a row of such (std::vector, std::array); for others "
                "specialise weft::wire<T>");
  [[nodiscard]] static std::span<std::byte> of(T& x) noexcept { return std::as_writable_bytes(std::span<T, 1>(&x, 1)); }
};
template <class T>
  requires(!std::is_trivially_copyable_v<T>) && requires(T& x) {
    std::span(x.data(), x.size());
    requires std::is_trivially_copyable_v<typename T::value_type>;
  }
struct wire<T> {
  [[nodiscard]] static std::span<std::byte> of(T& x) noexcept {
    return std::as_writable_bytes(std::span(x.data(), x.size()));
  }
};

}  // namespace weft
