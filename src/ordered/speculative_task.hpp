// A task of the speculative executor: a call, its place in the order, and what its runs have left behind. Tasks are
// recycled and never given back while a section runs, so whoever holds one too long sees another generation and not
// freed memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "ordered/word.hpp"
#include "weft/detail/ordered.hpp"

namespace weft::speculative {

struct task;

// What one run did with one word. It is the entry in the lists of readers and versions of that word, too
// (versions.hpp), so registering allocates nothing.
struct word_access {
  std::uintptr_t word = 0;
  task* by = nullptr;
  void* bucket = nullptr;   // once it was looked up
  std::uint64_t value = 0;  // as the body sees it: what was read, under what it has written
  byte_mask read = 0;       // bytes that came from others
  byte_mask written = 0;
  bool registered = false;  // it is in the list of readers
  bool published = false;   // it is in the list of versions
  float own_ps = 0;         // for a trace: what the body had computed before it read here
  word_access* next_reader = nullptr;
  word_access* previous_reader = nullptr;
  word_access* next_version = nullptr;
  word_access* previous_version = nullptr;
};

// The accesses of a run. They stay where they are while it grows; cleared, it keeps its memory.
class access_set {
 public:
  [[nodiscard, gnu::always_inline]] word_access& add() {
    if (next_ == block_end_) [[unlikely]]
      begin_block();
    ++size_;
    *next_ = word_access{};
    return *next_++;
  }
  // In the order in which they came.
  template <class F> [[gnu::always_inline]] void for_each(F f) {
    std::size_t left = size_;
    for (auto b = blocks_.begin(); left != 0; ++b) {
      WEFT_ASSERT(b != blocks_.end());
      word_access* const first = b->get();
      word_access* const end = first + std::min(left, block);
      left -= static_cast<std::size_t>(end - first);
      for (word_access* a = first; a != end; ++a) f(*a);
    }
  }
  [[nodiscard]] word_access& operator[](std::size_t i) noexcept {
    WEFT_DEBUG_ASSERT(i < size_);  // behind are those of runs before this
    return blocks_[i / block][i % block];
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void clear() noexcept {
    size_ = 0;
    next_ = block_end_ = nullptr;
  }

 private:
  static constexpr std::size_t block = 16;
  [[gnu::noinline]] void begin_block() {
    WEFT_ASSERT(size_ % block == 0 && size_ <= blocks_.size() * block);
    if (size_ == blocks_.size() * block) blocks_.push_back(std::make_unique<word_access[]>(block));
    next_ = blocks_[size_ / block].get();
    block_end_ = next_ + block;
  }

  word_access* next_ = nullptr;  // where the next one goes
  word_access* block_end_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<word_access[]>> blocks_;
};

// Memory that a body took or gave back.
struct allocation {
  void* at;
  std::size_t bytes;
  std::size_t alignment;
};

enum class phase : std::uint8_t {
  free,        // nobody's
  pending,     // waits to be admitted
  running,     // its body runs
  ready,       // admitted, and its body is to run again
  parked,      // waits for the run of one that it wants to read from
  first_only,  // it asked to be the oldest, and goes on when it is
  done,        // it has run, and all that it did is published
  committing,  // it is the oldest, and what it did is being made the truth
};

struct task_ref {
  task* to = nullptr;
  std::uint32_t generation = 0;
};

inline constexpr std::uint64_t unborn = ~std::uint64_t{0};
inline constexpr std::size_t in_no_heap = ~std::size_t{0};

// For a trace: when and where a run was. Times since the runtime was made.
struct task_times {
  std::uint64_t from_ps = 0, to_ps = 0;
  std::uint64_t own_ps = 0;  // of that, without what the section took
  std::uint32_t task = 0;    // of the trace, in which it was
  std::uint16_t worker = 0;
  bool serializes = false;
  bool is_told = false;
};

struct alignas(64) task {
  detail::ordered_call call{};
  // How manieth call it is of a serial run: known when its parent has happened, until then `unborn`.
  std::uint64_t number = unborn;
  task* parent = nullptr;   // while unborn
  std::uint32_t child = 0;  // of that, counted from 0
  std::uint32_t generation = 0;
  phase now = phase::free;
  bool dead = false;         // while it runs: its parent does not create it any more
  bool wants_first = false;  // its body serializes
  std::uint8_t live = 0;     // which of the sets is that of the last run that was published
  bool published = false;    // there was one
  // Where it is among the admitted ones (commit_order.hpp). Written under the section's lock, read by anybody.
  detail::cell<std::uint64_t> label;
  // Order: relaxed. Each says what it says by its value; versions, readers and children are under locks.
  detail::cell<std::uint32_t> stale;   // what its last run read is not so any more, or it is dead
  detail::cell<std::uint32_t> redone;  // what it has published is of a run before the one that is going on
  task* next = nullptr;                // among the admitted
  task* previous = nullptr;
  std::size_t heap_index = in_no_heap;
  double body_ns = 0;  // of its last run
  std::uint64_t runs = 0;
  task_times times;  // of its last run
  access_set sets[2];
  std::vector<task*> children;
  std::vector<task_ref> waiters;  // parked until it is done
  std::vector<allocation> allocated;
  std::vector<allocation> released;
  std::exception_ptr error;

  [[nodiscard]] access_set& last_run() noexcept { return sets[live]; }
  [[nodiscard]] access_set& this_run() noexcept { return sets[1 - live]; }
  // Whether a value that it has published is one that its next run may change.
  [[nodiscard]] bool unsettled() const noexcept { return detail::peek(stale) != 0 || detail::peek(redone) != 0; }
};

// Whether a comes before b, both admitted, for those who do not hold the section's lock. Labels move upward only, and
// of two the later one first (commit_order.hpp); so if a's is the same before and after b's was read, it was so then.
[[nodiscard]] inline bool precedes(const task& a, const task& b) noexcept {
  std::uint64_t first = detail::peek_acquire(a.label);
  for (;;) {
    const std::uint64_t other = detail::peek_acquire(b.label);
    const std::uint64_t again = detail::peek_acquire(a.label);
    if (first == again) return first < other;
    first = again;
  }
}

}  // namespace weft::speculative
