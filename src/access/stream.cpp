#include "access/stream.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "access/condition_elements.hpp"
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
  return s.name != nullptr ? "stream '" + std::string(s.name) + "'" : std::string("an unnamed stream");
}

// ---- memory

void construct(const detail::element_type& t, std::byte* at, std::uint64_t n) {
  if (t.construct != nullptr) t.construct(at, n);
}
[[nodiscard]] std::byte* take_memory(const detail::element_type& t, std::uint64_t n) {
  if (n > PTRDIFF_MAX / t.bytes) throw std::bad_alloc();
  const std::align_val_t alignment{std::max<std::size_t>(t.alignment, 64)};
  auto* const at = static_cast<std::byte*>(::operator new(n* t.bytes, alignment));
  try {
    construct(t, at, n);
  } catch (...) {
    ::operator delete(at, alignment);
    throw;
  }
  return at;
}
void give_memory_back(const detail::element_type& t, std::byte* at, std::uint64_t n) noexcept {
  if (t.destroy != nullptr) t.destroy(at, n);
  ::operator delete(at, std::align_val_t{std::max<std::size_t>(t.alignment, 64)});
}
void move_elements(const detail::element_type& t, std::byte* to, std::byte* from, std::uint64_t n) {
  if (t.move != nullptr) return t.move(to, from, n);
  std::memcpy(to, from, n * t.bytes);
}
void copy_elements(const detail::element_type& t, std::byte* to, const std::byte* from, std::uint64_t n) {
  if (t.copy != nullptr) return t.copy(to, from, n);
  std::memcpy(to, from, n * t.bytes);
}

[[nodiscard]] bool is_small(const stream_buffer& b) noexcept {
  return (b.end - b.begin) * b.type->bytes <= sizeof b.small && b.type->alignment <= alignof(stream_buffer);
}
[[nodiscard]] std::byte* take_memory(stream_buffer& b) {
  if (!is_small(b)) return take_memory(*b.type, b.end - b.begin);
  construct(*b.type, b.small, b.end - b.begin);
  return b.small;
}
void give_memory_back(stream_buffer& b, std::byte* at) noexcept {
  const detail::element_type& t = *b.type;
  if (at != b.small) return give_memory_back(t, at, b.end - b.begin);
  if (t.destroy != nullptr) t.destroy(at, b.end - b.begin);
}

// Who: a stretch on b that pushes. Several may push into an early buffer: the first to come with memory has it.
[[nodiscard]] std::byte* memory_of(stream_buffer& b) {
  const auto data = base::shared(b.data);
  std::byte* there = data.load(base::acquire);
  if (there != nullptr) return there;
  if (!b.early) {
    there = take_memory(b);
    detail::poke(b.data, there);
  } else {
    std::byte* const mine = take_memory(*b.type, b.end - b.begin);
    if (!data.compare_exchange_strong(there, mine, base::acq_rel, base::acquire)) {
      give_memory_back(*b.type, mine, b.end - b.begin);
      return there;
    }
    there = mine;
  }
  if (b.handle.sized) detail::self_out_of_line()->engine->renew_data(b.handle);
  return there;
}

// A stretch on b is over, or no more come.
void leave(stream_buffer& b) noexcept {
  const std::uint32_t left = base::shared(b.users).fetch_sub(1, base::acq_rel) - 1;
  if ((left & ~stream_buffer::orphan_bit) != 0) return;
  if (std::byte* const data = detail::peek(b.data)) give_memory_back(b, data);
  detail::poke(b.data, static_cast<std::byte*>(nullptr));
  if (left != 0) delete &b;
}

// ---- buffers. Who, for all of this: holder of the stream's lock.

// One whose life is over, or a new one.
[[nodiscard]] stream_buffer* unused_buffer(stream_state& s) {
  for (stream_buffer* b = s.retired; b != nullptr; b = s.retired) {
    if (base::shared(b->users).load(base::acquire) != 0 || !b->handle.idle()) break;
    s.retired = b->older;
    if (s.retired == nullptr) s.retired_last = nullptr;
    if (s.newest == b) s.newest = nullptr;
    if (!base::shared(b->handle.poisoned).load(base::relaxed)) return b;
    b->older = s.failed;  // a handle that failed stays so
    s.failed = b;
  }
  auto* const b = new stream_buffer{};
  b->stream = &s;
  b->type = &s.type;
  if (s.name != nullptr) detail::set_name(b->handle, s.name);
  return b;
}

