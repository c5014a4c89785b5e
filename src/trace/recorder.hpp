// What one worker writes down while it works: events in a ring of chunks. A recorder has one writer, which takes no
// lock but when a chunk is full and when it meets a new name; what is in the ring can be read at any time.
//
// Memory. Chunks are blocks of a journal, where they survive the program (journal.hpp). They come from a budget that
// all recorders of a runtime share, so the one that submits everything may have most of it. When the budget is spent a
// recorder overwrites its own oldest chunk and counts what was in it as lost. Two chunks each recorder may have in any
// case.
//
// Order. `next_` is published with release after the event behind it is written; a reader that holds `turning_` sees
// chunks that stay, and in the last of them everything before its acquire load of `next_`.
// Cost: an event is 32 bytes stored, one load and two predictable branches.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "access/version.hpp"
#include "base/atomic.hpp"
#include "trace/counters.hpp"
#include "trace/event.hpp"
#include "trace/journal.hpp"
#include "trace/strand.hpp"

namespace weft::trace {

inline constexpr std::uint32_t id_block = 1024;  // ids a recorder draws at once from the shared counter

// What the recorders of one runtime share.
struct shared_state {
  explicit shared_state(std::size_t bytes) { chunks_left.raw = static_cast<std::int64_t>(bytes / block_bytes); }
  shared_state(std::size_t bytes, const base::part_file& file) : lies_in(file, bytes / block_bytes) {
    chunks_left.raw = static_cast<std::int64_t>(bytes / block_bytes);
  }
  journal lies_in;
  detail::cell<std::int64_t> chunks_left;
  detail::cell<std::uint32_t> next_id_block;
};

class recorder {
 public:
  explicit recorder(shared_state& shared, std::uint32_t number = 0) : shared_(shared), number_(number) {}
  // One whose program has ended, from what its journal has of it.
  recorder(shared_state& shared, std::vector<block*> chunks, std::uint64_t lost, std::vector<std::string> names,
           std::unordered_map<std::uint32_t, std::string> handle_names)
      : shared_(shared), number_(0), chunks_(std::move(chunks)), lost_(lost), names_(std::move(names)),
        handle_names_(std::move(handle_names)) {
    if (!chunks_.empty()) next_.raw = limit_ = chunks_.back()->events + chunk_events;
  }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  // A number for a new task, unique among all tasks whose events can be in the rings at one time; never 0.
  [[nodiscard]] std::uint32_t new_id() noexcept {
    if (ids_left_ == 0) {
      id_ = base::shared(shared_.next_id_block).fetch_add(1, base::relaxed) * id_block;
      ids_left_ = id_block;
    }
    --ids_left_;
    if (++id_ == 0) return new_id();
    detail::poke(issued_, detail::peek(issued_) + 1);
    return id_;
  }
  // Tasks that got a number here. Who: anyone.
  [[nodiscard]] std::uint64_t issued() const noexcept { return detail::peek(issued_); }

  // Who: the recorder's worker, like everything up to read().
  void add(const event& e) noexcept {
    event* at = detail::peek(next_);
    if (at == limit_) [[unlikely]] {
      at = turn();
      if (at == nullptr) return;
    }
    event half = e;  // the kind comes last: what a killed program leaves is never half an event
    half.kind = event_kind::nothing;
    *at = half;
    base::atomic_ref<event_kind>(at->kind).store(e.kind, base::release);
    base::shared(next_).store(at + 1, base::release);  // publishes the event; pairs with read()
  }

  // r is about to be visible to others, with its accesses registered. Its id is set here. by: who submitted it, `when`,
  // if that was not the recorder's worker just now. own_ps: what the main program computed before it; no_time for
  // others.
  void submitted(detail::record& r, std::uint64_t when, std::uint16_t by = by_recorder,
                 std::uint64_t own_ps = no_time) noexcept;

  // s has ended.
  void tell(const strand& s) noexcept;

  counter_group counters;

  // Calls visit(event) for all there are, oldest first; gives the number of those that were overwritten. The chunks
  // that are full leave this process's memory behind it. Who: anyone.
  template <class Visit> std::uint64_t read(Visit visit) {
    const std::lock_guard hold(turning_);
    const event* end = base::shared(next_).load(base::acquire);
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      block& chunk = *chunks_[(oldest_ + i) % chunks_.size()];
      const event* last = i + 1 == chunks_.size() ? end : chunk.events + chunk_events;
      for (const event* e = chunk.events; e != last; ++e)
        if (e->kind != event_kind::nothing) visit(*e);
      if (i + 1 != chunks_.size()) journal::let_go(chunk);
    }
    return lost_;
  }
  // The text that `position` of a submitted event stands for; "" is none. And the names of handles by id.
  template <class Visit> void read_names(Visit visit) {
    const std::lock_guard hold(turning_);
    visit(names_, handle_names_);
  }

 private:
  [[gnu::cold, gnu::noinline]] event* turn() noexcept;
  [[nodiscard]] std::uint32_t number_of(const char* name) noexcept;
  [[gnu::noinline]] std::uint32_t new_name(const char* name) noexcept;
  void meet(const detail::handle_state& h) noexcept;
  void tell_text(word_kind kind, std::uint32_t which, const std::string& text) noexcept;
  [[gnu::noinline]] void new_handle_name(const detail::handle_state& h) noexcept;

  detail::cell<event*> next_;
  event* limit_ = nullptr;
  std::uint32_t id_ = 0;
  std::uint32_t ids_left_ = 0;
  detail::cell<std::uint64_t> issued_;

  // The names met last, found by a look at one place: a program has few.
  struct known_name {
    const char* text = nullptr;
    std::uint32_t number = 0;
  };
  struct known_handle {
    std::uint32_t id = 0;
    const char* text = nullptr;
  };
  std::array<known_name, 64> recent_names_;
  std::array<known_handle, 256> recent_handles_;

  shared_state& shared_;
  const std::uint32_t number_;  // in the journal
  std::mutex turning_;          // guards what follows; held for an addition only when a chunk is full
  std::vector<block*> chunks_;  // a ring from oldest_ on once a chunk was overwritten
  std::uint64_t turns_ = 0;
  std::size_t oldest_ = 0;
  std::uint64_t lost_ = 0;
  std::unordered_map<const char*, std::uint32_t> numbers_;
  std::vector<std::string> names_{std::string()};
  std::unordered_map<std::uint32_t, std::string>
      handle_names_;  // copied: a handle may be gone before the trace is written
};

// How an access says its kind in one byte; kind_text() of it is what a trace shows.
[[nodiscard]] std::uint8_t kind_code(const detail::access& a) noexcept;
[[nodiscard]] std::string kind_text(std::uint8_t code);

}  // namespace weft::trace
