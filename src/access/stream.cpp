#include "access/stream.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include "access/condition_elements.hpp"
#include "access/stream_buffer.hpp"
#include "base/printable.hpp"
#include "weft/detail/submit.hpp"
#include "weft/detail/worker.hpp"
#include "weft/error.hpp"
#include "weft/memory_placement.hpp"
#include "weft/stream.hpp"

namespace weft {

namespace {

using detail::matching;
using detail::stream_buffer;
using detail::stream_state;
using detail::stretch;
using detail::stretch_kind;

[[nodiscard]] std::string stream_name(const stream_state& s) {
  return s.name != nullptr ? "stream '" + base::printable(s.name) + "'" : std::string("an unnamed stream");
}

// ---- buffers. Who, for all of this: holder of the stream's lock.

// Whether nobody will touch b any more, which all stretches have left: the last of their tasks has advanced the version
// and left the lock.
[[nodiscard]] bool is_over(stream_buffer& b) noexcept {
  detail::handle_state& h = b.handle;
  return access::outstanding(base::shared(h.word).load(base::acquire), h.registered) == 0 &&
         base::shared(h.lock).load(base::acquire) == 0;
}
[[nodiscard]] bool has_failed(stream_buffer& b) noexcept { return base::shared(b.handle.poisoned).load(base::relaxed); }

// One whose life is over, or nullptr. Some may have been left a moment ago by bodies whose accesses are about to be
// done, or are done only with their children: these are put aside, so that nobody has to look past them, and looked at
// when there is no other, in turn.
void put_aside(stream_state& s, stream_buffer& b) noexcept {
  b.older = nullptr;
  (s.late == nullptr ? s.late : s.late_last->older) = &b;
  s.late_last = &b;
}
[[nodiscard]] stream_buffer* first_over(stream_state& s, stream_buffer*& list, int looks) noexcept {
  while (looks-- > 0 && list != nullptr) {
    stream_buffer* const b = list;
    list = b->older;
    if (has_failed(*b) || detail::peek(detail::lost_of(*b)) != 0) continue;
    if (is_over(*b)) return b;
    put_aside(s, *b);
  }
  return nullptr;
}
[[nodiscard, gnu::noinline]] stream_buffer* take_unused(stream_state& s) noexcept {
  constexpr int looks = 8;  // under the lock
  stream_buffer* b = first_over(s, s.unused, looks);
  if (b == nullptr && s.unused == nullptr) b = first_over(s, s.unused = detail::take_left(s), looks);
  return b != nullptr ? b : first_over(s, s.late, looks);
}

// One that is not used. Inlined for the first of the list, which most often will do.
[[nodiscard, gnu::noinline]] stream_buffer* other_buffer(stream_state& s) {
  if (stream_buffer* const b = take_unused(s)) return b;
  stream_buffer* const b = detail::buffer_chunk::next(s.chunk, s, s.type);
  if (s.name != nullptr) detail::set_name(b->handle, s.name);
  return b;
}
[[nodiscard, gnu::always_inline]] inline stream_buffer* unused_buffer(stream_state& s) {
  if (s.unused == nullptr) s.unused = detail::take_left(s);
  stream_buffer* b = s.unused;
  if (b != nullptr && is_over(*b) && !has_failed(*b)) [[likely]]
    s.unused = b->older;
  else
    b = other_buffer(s);
  if (s.newest == b) s.newest = nullptr;
  return b;
}

// Where its elements will lie; no_home: where the first push runs. What was found of its last life says nothing.
void set_home(detail::handle_state& h, std::uint32_t node) noexcept {
  const auto home = static_cast<std::uint16_t>(node);
  if (detail::home_of(h) != home || detail::is_home_found(h)) detail::set_home(h, home);
}

// Errors: as memory_of(); b is as if it had not been taken.
void take_memory_now(stream_buffer& b) {
  stream_state& s = detail::stream_of(b);
  try {
    if (b.handle.sized && s.engine != nullptr) s.engine->renew_data(b.handle);
    if (!b.in_place)  // last, for whatever fails behind it would have to give it back
      detail::poke(b.data, b.early ? detail::take_memory(detail::type_of(b), b.end - b.begin) : detail::take_memory(b));
  } catch (...) {
    b.begin = b.end = 0;
    b.early = false;
    b.older = s.unused;
    s.unused = &b;
    throw;
  }
}

// What is known of the data behind b, on modelled machines. Smaller data are no region of their own there: they come
// with the lines of the handle.
[[gnu::noinline]] void describe_data(stream_buffer& b) noexcept {
  const std::uint64_t all = (b.end - b.begin) * detail::type_of(b).bytes;
  const std::uint64_t bytes = all >= detail::region_from && all <= detail::bytes_max ? all : 0;
  if (detail::bytes_of(b.handle) != bytes) detail::set_bytes(b.handle, bytes);
  if (bytes != 0)
    set_home(b.handle, detail::stream_of(b).immediate ? memory_placement::local().node() : detail::no_home);
}

// [s.end, end). early: nobody has pushed any of them.
[[nodiscard, gnu::always_inline]] inline stream_buffer& add_buffer(stream_state& s, std::uint64_t end, bool early) {
  WEFT_ASSERT(s.end < end);
  stream_buffer& b = *unused_buffer(s);
  b.begin = s.end;
  b.end = end;
  b.early = early;
  b.in_place = end - s.end <= s.in_place_max;
  if (b.in_place) std::memset(b.small, 0, detail::region_from);  // as elements are that were not pushed after all
  detail::poke(b.data, b.in_place ? b.small : nullptr);
  if (!b.in_place || b.handle.sized) describe_data(b);
  if (s.immediate) take_memory_now(b);
  b.next = nullptr;
  detail::poke(b.users, 2u);  // who pushes, or all who are to, and who pops
  detail::handle_state& h = b.handle;
  b.base = h.registered;
  h.group_start = b.base;  // as if a write were registered: that of the push, or of all that are to come
  h.group_kind = detail::kind_write;
  h.registered += early ? end - s.end : 1;
  if (h.engine != s.engine) {
    if (s.engine != nullptr) s.engine->is_new(h);
    h.engine = s.engine;
  }
  if (s.newest != nullptr) s.newest->next = &b;
  s.newest = &b;
  if (s.oldest == nullptr) s.oldest = &b;
  if (early && s.writes == nullptr) s.writes = &b;
  s.end = end;
  return b;
}

// ---- matching

[[nodiscard]] std::uintptr_t named(stream_buffer& b, std::uint8_t kind) noexcept {
  return reinterpret_cast<std::uintptr_t>(&b.handle) | detail::kind_bits(kind);
}
// counted: m is among the users of b already.
void join(matching& m, stream_buffer& b, std::uint32_t entries, bool counted) noexcept {
  if (!counted) base::shared(b.users).fetch_add(1, base::relaxed);
  if (m.x.first == nullptr)
    m.x.first = &b;
  else
    m.x.several = true;
  m.entries += entries;
  if (b.early) m.is_plain = false;
}
// It lies in b, where its elements may be already. What is handed on is moved when the body runs.
void lay_in(stretch& x, stream_buffer& b) noexcept {
  if (b.in_place && x.kind != stretch_kind::reuse) x.data = b.small + (x.from - b.begin) * detail::type_of(b).bytes;
}

// own: behind the early buffers that there are, or nullptr.
[[gnu::noinline]] void push_early(matching& m, std::uint64_t end, stream_buffer* own) noexcept {
  stream_state& s = *m.stream;
  for (stream_buffer* b = s.writes; b != own && s.pushed < end; b = s.writes) {
    WEFT_ASSERT(b->early && b->begin <= s.pushed && s.pushed < b->end);
    const bool is_last = end >= b->end;
    join(m, *b, 2, is_last);
    s.pushed = std::min(end, b->end);
    if (is_last) s.writes = b->next;
  }
  if (own != nullptr) {
    join(m, *own, 1, true);
    s.writes = nullptr;
  }
  if (!m.x.several) lay_in(m.x, *m.x.first);
}
// What there are no early buffers for gets one of its own. That comes first: then nothing else can fail.
[[gnu::always_inline]] inline void match_push(matching& m) {
  stream_state& s = *m.stream;
  m.x.from = s.pushed;
  const std::uint64_t end = s.pushed + m.x.size;
  stream_buffer* const own = end <= s.end ? nullptr : &add_buffer(s, end, false);
  if (s.writes == nullptr) [[likely]] {
    m.x.first = own;
    m.entries = 1;
    m.only = {named(*own, detail::kind_fill), own->base};
    if (own->in_place) m.x.data = own->small;
  } else {
    push_early(m, end, own);
  }
  s.pushed = end;
}

// What is seen again, by tasks that take less than they see, lies in buffers of what one of them takes: so each waits
// only for what it sees.
[[gnu::noinline]] void add_early(stream_state& s, const matching& m, std::uint64_t end) {
  while (s.end < end) {
    const std::uint64_t most = m.takes != 0 && m.takes < m.x.size ? m.takes : end - s.end;
    static_cast<void>(add_buffer(s, std::min(end, s.end + most), true));
  }
}
// s.popped is what it will have come to.
[[gnu::noinline]] void pop_some(matching& m, std::uint64_t end) noexcept {
  stream_state& s = *m.stream;
  for (stream_buffer* b = s.oldest; b != nullptr && b->begin < end; b = b->next) join(m, *b, 1, b->end <= s.popped);
  if (!m.x.several) {
    static_cast<void>(detail::note_stretch(m.x, &m.only));
    lay_in(m.x, *m.x.first);
  }
  while (s.oldest != nullptr && s.oldest->end <= s.popped) s.oldest = s.oldest->next;
}
[[gnu::always_inline]] inline void match_pop(matching& m) {
  stream_state& s = *m.stream;
  m.x.from = s.popped;
  const std::uint64_t end = s.popped + m.x.size;
  if (s.end < end) [[unlikely]]
    add_early(s, m, end);
  s.popped += m.takes;
  stream_buffer* const b = s.oldest;
  if (b->end != end || s.popped != end || b->early) [[unlikely]]
    return pop_some(m, end);
  m.x.first = b;  // all that is left of it
  m.entries = 1;
  m.only = {named(*b, m.x.kind == stretch_kind::reuse ? detail::kind_take_over : detail::kind_read), 0};
  lay_in(m.x, *b);
  s.oldest = b->next;
}

// Errors: std::bad_alloc for more elements than there can be memory for; weft::error where their numbers, or the
// accesses of the task, would come to an end. Nothing has changed then.
[[gnu::noinline]] void check_many(const matching& m) {
  const stream_state& s = *m.stream;
  const bool pushes = m.x.kind == stretch_kind::push;
  const std::uint64_t from = pushes ? s.pushed : s.popped;
  if (m.x.size > 1 && (m.x.size > detail::elements_max(s.type) || m.x.size == detail::too_many_elements))
    throw std::bad_alloc();
  if (m.x.size > ~std::uint64_t{0} - from)
    throw error("weft: " + stream_name(s) + " has come to element " + std::to_string(from) + ", and to name " +
                std::to_string(m.x.size) + " more of them there are no numbers left");
  // Those that are early lie in buffers of what the task takes (add_early).
  if (pushes || m.takes == 0 || from + m.x.size <= s.end) return;
  const std::uint64_t buffers = (from + m.x.size - s.end) / m.takes;
  if (buffers > detail::task_bytes_max / sizeof(detail::access)) detail::throw_too_wide(buffers);
}
void check_size(const matching& m) {
  constexpr std::uint64_t few = 1024;  // so many accesses a task may have, and so many elements of any type fit
  constexpr std::uint64_t far = std::uint64_t{1} << 63;
  static_assert(few <= detail::task_bytes_max / sizeof(detail::access));
  if (m.x.size > few || (m.stream->pushed | m.stream->popped) >= far) [[unlikely]]
    check_many(m);
}

// For so few instructions that whoever finds it taken looks again; a holder that lost its core gets it back.
void acquire(stream_state& s) noexcept {
  for (unsigned spins = 0; base::shared(s.lock).exchange(1, base::acquire) != 0;)
    if (++spins % 64 == 0) std::this_thread::yield();
}
void release(stream_state& s) noexcept { base::shared(s.lock).store(0, base::release); }

class locked_streams {
 public:
  locked_streams(const matching* m, std::size_t count) noexcept {
    WEFT_ASSERT(count != 0 && count <= detail::stretches_max);
    for (std::size_t i = 0; i < count; ++i) add(m[i].stream);
    for (std::size_t i = 0; i < size_; ++i) acquire(*all_[i]);
  }
  ~locked_streams() {
    for (std::size_t i = size_; i-- > 0;) release(*all_[i]);
  }
  locked_streams(const locked_streams&) = delete;
  locked_streams& operator=(const locked_streams&) = delete;

