#include "trace/journal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft::trace {

namespace {

constexpr std::size_t step_min = 16, step_max = 1024;  // blocks: 1 to 64 MiB
constexpr std::size_t steps = 64;                      // so what is taken and not used is 2 % of all

// Where the system cannot take room without writing, zeros are written. 0 or an errno.
[[nodiscard]] int take_room(int file, std::size_t from, std::size_t bytes) noexcept {
  for (;;) {
    if (::fallocate(file, 0, static_cast<off_t>(from), static_cast<off_t>(bytes)) == 0) return 0;
    if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) break;
    if (errno != EINTR) return errno;
  }
  static constexpr char zeros[4096] = {};
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t n = ::pwrite(file, zeros, std::min(sizeof zeros, bytes - at), static_cast<off_t>(from + at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    at += static_cast<std::size_t>(n);
  }
  return 0;
}

// The kind is stored last: whoever reads after a crash sees all of a head or none.
void set_head(block& b, const block_head& head, bool plain) noexcept {
  b.head.writer = head.writer;
  b.head.turn = head.turn;
  b.head.lost = head.lost;
  b.head.plain = plain ? 1 : 0;
  base::atomic_ref<block_kind>(b.head.kind).store(head.kind, base::release);
}

}  // namespace

journal::journal(const base::part_file& file, std::size_t blocks_max) noexcept
    : file_(file.descriptor()), step_(std::clamp(blocks_max / steps, step_min, step_max)) {
  if (block* const first = from_file(); first != nullptr)
    std::memcpy(&first->head, journal_magic, sizeof journal_magic);
}

journal::~journal() {
  for (const piece& p : pieces_) ::munmap(p.at, p.bytes);
}

bool journal::grow(std::size_t blocks) noexcept {
  const base::quiet_writing quiet;
  const std::size_t bytes = blocks * block_bytes;
  if (take_room(file_, length_, bytes) != 0) return false;
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(length_));
  if (at == MAP_FAILED) return false;
  try {
    pieces_.push_back({static_cast<std::byte*>(at), bytes});
  } catch (const std::bad_alloc&) {
    ::munmap(at, bytes);
    return false;
  }
  length_ += bytes;
  used_ = 0;
  return true;
}

block* journal::from_file() noexcept {
  if (file_ < 0) return nullptr;
  if ((pieces_.empty() || used_ == pieces_.back().bytes) && !grow(step_) && !grow(1)) {
    file_ = -1;
    return nullptr;
  }
  const piece& last = pieces_.back();
  used_ += block_bytes;
  return reinterpret_cast<block*>(last.at + used_ - block_bytes);
}

block* journal::take_locked(const block_head& head) noexcept {
  block* b = from_file();
  const bool plain = b == nullptr;
  if (plain) {
    try {
      plain_.emplace_back(static_cast<block*>(std::calloc(1, sizeof(block))));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    b = plain_.back().get();
    if (b == nullptr) {
      plain_.pop_back();
      return nullptr;
    }
  }
  set_head(*b, head, plain);
  return b;
}

block* journal::take(const block_head& head) noexcept {
  const std::lock_guard hold(guard_);
  return take_locked(head);
}

void journal::renew(block& b, const block_head& head) noexcept {
  base::atomic_ref<block_kind>(b.head.kind).store(block_kind::nothing, base::release);
  std::memset(static_cast<void*>(b.events), 0, sizeof b.events);
  set_head(b, head, b.head.plain != 0);
}

void journal::tell(word_kind kind, std::string_view first, std::string_view then) noexcept {
  first = first.substr(0, words_bytes / 2);
  then = then.substr(0, words_bytes - sizeof(word_head) - 8 - first.size());
  const std::size_t bytes = first.size() + then.size(), length = word_length(bytes);
  const std::lock_guard hold(guard_);
  if (file_ < 0) return;
  if (words_ == nullptr || told_ + length > words_bytes) {
    words_ = take_locked({.kind = block_kind::words, .writer = 0, .turn = 0, .lost = 0, .plain = 0});
    told_ = 0;
    if (words_ == nullptr) return;
  }
  WEFT_ASSERT(told_ + length <= words_bytes);
  std::byte* const at = words_->words() + told_;
  auto* const head = reinterpret_cast<word_head*>(at);
  head->bytes = static_cast<std::uint32_t>(bytes);
  std::memcpy(at + sizeof(word_head), first.data(), first.size());
  if (!then.empty()) std::memcpy(at + sizeof(word_head) + first.size(), then.data(), then.size());
  base::atomic_ref<word_kind>(head->kind).store(kind, base::release);
  told_ += length;
}

void journal::let_go(block& b) noexcept {
  if (b.head.plain == 0) ::madvise(&b, sizeof b, MADV_DONTNEED);
}

}  // namespace weft::trace
