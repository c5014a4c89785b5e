#include "access/stream.hpp"

#include <algorithm>
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

using detail::stream_buffer;
using detail::stream_state;
using detail::stretch;
using detail::stretch_kind;

// Smaller data are no region of their own on a modelled machine: they come with the lines of the handle.
constexpr std::uint64_t sized_from = 64;

[[nodiscard]] std::string stream_name(const stream_state& s) {
  return s.name != nullptr ? "stream '" + base::printable(s.name) + "'" : std::string("an unnamed stream");
}

// ---- buffers. Who, for all of this: holder of the stream's lock.

// Whether nobody will touch b any more: all its tasks have ended, and the last of them has advanced the version and
// left the lock. Tasks that are on their way to a creator are among the users.
[[nodiscard]] bool is_over(stream_buffer& b) noexcept {
  if (base::shared(b.users).load(base::acquire) != 0) return false;
  detail::handle_state& h = b.handle;
  return access::outstanding(base::shared(h.word).load(base::acquire), h.registered) == 0 &&
         base::shared(h.lock).load(base::acquire) == 0;
}

// One whose life is over, or a new one.
[[nodiscard]] stream_buffer* unused_buffer(stream_state& s) {
  for (stream_buffer* b = s.retired; b != nullptr; b = s.retired) {
    if (!is_over(*b)) break;
    s.retired = b->older;
    if (s.retired == nullptr) s.retired_last = nullptr;
    if (s.newest == b) s.newest = nullptr;
    if (!base::shared(b->handle.poisoned).load(base::relaxed)) return b;
    b->older = s.failed;  // a handle that failed stays so
    s.failed = b;
  }
  stream_buffer* const b = detail::buffer_chunk::next(s.chunk);
  b->stream = &s;
  b->type = &s.type;
  if (s.name != nullptr) detail::set_name(b->handle, s.name);
  return b;
}

// Where its elements will lie; no_home: where the first push runs. What was found of its last life says nothing.
void set_home(detail::handle_state& h, std::uint32_t node) noexcept {
  const auto home = static_cast<std::uint16_t>(node);
  if (detail::home_of(h) != home || detail::is_home_found(h)) detail::set_home(h, home);
}

void take_memory_now(stream_buffer& b) {
  try {
    detail::poke(b.data, b.early ? detail::take_memory(*b.type, b.end - b.begin) : detail::take_memory(b));
    if (b.handle.sized && b.stream->engine != nullptr) b.stream->engine->renew_data(b.handle);
  } catch (...) {
    b.older = b.stream->failed;
    b.stream->failed = &b;
    throw;
  }
}