// [begin, end) behind all others, for x. early: nobody has pushed any of them.
[[nodiscard]] stream_buffer& add_buffer(const stretch& x, std::uint64_t begin, std::uint64_t end, bool early) {
  stream_state& s = *x.stream;
  WEFT_ASSERT(begin == s.end && begin < end);
  stream_buffer& b = *unused_buffer(s);
  const std::uint64_t bytes = (end - begin) * s.type.bytes;
  if (bytes >= sized_from && bytes <= detail::bytes_max && detail::bytes_of(b.handle) != bytes)
    detail::set_bytes(b.handle, bytes);
  if (s.immediate) {
    if (b.handle.sized) detail::set_layout(b.handle, bytes, {memory_placement::local(), 0, bytes});
  }
  b.begin = begin;
  b.end = end;
  b.early = early;
  if (s.immediate) detail::poke(b.data, early ? take_memory(s.type, end - begin) : take_memory(b));
  b.next = nullptr;
  detail::poke(b.users, 2u);  // that of the stretch that calls for it, too
  detail::handle_state& h = b.handle;
  b.base = h.registered;
  h.group_start = b.base;  // as if a write were registered: that of the push, or of all that are to come
  h.group_kind = detail::kind_write;
  h.registered += early ? end - begin : 1;
  h.engine = s.engine;
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

// Whether it may do with its elements what it likes, because nobody else sees them any more.
[[nodiscard]] bool owns(const stretch& x) noexcept {
  return x.kind == stretch_kind::reuse ||
         (x.kind == stretch_kind::pop && x.takes == x.size && x.buffers > 1 && !x.stream->type.copies);
}

class locked_streams {
 public:
  locked_streams(stretch* x, std::size_t count) {
    WEFT_ASSERT(count != 0 && count <= detail::stretches_max);
    for (std::size_t i = 0; i < count; ++i) add(x[i].stream);
    for (std::size_t i = 0; i < size_; ++i) all_[i]->lock.lock();
  }
  ~locked_streams() {
    for (std::size_t i = size_; i-- > 0;) all_[i]->lock.unlock();
  }
  locked_streams(const locked_streams&) = delete;
  locked_streams& operator=(const locked_streams&) = delete;

 private:
  void add(stream_state* s) noexcept {
    std::size_t at = 0;
    while (at < size_ && all_[at] < s) ++at;
    if (at < size_ && all_[at] == s) return;
    for (std::size_t j = size_++; j > at; --j) all_[j] = all_[j - 1];
    all_[at] = s;
  }
  stream_state* all_[detail::stretches_max];
  std::size_t size_ = 0;
};

// ---- bodies

template <class What> void for_pieces(const stretch& x, What what) {
  const stream_buffer* b = x.first;
  std::uint64_t at = x.from;
  for (std::uint32_t i = 0; i < x.buffers; ++i) {
    WEFT_ASSERT(b != nullptr && b->begin <= at && at < b->end);
    stream_buffer* const here = const_cast<stream_buffer*>(b);
    if (i + 1 < x.buffers) b = b->next;
    const std::uint64_t n = std::min(x.from + x.size, here->end) - at;
    what(*here, at, n);
    at += n;
  }
}
[[nodiscard]] std::byte* place_in(stream_buffer& b, std::uint64_t element) noexcept {
  return detail::peek(b.data) + (element - b.begin) * b.type->bytes;
}

void open_push(stretch& x) {
  if (x.buffers == 1) {
    static_cast<void>(memory_of(*x.first));
    x.data = place_in(*x.first, x.from);
    return;
  }
  x.data = take_memory(x.stream->type, x.size);
  x.gathered = true;
}

void open_pop(stretch& x) {
  if (x.buffers == 1) {
    WEFT_ASSERT(detail::peek(x.first->data) != nullptr);  // versions: a push has been here
    x.data = place_in(*x.first, x.from);
    return;
  }
  const detail::element_type& t = x.stream->type;
  if (!t.copies && !owns(x))
    throw error("weft: a task sees " + access::describe_elements(*x.stream, x.from, x.from + x.size) +
                ", which were pushed by several; their type cannot be copied, so only a pop of all of them can have "
                "them in a row");
  x.data = take_memory(t, x.size);
  x.gathered = true;
  for_pieces(x, [&](stream_buffer& b, std::uint64_t at, std::uint64_t n) {
    std::byte* const to = x.data + (at - x.from) * t.bytes;
    owns(x) && !t.copies ? move_elements(t, to, place_in(b, at), n) : copy_elements(t, to, place_in(b, at), n);
  });
}

[[nodiscard]] bool is_whole(const stretch& x) noexcept {
  return x.buffers == 1 && x.first->begin == x.from && x.first->end == x.from + x.size;
}

// in: reuse; out: the push behind it. The elements of one become those of the other.
void hand_on(stretch& in, stretch& out) {
  if (is_whole(in) && is_whole(out) && !is_small(*in.first) && detail::peek(out.first->data) == nullptr) {
    out.data = detail::peek(in.first->data);
    detail::poke(out.first->data, out.data);
    detail::poke(in.first->data, static_cast<std::byte*>(nullptr));
    return;
  }
  open_pop(in);
  open_push(out);
  move_elements(in.stream->type, out.data, in.data, in.size);
}

}  // namespace

