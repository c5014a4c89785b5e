// Communication as tasks: a receive is a task that writes what arrives, a send one that reads what leaves. They are
// done when the message is here, or gone; meanwhile no worker waits.
//
//   weft::ranks w(rt, net);                                          net: a weft::transport
//   rt.submit(weft::write(halo), w.receive(halo, left, tag));
//   rt.submit(weft::read(edge), w.send(edge, right, tag));
//   rt.submit(weft::read(halo), weft::write(inner), step);           after the halo has arrived
//
// Who calls the transport: poller.md. A message that is submitted is sent and received whatever happens: if the task of
// a send is skipped, because its data failed, the other side's receive fails with weft::error, and so do its readers.
// If a rank fails, all that is on its way, and what comes later, fails with weft::error. A receive from a rank whose
// program has returned waits for ever on threads, and says so after two seconds; a modelled cluster throws.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>

#include "weft/error.hpp"
#include "weft/event.hpp"
#include "weft/runtime.hpp"
#include "weft/transport.hpp"

namespace weft {

class ranks;

namespace detail {

class poller;
struct half_of_tags;

// A message of the runtime: what is to happen when it is over. Its owner is whoever `over` says.
struct flight : message {
  void (*over)(flight& f, const std::exception_ptr& why) = nullptr;  // why: null if all is well
  half_of_tags* tags = nullptr;                                      // told when it has begun
  bool in_background = false;                                        // nobody waits for it
  flight* before = nullptr;                                          // on their way; the poller's
  flight* after = nullptr;
};

// Of a task that completes when it is over.
struct task_flight : flight {
  event done;
  std::unique_ptr<std::byte[]> dropped;  // where what nobody reads arrives
};

// The body of such a task. It begins the message when it is called, and also when it is not because its data failed.
class begins_message {
 public:
  begins_message(ranks& all, task_flight* f, std::span<std::byte> (*bytes)(void*), void* datum) noexcept
      : all_(&all), flight_(f), bytes_(bytes), datum_(datum) {}
  begins_message(begins_message&& other) noexcept
      : all_(other.all_), flight_(other.flight_), bytes_(other.bytes_), datum_(other.datum_) {
    other.flight_ = nullptr;
  }
  begins_message& operator=(begins_message&&) = delete;
  ~begins_message() {
    if (flight_ != nullptr) begin(false);
  }
  template <class... Data> void operator()(Data&&...) { begin(true); }
  [[nodiscard]] event& done() noexcept { return flight_->done; }

 private:
  void begin(bool called) noexcept;

  ranks* all_;
  task_flight* flight_;
  std::span<std::byte> (*bytes_)(void* datum);
  void* datum_;
};

// What ranks::send and receive return: as the body of a task it also makes the task complete with its message.
struct message_body {
  begins_message begins;
};
template <class... Clauses> struct builder<message_body, Clauses...> {
  static void submit(engine_base& e, message_body&& body, const Clauses&... clauses) {
    event& done = body.begins.done();
    builder<begins_message, Clauses..., completes_clause>::submit(e, std::move(body.begins), clauses...,
                                                                  completes(done));
  }
};

}  // namespace detail

// How much has gone over the wire, without what ranks agree on among themselves.
struct rank_counts {
  std::uint64_t messages_sent = 0, bytes_sent = 0;
  std::uint64_t messages_received = 0, bytes_received = 0;
};

class ranks {
 public:
  // Lives: both, for as long as this; it ends before the runtime. One for a runtime, one for a transport.
  // Errors: weft::error on a modelled machine.
  ranks(runtime& rt, transport& net);
  // Waits for what is on its way. Who: the thread that made the runtime.
  ~ranks();
  ranks(const ranks&) = delete;
  ranks& operator=(const ranks&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] runtime& on() const noexcept { return rt_; }
  // Tags of send() and receive() go from 0 to this.
  [[nodiscard]] int tag_limit() const noexcept { return user_tags_ - 1; }

  // Bodies of tasks that name `h`: with write, and with read. Two messages that may be on their way at once from one
  // rank to another have different tags. Errors: weft::error for a rank or a tag that is none.
  template <class T> [[nodiscard]] detail::message_body receive(handle<T>& h, int from, int tag) {
    return {{*this, fly(from, user_tag(tag), false), &bytes_of<T>, &h.unguarded()}};
  }
  template <class T> [[nodiscard]] detail::message_body send(handle<T>& h, int to, int tag) {
    return {{*this, fly(to, user_tag(tag), true), &bytes_of<T>, &h.unguarded()}};
  }

  // Since this was made; of messages that are over. Who: any thread.
  [[nodiscard]] rank_counts counts() const noexcept;

 protected:
  friend detail::begins_message;
  template <class T> static std::span<std::byte> bytes_of(void* datum) {
    return wire<std::remove_reference_t<T>>::of(*static_cast<std::remove_reference_t<T>*>(datum));
  }
  [[nodiscard]] detail::poller& the_poller() noexcept { return *poller_; }
  [[nodiscard]] detail::task_flight* fly(int peer, int tag, bool sends);
  // The tags of transport above those of the user: a first one, how many, and one for what ranks agree on.
  [[nodiscard]] int first_tag() const noexcept { return user_tags_; }
  [[nodiscard]] int tags() const noexcept { return control_tag_ - user_tags_; }
  [[nodiscard]] int control_tag() const noexcept { return control_tag_; }

 private:
  [[nodiscard]] int user_tag(int tag) const;

  runtime& rt_;
  int rank_, size_, user_tags_, control_tag_;
  std::unique_ptr<detail::poller> poller_;
};

}  // namespace weft