// [begin, end) behind all others, for x. early: nobody has pushed any of them.
[[nodiscard]] stream_buffer& add_buffer(const stretch& x, std::uint64_t begin, std::uint64_t end, bool early) {
  stream_state& s = *x.stream;
  WEFT_ASSERT(begin == s.end && begin < end);
  stream_buffer& b = *unused_buffer(s);
  const std::uint64_t all = (end - begin) * s.type.bytes;
  const std::uint64_t bytes = all >= sized_from && all <= detail::bytes_max ? all : 0;
  if (detail::bytes_of(b.handle) != bytes) detail::set_bytes(b.handle, bytes);
  if (bytes != 0) set_home(b.handle, s.immediate ? memory_placement::local().node() : detail::no_home);
  b.begin = begin;
  b.end = end;
  b.early = early;
  detail::poke(b.lost, std::uint64_t{0});
  if (s.immediate) take_memory_now(b);
  b.next = nullptr;
  detail::poke(b.users, 2u);  // that of the stretch that calls for it, too
  detail::handle_state& h = b.handle;
  b.base = h.registered;
  h.group_start = b.base;  // as if a write were registered: that of the push, or of all that are to come
  h.group_kind = detail::kind_write;
  h.registered += early ? end - begin : 1;
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

// counted: x is among the users of b already.
void join(stretch& x, stream_buffer& b, std::uint32_t entries, bool counted) noexcept {
  if (!counted) base::shared(b.users).fetch_add(1, base::relaxed);
  if (x.buffers++ == 0) x.first = &b;
  x.entries += entries;
  if (b.early) x.is_plain = false;
}

void match_push(stretch& x) {
  stream_state& s = *x.stream;
  x.from = s.pushed;
  const std::uint64_t end = x.from + x.size;
  for (stream_buffer* b = s.writes; b != nullptr && s.pushed < end; b = s.writes) {
    WEFT_ASSERT(b->early && b->begin <= s.pushed && s.pushed < b->end);
    join(x, *b, 2, false);
    s.pushed = std::min(end, b->end);
    if (s.pushed == b->end) s.writes = b->next;
  }
  if (s.pushed < end) join(x, add_buffer(x, s.pushed, end, false), 1, true);
  s.pushed = end;
}

// What is seen again, by tasks that take less than they see, lies in buffers of what one of them takes: so each waits
// only for what it sees.
void match_pop(stretch& x) {
  stream_state& s = *x.stream;
  x.from = s.popped;
  const std::uint64_t end = x.from + x.size;
  // Who takes the last element of a buffer has the stream's own share in it from then on.
  const std::uint64_t taken = x.from + x.takes;
  for (stream_buffer* b = s.oldest; b != nullptr && b->begin < end; b = b->next) join(x, *b, 1, b->end <= taken);
  while (s.end < end) {
    const std::uint64_t most = x.takes != 0 && x.takes < x.size ? x.takes : end - s.end;
    stream_buffer& b = add_buffer(x, s.end, std::min(end, s.end + most), true);
    join(x, b, 1, true);
    if (b.end <= taken) leave(b);
  }
  s.popped += x.takes;
  while (s.oldest != nullptr && s.oldest->end <= s.popped) {
    stream_buffer* const b = s.oldest;
    s.oldest = b->next;
    b->older = nullptr;
    (s.retired == nullptr ? s.retired : s.retired_last->older) = b;
    s.retired_last = b;
  }
}

// Errors: std::bad_alloc for more elements than there can be memory for; weft::error where their numbers, or the
// accesses of the task, would come to an end. Nothing has changed then.
void check_size(const stretch& x) {
  const stream_state& s = *x.stream;
  const bool pushes = x.kind == stretch_kind::push;
  const std::uint64_t from = pushes ? s.pushed : s.popped;
  if (x.size > 1 && x.size > detail::elements_max(s.type)) throw std::bad_alloc();
  if (x.size > ~std::uint64_t{0} - from)
    throw error("weft: " + stream_name(s) + " has come to element " + std::to_string(from) + ", and to name " +
                std::to_string(x.size) + " more of them there are no numbers left");
  // Those that are early lie in buffers of what the task takes (match_pop).
  if (pushes || x.takes == 0 || from + x.size <= s.end) return;
  const std::uint64_t buffers = (from + x.size - s.end) / x.takes;
  if (buffers > detail::task_bytes_max / sizeof(detail::access)) detail::throw_too_wide(buffers);
}

// For so few instructions that whoever finds it taken looks again; a holder that lost its core gets it back.
void acquire(stream_state& s) noexcept {
  for (unsigned spins = 0; base::shared(s.lock).exchange(1, base::acquire) != 0;)
    if (++spins % 64 == 0) std::this_thread::yield();
}
void release(stream_state& s) noexcept { base::shared(s.lock).store(0, base::release); }

class locked_streams {
 public:
  locked_streams(stretch* x, std::size_t count) {
    WEFT_ASSERT(count != 0 && count <= detail::stretches_max);
    if (count == 1 && x->stream != nullptr) [[likely]] {
      all_[size_++] = x->stream;
      acquire(*x->stream);
      return;
    }
    for (std::size_t i = 0; i < count; ++i) add(x[i].stream);
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

}  // namespace

namespace detail {

std::size_t match(stretch* s, std::size_t count, engine_base* engine) {
  const locked_streams all(s, count);
  for (std::size_t i = 0; i < count; ++i)
    if (s[i].size != 0) check_size(s[i]);
  std::size_t entries = 0;
  try {
    for (std::size_t i = 0; i < count; ++i) {
      if (s[i].size == 0) continue;
      s[i].stream->engine = engine;
      s[i].kind == stretch_kind::push ? match_push(s[i]) : match_pop(s[i]);
      entries += s[i].entries;
    }
  } catch (...) {
    unmatch(s, count);
    throw;
  }
  return entries;
}

void unmatch(stretch* s, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (s[i].kind == stretch_kind::push)
      for_pieces(s[i], [](stream_buffer& b, std::uint64_t, std::uint64_t n) {
        base::shared(b.lost).fetch_add(b.early ? n : 1, base::relaxed);  // read when all who submit have ended
      });
  close_stretches(s, count);
}

access* note_stretch(const stretch& x, access* a) noexcept {
  const auto note = [&](stream_buffer& b, std::uint64_t, std::uint64_t n) {
    const auto with = [&b](std::uint8_t kind) { return reinterpret_cast<std::uintptr_t>(&b.handle) | kind_bits(kind); };
    if (x.kind == stretch_kind::push) {
      *a++ = {with(kind_fill), b.base};
      if (b.early) *a = weft::access::amount_entry(a[-1], n), ++a;
    } else if (b.early) {
      *a++ = {with(owns(x) ? kind_take_over : kind_take), b.base + (b.end - b.begin)};
    } else {
      *a++ = {with(owns(x) ? kind_take_over : kind_read), 0};
    }
  };
  if (x.buffers == 1) [[likely]]
    note(*x.first, x.from, x.size);
  else
    for_pieces(x, note);
  return a;
}

// ---- the stream

stream_state* make_stream(const element_type& type, const char* name) {
  return new stream_state{.type = type, .name = name};
}

namespace {
// By how much the version of b falls short of what was registered when b was made, because nobody pushes any more: what
// is missing of an early one, and what was matched for tasks that were not submitted after all. Tasks that wait for
// that are not done, so the wait for them ends with a report.
[[nodiscard]] std::uint64_t never_pushed(const stream_buffer& b) noexcept {
  const std::uint64_t pushed = std::clamp(b.stream->pushed, b.begin, b.end);
  return peek(b.lost) + (b.early ? b.end - pushed : 0);
}

// Waits for the tasks that use them. After a stall some are left, which never will run: these have the buffer then.
void destroy_list(stream_buffer* b, stream_buffer* stream_buffer::*link, std::uint32_t own_share) noexcept {
  while (b != nullptr) {
    stream_buffer* const behind = b->*link;
    // A runtime that has ended after a stall has brought its handles to rest, and is not there to be asked.
    const std::uint64_t missing = never_pushed(*b);  // most often nothing; who finishes looks at what is registered
    if (missing != 0 &&
        weft::access::outstanding(base::shared(b->handle.word).load(base::relaxed), b->handle.registered) != 0)
      b->handle.registered -= missing;
    b->handle.drain();
    detail::set_name(b->handle, nullptr);
    base::shared(b->users).fetch_add(stream_buffer::orphan_bit + 1 - own_share, base::relaxed);
    leave(*b);
    b = behind;
  }
}
}  // namespace

void destroy_stream(stream_state* s) noexcept {
  // Those that are done first: of the others a task may still wait, and then end its own.
  handle_state::await_registration();
  stream_buffer* const live = s->oldest;
  destroy_list(s->retired, &stream_buffer::older, 0);
  destroy_list(live, &stream_buffer::next, 1);
  destroy_list(s->failed, &stream_buffer::older, 0);
  buffer_chunk::close(s->chunk);
  delete s;
}

void set_stream_name(stream_state& s, const char* text) noexcept { s.name = text; }
void set_immediate(stream_state& s, bool on) noexcept { s.immediate = on; }

stream_counts counts_of(stream_state& s) noexcept {
  stretch any{.stream = &s};
  const locked_streams hold(&any, 1);
  return {s.pushed, s.popped};
}

void discard_elements(stream_state& s, std::uint64_t n) {
  stretch x{.stream = &s, .kind = stretch_kind::pop, .size = n, .takes = n};
  static_cast<void>(match(&x, 1, s.engine));
  close_stretches(&x, 1);
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
  return describe_elements(*b.stream, b.begin, b.end) + ", of which " + std::to_string(there) + " are there and " +
         std::to_string(b.stream->pushed <= b.begin ? b.end - b.begin
                        : b.stream->pushed >= b.end ? 0
                                                    : b.end - b.stream->pushed) +
         " are pushed by no task";
}

std::string describe_elements(const detail::stream_state& s, std::uint64_t from, std::uint64_t end) {
  const std::string which = end - from == 1 ? "element " + std::to_string(from)
                                            : "elements " + std::to_string(from) + " to " + std::to_string(end - 1);
  return which + " of " + stream_name(s);
}

}  // namespace access
}  // namespace weft
