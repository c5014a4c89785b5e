// Calls the transport: one thread at a time, whoever comes by. poller.md says who does and when.
// Invariant: what stands in `waiting_` is seen by whoever holds `busy_` when it lets go, or by who put it there.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "weft/ranks.hpp"

namespace weft::detail {

// Tags are used again in turns: those of one half only when all messages of it, last time, have begun on this side.
// Then they are matched in order, as messages with one tag are.
struct half_of_tags {
  explicit half_of_tags(std::uint32_t n) : left(n) {}
  void one_has_begun() {
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) all_have.fulfil();  // and this may be gone
  }
  std::atomic<std::uint32_t> left;  // messages of it that have not begun
  event all_have;                   // the submitter waits for it before it takes these tags again
};

// Of the messages to one rank, or from one.
class tags_in_turns {
 public:
  struct tag {
    std::uint32_t number;  // 0 to 2 * size - 1
    half_of_tags* half;
  };
  explicit tags_in_turns(std::uint32_t tags) : size_(tags / 2) {}
  // May wait, and runs tasks then. Who: the submitter.
  [[nodiscard]] tag take() {
    std::unique_ptr<half_of_tags>& h = halves_[taken_ / size_ % 2];
    if (taken_ % size_ == 0) {
      if (h != nullptr) h->all_have.wait();
      h = std::make_unique<half_of_tags>(size_);
    }
    return {static_cast<std::uint32_t>(taken_++ % (2 * std::uint64_t{size_})), h.get()};
  }

 private:
  std::uint32_t size_;
  std::uint64_t taken_ = 0;
  std::unique_ptr<half_of_tags> halves_[2];
};

class poller {
 public:
  poller(runtime& rt, transport& net);
  ~poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  // f begins now or soon; f.over is called when it is over, by any thread, one at a time, and may not wait.
  // in_background: nobody waits for it. Who: any thread. Cost: never waits for a lock.
  void post(flight& f, bool in_background = false) noexcept;
  // Somebody waits for what is in the background, or not any more: then the thread looks. Who: any thread.
  void expect(int more) noexcept;
  // All that is on its way fails with this, and what is posted from now on. The first reason stays.
  void fail(const std::string& why) noexcept;
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  // Goes on, if nobody does at this moment. Returns whether anything was over.
  bool poll() noexcept;
  // Nothing is on its way any more but what is in the background: that is let go, too.
  void close() noexcept;

  // There is one thread, and time goes on only in calls of the runtime.
  [[nodiscard]] bool is_modelled() const noexcept { return modelled_; }
  [[nodiscard]] rank_counts counts() const noexcept;

 private:
  static constexpr int quick_us = 50, slow_us = 400;  // between two looks of the thread
  static constexpr int idle_looks = 500;              // in a row with nothing on its way; then it sleeps
  bool poll_once() noexcept;
  void begin(flight& f) noexcept;
  void begin_waiting() noexcept;
  void deliver(flight& f, const std::exception_ptr& why) noexcept;
  void break_off(const std::string& why) noexcept;
  void end(const char* reason, const std::string& why) noexcept;
  void count(const flight& f) noexcept;
  void look_in_turns();

  void rest();

  runtime& rt_;
  transport& net_;
  const bool modelled_;
  std::atomic<flight*> waiting_{nullptr};  // posted, and not begun; the newest first
  std::atomic<bool> busy_{false};
  std::atomic<bool> failed_{false};  // asked to fail, or broken
  std::atomic<bool> broken_{false};  // or at its end; written under busy_
  std::atomic<std::uint64_t> looks_{0};
  std::atomic<std::int64_t> outstanding_{0};  // but for those in the background
  std::atomic<std::uint64_t> messages_[2] = {}, bytes_[2] = {};  // received, sent
  // Guarded by busy_.
  flight* first_ = nullptr;  // on their way
  std::exception_ptr why_;
  // The thread that looks when nobody else does, and why all is to fail.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string asked_;
  bool stop_ = false;
  std::atomic<bool> sleeps_{false};
  std::thread thread_;
};

}  // namespace weft::detail
