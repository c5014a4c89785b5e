// The reader's side of a page.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "base/atomic.hpp"
#include "watched.hpp"
#include "weft/error.hpp"

namespace weft::tool {

namespace {

using trace::live_head;
using trace::live_row;

[[nodiscard]] bool is_sealed(int file) noexcept {
  const int seals = ::fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

// Texts come from another program, whose mistakes are not to be ours.
template <std::size_t Bytes> void end(char (&text)[Bytes]) noexcept { text[Bytes - 1] = '\0'; }

}  // namespace

live_page::live_page(int file, const std::string& whose) : file_(file) {
  const auto refuse = [&](const std::string& why) {
    if (head_ != nullptr) ::munmap(head_, bytes_);
    ::close(file_);
    throw weft::error("top: " + whose + " " + why);
  };
  struct stat found {};
  // A file that could shrink under the reader would end it by a signal.
  if (::fstat(file_, &found) != 0 || !is_sealed(file_) || found.st_size < static_cast<off_t>(sizeof(live_head)))
    refuse("has a file of the name of Weft's counters that is none of Weft's");
  bytes_ = static_cast<std::size_t>(found.st_size);
  void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (at == MAP_FAILED) refuse("has counters that cannot be mapped: " + std::string(std::strerror(errno)));
  head_ = static_cast<live_head*>(at);
  if (base::shared(head_->magic).load(base::acquire) != trace::live_magic)
    refuse("has a file of the name of Weft's counters that is none of Weft's");
  if (head_->version != trace::live_version)
    refuse("has its counters in layout " + std::to_string(head_->version) + ", and this weft reads layout " +
           std::to_string(trace::live_version) + "; take the weft that came with the library of that program");
  const std::uint64_t rows = head_->rows;
  if (head_->bytes != bytes_ || head_->row_bytes != sizeof(live_row) ||
      bytes_ != sizeof(live_head) + rows * sizeof(live_row))
    refuse("has counters that are not whole");
}

live_page::~live_page() {
  if (file_ < 0) return;
  ::munmap(head_, bytes_);
  ::close(file_);
}

live_page::live_page(live_page&& other) noexcept
    : file_(std::exchange(other.file_, -1)), bytes_(other.bytes_), head_(other.head_), question_(other.question_) {}

bool live_page::over() const noexcept { return base::shared(head_->over).load(base::relaxed) != 0; }

bool live_page::take_turn() noexcept { return ::flock(file_, LOCK_EX | LOCK_NB) == 0; }
void live_page::give_turn() noexcept { static_cast<void>(::flock(file_, LOCK_UN)); }

void live_page::ask() noexcept {
  question_ = base::shared(head_->asked).fetch_add(1, base::release) + 1;
  ::syscall(SYS_futex, &head_->asked.raw, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool live_page::answered(unsigned within_ms) noexcept {
  const std::uint32_t now = base::shared(head_->answered).load(base::acquire);  // pairs with the program's store
  if (now == question_) return true;
  const timespec limit{static_cast<time_t>(within_ms / 1000), static_cast<long>(within_ms % 1000) * 1'000'000};
  ::syscall(SYS_futex, &head_->answered.raw, FUTEX_WAIT, now, &limit, nullptr, 0);
  return base::shared(head_->answered).load(base::acquire) == question_;
}

live_answer live_page::read() const {
  live_answer found;
  std::memcpy(static_cast<void*>(&found.head), head_, sizeof(live_head));
  const auto* const rows = reinterpret_cast<const live_row*>(head_ + 1);
  found.rows.assign(rows, rows + (bytes_ - sizeof(live_head)) / sizeof(live_row));
  end(found.head.library);
  end(found.head.program);
  end(found.head.policy);
  for (live_row& row : found.rows) {
    end(row.body);
    if (row.does > trace::live_does::outside) row.does = trace::live_does::busy;
    if (row.role > trace::live_role::creator) row.role = trace::live_role::ordinary;
  }
  return found;
}

}  // namespace weft::tool
