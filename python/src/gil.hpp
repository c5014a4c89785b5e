// How long bodies wait for the GIL, where a trace is recorded. What a body waits before it begins is measured. What it
// waits later - when it is asked to give the GIL up, or comes back from a call that did without - only the interpreter
// knows; there a thread of ours looks, each millisecond, at what the kernel says of the threads that are in bodies: one
// that sleeps on a futex inside the interpreter's own state waits for the GIL. Where the kernel does not say, that part
// is 0.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace weftrt {

// Of one thread that runs bodies.
class gil_waits {
 public:
  // Who: the thread; that of a body, which begins.
  void begin(std::uint64_t waited_ns) noexcept {
    if (depth_++ == 0) ns_.store(0, std::memory_order_relaxed);
    ns_.fetch_add(waited_ns, std::memory_order_relaxed);
    looked_at_.store(true, std::memory_order_relaxed);
  }
  // Returns what the body has waited.
  std::uint64_t end() noexcept {
    if (--depth_ == 0) looked_at_.store(false, std::memory_order_relaxed);
    return depth_ == 0 ? ns_.load(std::memory_order_relaxed) : 0;  // a task that is called in another is part of that
  }

 private:
  friend class gil_watch;
  std::atomic<std::uint64_t> ns_{0};
  std::atomic<bool> looked_at_{false};
  unsigned depth_ = 0;
  int file_ = -1;  // of the kernel, about the thread
};

class gil_watch {
 public:
  gil_watch();
  ~gil_watch();
  gil_watch(const gil_watch&) = delete;
  gil_watch& operator=(const gil_watch&) = delete;

  // The calling thread will run bodies. What is returned lives as long as this.
  [[nodiscard]] gil_waits& add();

 private:
  void look();
  [[nodiscard]] bool waits(const gil_waits& of) const noexcept;

  std::uintptr_t from_ = 0, to_ = 0;  // the interpreter's state
  std::mutex lock_;
  std::condition_variable over_;
  bool ends_ = false;
  std::vector<std::unique_ptr<gil_waits>> all_;
  std::thread thread_;
};

}  // namespace weftrt