namespace detail {

std::size_t match(stretch* s, std::size_t count, engine_base* engine) {
  const locked_streams all(s, count);
  std::size_t entries = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (s[i].size == 0) continue;
    s[i].stream->engine = engine;
    s[i].kind == stretch_kind::push ? match_push(s[i]) : match_pop(s[i]);
    entries += s[i].entries;
  }
  return entries;
}

void unmatch(stretch* s, std::size_t count) noexcept { close_stretches(s, count); }

bool is_plain(const stretch& x) noexcept {
  const stream_buffer* b = x.first;
  for (std::uint32_t i = 0; i < x.buffers; ++i, b = i < x.buffers ? b->next : b)
    if (b->early) return false;
  return true;
}

access* note_stretch(const stretch& x, access* a) noexcept {
  for_pieces(x, [&](stream_buffer& b, std::uint64_t, std::uint64_t n) {
    const auto with = [&b](std::uint8_t kind) { return reinterpret_cast<std::uintptr_t>(&b.handle) | kind_bits(kind); };
    if (x.kind == stretch_kind::push) {
      *a++ = {with(kind_fill), b.base};
      if (b.early) *a = weft::access::amount_entry(a[-1], n), ++a;
    } else if (b.early) {
      *a++ = {with(owns(x) ? kind_take_over : kind_take), b.base + (b.end - b.begin)};
    } else {
      *a++ = {with(owns(x) ? kind_write : kind_read), 0};
    }
  });
  return a;
}

void open_stretches(stretch* s, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (s[i].size == 0) continue;
    if (s[i].kind == stretch_kind::reuse) {
      hand_on(s[i], s[i + 1]);
      ++i;
    } else {
      s[i].kind == stretch_kind::push ? open_push(s[i]) : open_pop(s[i]);
    }
  }
}

void fill_stretches(stretch* s, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const stretch& x = s[i];
    if (!x.gathered || x.kind != stretch_kind::push) continue;
    for_pieces(x, [&x](stream_buffer& b, std::uint64_t at, std::uint64_t n) {
      const element_type& t = x.stream->type;
      static_cast<void>(memory_of(b));
      move_elements(t, place_in(b, at), x.data + (at - x.from) * t.bytes, n);
    });
  }
}

void close_stretches(stretch* s, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    stretch& x = s[i];
    if (x.gathered) give_memory_back(x.stream->type, x.data, x.size);
    for_pieces(x, [](stream_buffer& b, std::uint64_t, std::uint64_t) { leave(b); });
    x.buffers = 0;
    x.gathered = false;
  }
}

// ---- the stream

stream_state* make_stream(const element_type& type, const char* name) {
  return new stream_state{.type = type, .name = name};
}

namespace {
// Waits for the tasks that use them. After a stall some are left, which never will run: these have the buffer then.
void destroy_list(stream_buffer* b, stream_buffer* stream_buffer::*link, std::uint32_t own_share) noexcept {
  while (b != nullptr) {
    stream_buffer* const behind = b->*link;
    b->handle.drain();
    base::shared(b->users).fetch_add(stream_buffer::orphan_bit + 1 - own_share, base::relaxed);
    leave(*b);
    b = behind;
  }
}
}  // namespace

void destroy_stream(stream_state* s) noexcept {
  // Those that are done first: of the others a task may still wait, and then end its own.
  stream_buffer* const live = s->oldest;
  destroy_list(s->retired, &stream_buffer::older, 0);
  destroy_list(live, &stream_buffer::next, 1);
  destroy_list(s->failed, &stream_buffer::older, 0);
  delete s;
}

void set_stream_name(stream_state& s, const char* text) noexcept { s.name = text; }
void set_immediate(stream_state& s, bool on) noexcept { s.immediate = on; }

stream_counts counts_of(stream_state& s) noexcept {
  const std::lock_guard hold(s.lock);
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
