#include "gil.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace weftrt {

namespace {

constexpr auto between_looks = std::chrono::milliseconds(1);
constexpr auto between_looks_idle = std::chrono::milliseconds(10);  // while no thread is in a body

}  // namespace

gil_watch::gil_watch() {
  void* const state = dlsym(RTLD_DEFAULT, "_PyRuntime");
  Dl_info where{};
  const ElfW(Sym)* symbol = nullptr;
  if (state != nullptr &&
      dladdr1(state, &where, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT) != 0 &&
      symbol != nullptr) {
    from_ = reinterpret_cast<std::uintptr_t>(state);
    to_ = from_ + symbol->st_size;
  }
  thread_ = std::thread([this] { look(); });
}

gil_watch::~gil_watch() {
  {
    const std::lock_guard hold(lock_);
    ends_ = true;
    over_.notify_all();
  }
  thread_.join();
  for (const auto& one : all_)
    if (one->file_ >= 0) close(one->file_);
}

gil_waits& gil_watch::add() {
  auto made = std::make_unique<gil_waits>();
  const std::string name = "/proc/self/task/" + std::to_string(gettid()) + "/syscall";
  made->file_ = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  const std::lock_guard hold(lock_);
  all_.push_back(std::move(made));
  return *all_.back();
}

// The file has the number of the system call that the thread is in, and its arguments: of a futex first its address.
bool gil_watch::waits(const gil_waits& of) const noexcept {
  char text[128];
  const ssize_t n = of.file_ < 0 ? -1 : pread(of.file_, text, sizeof text - 1, 0);
  if (n <= 0) return false;
  text[n] = '\0';
  long number = -1;
  unsigned long at = 0;
  return std::sscanf(text, "%ld %lx", &number, &at) == 2 && number == SYS_futex && at >= from_ && at < to_;
}

void gil_watch::look() {
  pthread_setname_np(pthread_self(), "weft-gil");
  bool any = false;
  auto before = std::chrono::steady_clock::now();
  std::unique_lock hold(lock_);
  while (!over_.wait_for(hold, any ? between_looks : between_looks_idle, [this] { return ends_; })) {
    const auto now = std::chrono::steady_clock::now();
    const auto step = std::chrono::duration_cast<std::chrono::nanoseconds>(now - before).count();
    before = now;
    const bool is_first = !std::exchange(any, false);  // its step was longer
    for (const auto& one : all_) {
      if (!one->looked_at_.load(std::memory_order_relaxed)) continue;
      any = true;
      if (!is_first && waits(*one)) one->ns_.fetch_add(static_cast<std::uint64_t>(step), std::memory_order_relaxed);
    }
  }
}

}  // namespace weftrt
