#include "poller.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "weft/poll.hpp"

namespace weft::detail {

poller::poller(runtime& rt, transport& net)
    : rt_(rt), net_(net), modelled_(std::string_view(rt.machine()) != "host") {
  if (std::exchange(net.is_taken_, true))
    throw error("weft: a transport is for one cluster, or one weft::ranks, in all its life; make another transport");
  net.begin(rt);
  poll_while_idle(rt_, [](void* self) { return static_cast<poller*>(self)->poll(); }, this);
  if (modelled_) return;
  try {
    thread_ = std::thread([this] { look_in_turns(); });
  } catch (...) {
    poll_while_idle(rt_, nullptr, nullptr);
    throw;
  }
}

poller::~poller() {
  close();
  poll_while_idle(rt_, nullptr, nullptr);
  {
    const std::scoped_lock hold(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void poller::post(flight& f, bool in_background) noexcept {
  f.in_background = in_background;
  if (!in_background) expect(1);
  flight* newest = waiting_.load(std::memory_order_relaxed);
  do f.after = newest;
  while (!waiting_.compare_exchange_weak(newest, &f, std::memory_order_seq_cst));
  static_cast<void>(poll());
}

void poller::expect(int more) noexcept {
  // Before the look at `sleeps_`, which is set before the look at this: one of the two sees the other.
  const std::int64_t before = outstanding_.fetch_add(more, std::memory_order_seq_cst);
  if (more < 0 || before != 0 || !sleeps_.load(std::memory_order_seq_cst)) return;
  const std::scoped_lock hold(mutex_);
  wake_.notify_one();
}

// Who finds it busy has put its message down before, or had nothing: the one inside looks again after letting go.
bool poller::poll() noexcept {
  bool any = false;
  do {
    if (busy_.exchange(true, std::memory_order_seq_cst)) return any;
    any = poll_once() || any;
    busy_.store(false, std::memory_order_seq_cst);
  } while (waiting_.load(std::memory_order_seq_cst) != nullptr ||
           (failed_.load(std::memory_order_seq_cst) && !broken_.load(std::memory_order_relaxed)));
  return any;
}

bool poller::poll_once() noexcept {
  looks_.fetch_add(1, std::memory_order_relaxed);
  begin_waiting();
  if (failed_.load(std::memory_order_relaxed) && !broken_.load(std::memory_order_relaxed)) {
    std::unique_lock hold(mutex_);
    const std::string why = asked_;
    hold.unlock();
    break_off(why);
    return true;
  }
  if (broken_.load(std::memory_order_relaxed)) return false;
  message* over = nullptr;
  try {
    over = net_.progress();
  } catch (const std::exception& e) {
    break_off(e.what());
    return true;
  }
  const bool any = over != nullptr;
  while (over != nullptr) {
    auto& f = static_cast<flight&>(*over);
    over = over->next;
    deliver(f, nullptr);
  }
  return any;
}

void poller::begin_waiting() noexcept {
  flight* oldest = nullptr;
  for (flight* f = waiting_.exchange(nullptr, std::memory_order_seq_cst); f != nullptr;)
    oldest = std::exchange(f, std::exchange(f->after, oldest));
  while (oldest != nullptr) begin(*std::exchange(oldest, oldest->after));
}

void poller::begin(flight& f) noexcept {
  f.before = nullptr;
  f.after = first_;
  if (first_ != nullptr) first_->before = &f;
  first_ = &f;
  if (f.tags != nullptr) f.tags->one_has_begun();
  if (broken_.load(std::memory_order_relaxed)) return deliver(f, why_);
  try {
    net_.post(f);
  } catch (const std::exception& e) {
    break_off(e.what());
  }
}

void poller::deliver(flight& f, const std::exception_ptr& why) noexcept {
  (f.before == nullptr ? first_ : f.before->after) = f.after;
  if (f.after != nullptr) f.after->before = f.before;
  const bool in_background = f.in_background;
  if (why == nullptr && !in_background) count(f);
  f.over(f, why);
  if (!in_background) expect(-1);
}

void poller::break_off(const std::string& why) noexcept {
  if (broken_.load(std::memory_order_relaxed)) return;
  failed_.store(true, std::memory_order_relaxed);
  end(why.c_str(), why);
}

// Nothing goes any more: what is on its way, and what comes, is over because of `why`.
void poller::end(const char* reason, const std::string& why) noexcept {
  why_ = std::make_exception_ptr(error(why));
  broken_.store(true, std::memory_order_relaxed);
  net_.leave(reason);
  while (first_ != nullptr) deliver(*first_, why_);
}

void poller::count(const flight& f) noexcept {
  messages_[f.sends].fetch_add(1, std::memory_order_relaxed);
  bytes_[f.sends].fetch_add(f.spoiled ? 0 : f.bytes, std::memory_order_relaxed);
}

void poller::fail(const std::string& why) noexcept {
  {
    const std::scoped_lock hold(mutex_);
    if (asked_.empty()) asked_ = why;
  }
  failed_.store(true, std::memory_order_seq_cst);
  static_cast<void>(poll());
}

void poller::close() noexcept {
  while (busy_.exchange(true, std::memory_order_seq_cst)) rest();
  begin_waiting();  // who put it there has found somebody inside, and other ranks may wait for what it says
  if (!broken_.load(std::memory_order_relaxed)) end(nullptr, "weft: the ranks have ended");
  busy_.store(false, std::memory_order_seq_cst);
  static_cast<void>(poll());
}

// Until another thread, or another core, has left.
void poller::rest() {
  constexpr double ns = 100;
  if (!modelled_) return std::this_thread::yield();
  event later;
  later.fulfil_after(ns);
  later.wait();
}

rank_counts poller::counts() const noexcept {
  const auto get = [](const std::atomic<std::uint64_t>& x) { return x.load(std::memory_order_relaxed); };
  return {get(messages_[1]), get(bytes_[1]), get(messages_[0]), get(bytes_[0])};
}

// Looks if nobody has since it looked last, so that messages go on while all workers are in bodies or sleep.
void poller::look_in_turns() {
  std::unique_lock hold(mutex_);
  int pause_us = quick_us, idle = 0;
  for (std::uint64_t seen = 0; !stop_;) {
    if (idle > idle_looks) {
      sleeps_.store(true, std::memory_order_seq_cst);
      wake_.wait(hold, [this] { return stop_ || outstanding_.load(std::memory_order_seq_cst) > 0; });
      sleeps_.store(false, std::memory_order_relaxed);
      idle = 0;
      pause_us = quick_us;
      continue;
    }
    wake_.wait_for(hold, std::chrono::microseconds(pause_us));
    hold.unlock();
    idle = outstanding_.load(std::memory_order_relaxed) > 0 ? 0 : idle + 1;
    const bool others_look = looks_.load(std::memory_order_relaxed) != seen;
    if (!others_look) static_cast<void>(poll());
    pause_us = others_look ? std::min(2 * pause_us, slow_us) : quick_us;
    seen = looks_.load(std::memory_order_relaxed);
    hold.lock();
  }
}

}  // namespace weft::detail
