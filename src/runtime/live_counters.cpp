#include "runtime/live_counters.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/foreign_text.hpp"
#include "weft/version.hpp"

namespace weft {

namespace {

using trace::live_head;
using trace::live_row;

detail::cell<std::uint32_t> runtimes;  // of this process that let others look

// Not private: the other side is another process.
void futex(detail::cell<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  ::syscall(SYS_futex, &word.raw, operation, value, nullptr, nullptr, 0);
}

template <std::size_t Bytes> void set_text(char (&to)[Bytes], const char* text) noexcept {
  std::snprintf(to, Bytes, "%s", text);
}

}  // namespace

live_counters::live_counters(sched::any_engine& of, const char* policy) noexcept : engine_(of) {
  const char* refused = nullptr;
  try {
    refused = make_page(policy);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    refused = "memory";
  }
  if (refused == nullptr) refused = make_thread();
  if (refused == nullptr) return;
  std::fprintf(stderr, "weft: nobody can look at this runtime by `weft top`: the system refuses %s (%s); going on.\n",
               refused, std::strerror(errno));
  drop();
}

live_counters::~live_counters() {
  const bool ours = head_ != nullptr && head_->process == ::getpid();
  if (ours) {
    base::shared(head_->over).store(1, base::relaxed);
    base::shared(head_->asked).fetch_add(1, base::release);  // whoever sees this sees that it is over
    futex(head_->asked, FUTEX_WAKE, 1);
    if (has_thread_) pthread_join(thread_, nullptr);
    futex(head_->answered, FUTEX_WAKE, INT_MAX);  // who waits for an answer looks whether it is over
  }
  drop();
}

void live_counters::drop() noexcept {
  if (head_ != nullptr) ::munmap(head_, bytes_);
  if (file_ >= 0) ::close(file_);
  head_ = nullptr;
  file_ = -1;
}

// A reader may open it at any time: the magic word comes last, when all before the answer is there.
const char* live_counters::make_page(const char* policy) {
  const unsigned seats = engine_.seats();
  bytes_ = sizeof(live_head) + seats * sizeof(live_row);
  file_ = ::memfd_create(trace::live_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file_ < 0) return "shared memory for it";
  if (::ftruncate(file_, static_cast<off_t>(bytes_)) != 0) return "room in that";
  if (::fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return "to seal it";
  void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (at == MAP_FAILED) return "to map it";
  head_ = new (at) live_head{};
  new (head_ + 1) live_row[seats]{};
  head_->version = trace::live_version;
  head_->bytes = static_cast<std::uint32_t>(bytes_);
  head_->row_bytes = sizeof(live_row);
  head_->rows = seats;
  head_->process = ::getpid();
  head_->runtime = base::shared(runtimes).fetch_add(1, base::relaxed) + 1;
  set_text(head_->library, version());
  set_text(head_->program, program_invocation_short_name);
  set_text(head_->policy, policy);
  engine_.look(*head_, rows());
  head_->began_ns = head_->now_ns;
  base::shared(head_->magic).store(trace::live_magic, base::release);  // publishes it; pairs with the reader's load
  return nullptr;
}

// Signals are for the program's threads.
const char* live_counters::make_thread() noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto main = [](void* self) -> void* {
    static_cast<live_counters*>(self)->answer();
    return nullptr;
  };
  const int refused = pthread_create(&thread_, nullptr, main, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  has_thread_ = refused == 0;
  if (has_thread_) pthread_setname_np(thread_, "weft-top");
  errno = refused;
  return has_thread_ ? nullptr : "a thread that answers";
}

std::span<live_row> live_counters::rows() noexcept { return {reinterpret_cast<live_row*>(head_ + 1), head_->rows}; }

void live_counters::answer() noexcept {
  for (;;) {
    const std::uint32_t asked = base::shared(head_->asked).load(base::acquire);  // of the reader, and of the end
    if (base::shared(head_->over).load(base::relaxed) != 0) return;
    if (asked == detail::peek(head_->answered)) {
      futex(head_->asked, FUTEX_WAIT, asked);
      continue;
    }
    engine_.look(*head_, rows());
    base::shared(head_->answered).store(asked, base::release);  // publishes them; pairs with the reader's load
    futex(head_->answered, FUTEX_WAKE, INT_MAX);
  }
}

}  // namespace weft