 private:
  void add(stream_state* s) noexcept {
    if (s == nullptr) return;
    std::size_t at = 0;
    while (at < size_ && all_[at] < s) ++at;
    if (at < size_ && all_[at] == s) return;
    for (std::size_t j = size_++; j > at; --j) all_[j] = all_[j - 1];
    all_[at] = s;
  }

  stream_state* all_[detail::stretches_max];
  std::size_t size_ = 0;
};
// Of most tasks.
class locked_stream {
 public:
  explicit locked_stream(stream_state& s) noexcept : s_(s) { acquire(s_); }
  ~locked_stream() { release(s_); }
  locked_stream(const locked_stream&) = delete;
  locked_stream& operator=(const locked_stream&) = delete;

 private:
  stream_state& s_;
};

// Who: holder of the lock.
[[gnu::always_inline]] inline void match_locked(matching& m, detail::engine_base* engine) {
  if (m.stream->engine != engine && engine != nullptr) m.stream->engine = engine;
  m.x.kind == stretch_kind::push ? match_push(m) : match_pop(m);
}
// Who: holder of the locks.
[[nodiscard]] std::size_t match_all(matching* m, std::size_t count, detail::engine_base* engine) {
  for (std::size_t i = 0; i < count; ++i)
    if (m[i].x.size != 0) check_size(m[i]);
  std::size_t entries = 0;
  std::size_t i = 0;
  try {
    for (; i < count; ++i) {
      if (m[i].x.size != 0) match_locked(m[i], engine);
      entries += m[i].entries;
    }
  } catch (...) {
    while (i-- > 0) detail::unmatch(&m[i].x, 1);
    throw;
  }
  return entries;
}
[[nodiscard, gnu::noinline]] std::size_t match_many(matching* m, std::size_t count, detail::engine_base* engine) {
  const locked_streams all(m, count);
  return match_all(m, count, engine);
}

}  // namespace

namespace detail {

std::size_t match_one(matching& m, engine_base* engine) {
  if (m.x.size == 0) return 0;
  const locked_stream here(*m.stream);
  check_size(m);
  match_locked(m, engine);
  return m.entries;
}

std::size_t match(matching* m, std::size_t count, engine_base* engine) {
  if (count != 2 || m[0].stream == nullptr || m[1].stream == nullptr) return match_many(m, count, engine);
  stream_state& first = *std::min(m[0].stream, m[1].stream);
  stream_state& second = *std::max(m[0].stream, m[1].stream);
  const locked_stream here(first);
  if (&first == &second) return match_all(m, 2, engine);
  const locked_stream there(second);
  return match_all(m, 2, engine);
}

void unmatch(stretch* s, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (s[i].kind == stretch_kind::push)
      for_pieces(s[i], [](stream_buffer& b, std::uint64_t, std::uint64_t n) {
        base::shared(detail::lost_of(b))
            .fetch_add(b.early ? n : 1, base::relaxed);  // read when all who submit have ended
      });
  close_stretches(s, count);
}

access* note_stretch(const stretch& x, access* a) noexcept {
  const auto note = [&](stream_buffer& b, std::uint64_t, std::uint64_t n) {
    if (x.kind == stretch_kind::push) {
      *a++ = {named(b, kind_fill), b.base};
      if (b.early) *a = weft::access::amount_entry(a[-1], n), ++a;
    } else if (b.early) {
      *a++ = {named(b, owns(x) ? kind_take_over : kind_take), b.base + (b.end - b.begin)};
    } else {
      *a++ = {named(b, owns(x) ? kind_take_over : kind_read), 0};
    }
  };
  for_pieces(x, note);
  return a;
}

// ---- the stream

stream_state* make_stream(const element_type& type, const char* name) {
  auto* const s = new stream_state{.type = type, .name = name};
  while (needs_only_a_place(type, s->in_place_max + 1)) ++s->in_place_max;
  return s;
}

namespace {
// By how much the version of b falls short of what was registered when b was made, because nobody pushes any more: what
// is missing of an early one, and what was matched for tasks that were not submitted after all. Tasks that wait for
// that are not done, so the wait for them ends with a report.
[[nodiscard]] std::uint64_t never_pushed(const stream_buffer& b) noexcept {
  const std::uint64_t pushed = std::clamp(detail::stream_of(b).pushed, b.begin, b.end);
  return peek(detail::lost_of(b)) + (b.early ? b.end - pushed : 0);
}

// Waits for the tasks that use it.
void drain(stream_buffer& b) noexcept {
  // A runtime that has ended after a stall has brought its handles to rest, and is not there to be asked.
  const std::uint64_t missing = never_pushed(b);  // most often nothing; who finishes looks at what is registered
  if (missing != 0 &&
      weft::access::outstanding(base::shared(b.handle.word).load(base::relaxed), b.handle.registered) != 0)
    b.handle.registered -= missing;
  b.handle.drain();
  detail::set_name(b.handle, nullptr);
}

template <class What> void for_buffers(stream_state& s, What what) {
  for (buffer_chunk* c = s.chunk; c != nullptr;) {
    buffer_chunk* const older = c->older;
    for (std::uint32_t i = 0; i < c->used; ++i) what(c->all[i]);
    c = older;
  }
}
}  // namespace

// Nobody leaves a buffer behind its access, so when all are drained nobody adds to `left`, and the stream may go. After
// a stall some stretches are left, which never will run: these have their buffer then.
void destroy_stream(stream_state* s) noexcept {
  handle_state::await_registration();
  // Those that are done first: of the others a task may still wait, and then end its own.
  for_buffers(*s, [s](stream_buffer& b) {
    if (b.end <= s->popped) drain(b);
  });
  for (stream_buffer* b = s->oldest; b != nullptr; b = b->next) drain(*b);
  for_buffers(*s, [s](stream_buffer& b) {
    const std::uint32_t shares = (b.end > s->popped ? 1 : 0) + (b.early && b.end > s->pushed ? 1 : 0);
    base::shared(b.users).fetch_add(stream_buffer::orphan_bit + 1 - shares, base::relaxed);
    leave(b);
  });
  while (buffer_chunk* const c = s->chunk) {
    s->chunk = c->older;
    buffer_chunk::close(c);
  }
  delete s;
}

void set_stream_name(stream_state& s, const char* text) noexcept { s.name = text; }
void set_immediate(stream_state& s, bool on) noexcept { s.immediate = on; }

stream_counts counts_of(stream_state& s) noexcept {
  const locked_stream here(s);
  return {s.pushed, s.popped};
}

void discard_elements(stream_state& s, std::uint64_t n) {
  matching next{};
  matching* at = &next;
  note_stretches(stream_clause<char, stretch_kind::pop>{s, n, n}, at);
  static_cast<void>(match_one(next, nullptr));
  close_stretches(&next.x, 1);
}

void end_stream(stream_state& s) {
  const stream_counts n = counts_of(s);
  if (n.pushed > n.popped)
    throw error("weft: " + stream_name(s) + " ends with " + std::to_string(n.pushed - n.popped) +
                " elements that no task pops, from element " + std::to_string(n.popped) +
                " on; pop them, or discard() them");
  if (n.popped > n.pushed)
    throw error("weft: " + stream_name(s) + " ends, and tasks wait for " +
                weft::access::describe_elements(s, n.pushed, n.popped) + ", which nobody pushes");
}

void throw_takes_unseen(std::uint64_t takes, std::uint64_t sees) {
  throw error("weft: pop(s, " + std::to_string(takes) + ", " + std::to_string(sees) + ") takes more elements than it " +
              "sees; the last number, what it sees, is the larger one");
}

void throw_many_streams(std::size_t count, std::size_t most) {
  throw error("weft: an array of " + std::to_string(count) + " streams is named by a clause with room for " +
              std::to_string(most) + "; say how many there may be: weft::push<" +
              std::to_string(std::min(count, stretches_max)) + ">(streams, n), at most " +
              std::to_string(stretches_max) + " of all clauses of a task");
}

}  // namespace detail

namespace access {

std::string describe_buffer(const handle_state& h) {
  const auto& b = reinterpret_cast<const detail::stream_buffer&>(h);
  const std::uint64_t there = version_in(detail::peek(h.word)) - b.base;
  return describe_elements(detail::stream_of(b), b.begin, b.end) + ", of which " + std::to_string(there) +
         " are there and " +
         std::to_string(detail::stream_of(b).pushed <= b.begin ? b.end - b.begin
                        : detail::stream_of(b).pushed >= b.end ? 0
                                                               : b.end - detail::stream_of(b).pushed) +
         " are pushed by no task";
}

std::string describe_elements(const detail::stream_state& s, std::uint64_t from, std::uint64_t end) {
  const std::string which = end - from == 1 ? "element " + std::to_string(from)
                                            : "elements " + std::to_string(from) + " to " + std::to_string(end - 1);
  return which + " of " + stream_name(s);
}

}  // namespace access
}  // namespace weft
