#include "trace/recorder.hpp"

#include <new>

#include "base/assert.hpp"

namespace weft::trace {

namespace {
constexpr std::uint8_t user_type_bit = 128;
constexpr std::uint8_t kind_flags = detail::kind_readonly | detail::kind_commutative | detail::kind_exclusive;
}  // namespace

std::uint8_t kind_code(const detail::access& a) noexcept {
  const std::uint8_t group = access::group_of(a);
  if (group >= detail::group_user)
    return static_cast<std::uint8_t>(user_type_bit | ((group - detail::group_user) / 8 + 1));
  const auto kind = static_cast<std::uint8_t>(access::kind_of(a) & ~detail::kind_repeated);
  // What is done with a buffer of a stream is concurrent, a read or a write of it.
  return kind > detail::kind_resource ? static_cast<std::uint8_t>(kind & ~detail::kind_resource) : kind;
}

std::string kind_text(std::uint8_t code) {
  if ((code & user_type_bit) != 0) return "user " + std::to_string(code & ~user_type_bit);
  switch (code) {
  case detail::kind_read: return "read";
  case detail::kind_write: return "write";
  case detail::kind_add: return "add";
  case detail::kind_concurrent: return "concurrent";
  case detail::kind_reduce: return "reduce";
  default: WEFT_ASSERT(code == detail::kind_resource); return "resource";
  }
}

void recorder::submitted(detail::record& r, std::uint64_t when, std::uint16_t by, std::uint64_t own_ps) noexcept {
  r.trace_id() = new_id();
  add({.time = when,
       .value = wishes_and_time(r.pin, r.near, own_ps),
       .task = r.trace_id(),
       .other = r.parent != nullptr ? r.parent->trace_id() : 0,
       .position = number_of(r.name),
       .worker = by,
       .kind = event_kind::submitted,
       .detail = static_cast<std::uint8_t>((r.urgent ? clause_priority : 0) | (r.subtasks ? clause_subtasks : 0) |
                                           (r.is_call ? is_call : 0))});
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    const detail::access* a = r.accesses() + i;
    const detail::handle_state& h = access::handle_of(*a);
    meet(h);
    // A repetition got no version of its own; it has the one of the first access to that handle.
    const detail::access* first = a;
    if (access::is_repeated(*a))
      for (first = r.accesses(); &access::handle_of(*first) != &h;) ++first;
    add({.time = access::is_resource(*a) ? h.group_start
                 : h.sized               ? detail::bytes_of(h)
                                         : 0,
         .value = first->required,
         .task = r.trace_id(),
         .other = h.id,
         .position = i,
         .worker = static_cast<std::uint16_t>(access::kind_of(*a) & kind_flags),
         .kind = event_kind::access,
         .detail = kind_code(*a)});
  }
}

void recorder::tell(const strand& s) noexcept {
  add({.time = s.began_ps(),
       .value = s.is_whole() ? s.steps().size() : 0,
       .task = s.task(),
       .other = s.id(),
       .position = packed_time(s.own_before_ps()),
       .kind = event_kind::strand,
       .detail = static_cast<std::uint8_t>(s.of())});
  std::uint32_t position = 0;
  for (const strand::step& x : s.steps())
    add({.time = x.own_ps,
         .value = x.which,
         .task = s.task(),
         .other = s.id(),
         .position = position++,
         .kind = event_kind::step,
         .detail = static_cast<std::uint8_t>(x.kind)});
}

// A full chunk: another one, or the oldest once more. Without memory for the first, events are lost one by one.
event* recorder::turn() noexcept {
  const std::lock_guard hold(turning_);
  const block_head head{.kind = block_kind::events, .writer = number_, .turn = ++turns_, .lost = lost_, .plain = 0};
  const bool allowed = base::shared(shared_.chunks_left).fetch_sub(1, base::relaxed) > 0 || chunks_.size() < 2;
  block* chunk = nullptr;
  if (allowed) {
    try {
      chunks_.reserve(chunks_.size() + 1 > chunks_.capacity() ? 2 * chunks_.capacity() + 2 : chunks_.capacity());
      chunk = shared_.lies_in.take(head);
    } catch (const std::bad_alloc&) {  // then there is none
    }
  }
  if (chunk != nullptr) {
    // Behind the newest: before the place where a ring that has turned begins.
    chunks_.insert(oldest_ == 0 ? chunks_.end() : chunks_.begin() + static_cast<std::ptrdiff_t>(oldest_), chunk);
    if (oldest_ != 0) ++oldest_;
  } else if (chunks_.empty()) {
    ++lost_;
    return nullptr;
  } else {
    chunk = chunks_[oldest_];
    oldest_ = (oldest_ + 1) % chunks_.size();
    lost_ += chunk_events;
    block_head again = head;
    again.lost = lost_;
    journal::renew(*chunk, again);
  }
  limit_ = chunk->events + chunk_events;
  detail::poke(next_, &chunk->events[0]);
  return chunk->events;
}

std::uint32_t recorder::number_of(const char* name) noexcept {
  if (name == nullptr) return 0;
  const auto bits = reinterpret_cast<std::uintptr_t>(name);
  known_name& known = recent_names_[(bits >> 2 ^ bits >> 8) % recent_names_.size()];
  if (known.text != name) known = {name, new_name(name)};
  return known.number;
}

std::uint32_t recorder::new_name(const char* name) noexcept {
  const std::lock_guard hold(turning_);
  try {
    const auto [at, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) {
      names_.emplace_back(name);
      tell_text(word_kind::name, at->second, names_.back());
    }
    return at->second;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void recorder::tell_text(word_kind kind, std::uint32_t which, const std::string& text) noexcept {
  const std::uint32_t numbers[] = {number_, which};
  shared_.lies_in.tell(kind, {reinterpret_cast<const char*>(numbers), sizeof numbers}, text);
}

void recorder::meet(const detail::handle_state& h) noexcept {
  const char* const name = detail::name_in(h);
  if (name == nullptr) return;
  known_handle& known = recent_handles_[h.id % recent_handles_.size()];
  if (known.id == h.id && known.text == name) return;
  known = {h.id, name};
  new_handle_name(h);
}

void recorder::new_handle_name(const detail::handle_state& h) noexcept {
  const std::lock_guard hold(turning_);
  try {
    std::string& name = handle_names_[h.id];
    name = detail::name_in(h);
    tell_text(word_kind::handle, h.id, name);
  } catch (const std::bad_alloc&) {
    // The handle stays without a name.
  }
}

}  // namespace weft::trace
