// What a trace is told of a section: each body that has happened, when, and which words it touched; and which tasks
// took part. A body is told once, when its last run has become the truth and before its stores are in base memory: what
// is there then is what it has read. Runs in vain are only counted. Who: bodies happen one at a time, so nothing here
// needs a lock: the one that comes before all others, bodies in order, and a batch that is committed never are at the
// same time, and the section's lock is between them.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "ordered/speculative_task.hpp"
#include "sched/workers/worker.hpp"
#include "weft/runtime.hpp"

namespace weft::speculative {

// Bytes of a word that a body read before it wrote there, or that it wrote.
struct touch {
  std::uintptr_t word;
  std::uint64_t value;
  float own_ps;  // that the body had computed before it read
  byte_mask mask;
  bool is_store;
};

template <class M> class section_book {
 public:
  explicit section_book(const runtime& rt) : runtime_(rt) {}

  // Whether the run that goes on is in a trace.
  [[nodiscard]] bool is_kept() const noexcept { return run_ != 0; }
  // The caller, a task, takes part in a run: the first of it, if that has no number yet.
  static void takes_part(std::uint32_t& run) noexcept {
    if (here().trace.book == nullptr) return;
    trace::recorder& to = *here().trace.book;
    const bool is_first = run == 0;
    if (is_first) run = to.new_id();
    to.add({.task = task_here(),
            .other = run,
            .kind = trace::event_kind::crew,
            .detail = static_cast<std::uint8_t>(is_first ? 1 : 0)});
  }
  // What follows is of that run. Who: with the section's lock held; the first of a run is alone.
  void is_of(std::uint32_t run) noexcept {
    if (run_ == run) return;
    run_ = run;
    if (section_ == 0) section_ = run;
  }
  // What all runs have in common: the number of the first. 0: nothing was told.
  [[nodiscard]] std::uint32_t section() const noexcept { return section_; }

  [[nodiscard]] std::uint64_t now_ps() const noexcept {
    return static_cast<std::uint64_t>(std::llround(runtime_.now_ns() * 1e3));
  }
  // Where the body that runs now is.
  static void place(task_times& of) noexcept {
    of.task = task_here();
    of.worker = static_cast<std::uint16_t>(here().id);
  }

  // What a task did that happens, before its stores are in base memory. At most so many before they are told.
  static constexpr std::size_t seen_max = 16;
  void sees(access_set& did) noexcept {
    WEFT_ASSERT(seen_count_ < seen_max);
    try {
      did.for_each([this](const word_access& a) {
        if (a.read != 0)
          touches_.push_back({a.word, read_memory<base::relaxed>(a.word, a.read), a.own_ps, a.read, false});
        if (a.written != 0) touches_.push_back({a.word, a.value, 0, a.written, true});
      });
    } catch (const std::bad_alloc&) {
      told_ = told_max;
    }
    seen_[seen_count_++] = touches_.size();
  }
  // Of those that were seen and not told, the first is t, which made so many calls. It has its number now: in a batch,
  // when its parent has happened.
  void happens(const task& t, std::size_t calls) noexcept {
    const std::size_t from = told_of_seen_ == 0 ? 0 : seen_[told_of_seen_ - 1];
    tell(t.call.timestamp, t.number, t.runs, t.times, calls, {touches_.data() + from, seen_[told_of_seen_] - from});
    if (++told_of_seen_ != seen_count_) return;
    touches_.clear();
    told_of_seen_ = seen_count_ = 0;
  }
  void tell(std::uint64_t timestamp, std::uint64_t number, std::uint64_t runs, const task_times& when,
            std::size_t calls, std::span<const touch> touches) noexcept {
    told_ += 2 + touches.size();
    if (told_ > told_max || number > UINT32_MAX || calls > UINT32_MAX) return;
    trace::recorder& to = *here().trace.book;
    const auto add = [&](trace::event e) {
      e.task = when.task;
      to.add(e);
    };
    add({.time = when.from_ps,
         .value = when.to_ps,
         .other = run_,
         .position = static_cast<std::uint32_t>(number),
         .worker = when.worker,
         .kind = trace::event_kind::call,
         .detail = static_cast<std::uint8_t>(runs < 255 ? runs : 255)});
    add({.time = timestamp,
         .value = when.own_ps,
         .other = static_cast<std::uint32_t>(calls),
         .position = static_cast<std::uint32_t>(number),
         .kind = trace::event_kind::called,
         .detail = static_cast<std::uint8_t>(when.serializes ? 1 : 0)});
    for (const touch& x : touches)
      add({.time = x.word,
           .value = x.value,
           .other = static_cast<std::uint32_t>(number),
           .position = trace::packed_time(static_cast<std::uint64_t>(x.own_ps)),
           .worker = x.mask,
           .kind = x.is_store ? trace::event_kind::stored : trace::event_kind::loaded});
  }

 private:
  // Events of 32 bytes in all: what has more than that is counted only, and leaves room for tasks. So is what there
  // was no memory for.
  static constexpr std::uint64_t told_max = std::uint64_t{1} << 20;

  [[nodiscard]] static const sched::worker<M>& here() noexcept {
    return static_cast<const sched::worker<M>&>(*sched::current_worker());
  }
  [[nodiscard]] static std::uint32_t task_here() noexcept {
    const detail::record* const r = here().current;
    return r != nullptr ? r->trace_id() : 0;
  }

  const runtime& runtime_;
  std::uint32_t run_ = 0, section_ = 0;
  std::uint64_t told_ = 0;
  std::vector<touch> touches_;                // of those that were seen, one behind the other,
  std::array<std::size_t, seen_max> seen_{};  // each until there
  std::size_t seen_count_ = 0, told_of_seen_ = 0;
};

}  // namespace weft::speculative
