// What a body has of its streams: memory for what it pushes, and elements in a row.
#include <cstring>

#include "access/stream.hpp"
#include "access/stream_buffer.hpp"
#include "weft/detail/worker.hpp"
#include "weft/error.hpp"

namespace weft::detail {

namespace {

void move_elements(const element_type& t, std::byte* to, std::byte* from, std::uint64_t n) {
  if (t.move != nullptr) return t.move(to, from, n);
  std::memcpy(to, from, n * t.bytes);
}
void copy_elements(const element_type& t, std::byte* to, const std::byte* from, std::uint64_t n) {
  if (t.copy != nullptr) return t.copy(to, from, n);
  std::memcpy(to, from, n * t.bytes);
}

[[nodiscard]] std::byte* place_in(stream_buffer& b, std::uint64_t element) noexcept {
  return peek(b.data) + (element - b.begin) * type_of(b).bytes;
}

void open_push(stretch& x) {
  if (!x.several) {
    static_cast<void>(memory_of(*x.first));
    x.data = place_in(*x.first, x.from);
    return;
  }
  x.data = take_memory(type_of(*x.first), x.size);
  x.gathered = true;
}

// Versions: a push has been here, or it was skipped and that was told.
void find(const stretch& x) {
  for_pieces(x, [](stream_buffer& b, std::uint64_t, std::uint64_t) {
    if (!has_memory(b)) [[unlikely]]
      make_up(b);
  });
}

void open_pop(stretch& x) {
  find(x);
  if (!x.several) {
    x.data = place_in(*x.first, x.from);
    return;
  }
  const element_type& t = type_of(*x.first);
  if (!t.copies && !owns(x))
    throw error("weft: a task sees " + weft::access::describe_elements(stream_of(*x.first), x.from, x.from + x.size) +
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
  return !x.several && x.first->begin == x.from && x.first->end == x.from + x.size;
}

// The datum behind `to` is the memory that was behind `from`, and lies where that does.
void keep_place(const handle_state& from, handle_state& to) {
  if (!to.sized) return;
  set_home(to, home_of(from));
  if (worker* const w = self_out_of_line(); w != nullptr) w->engine->renew_data(to);
}

// in: reuse; out: the push behind it. The elements of one become those of the other.
void hand_on(stretch& in, stretch& out) {
  find(in);
  if (is_whole(in) && is_whole(out) && !is_small(type_of(*in.first), in.size) && peek(out.first->data) == nullptr) {
    out.data = peek(in.first->data);
    poke(out.first->data, out.data);
    poke(in.first->data, static_cast<std::byte*>(nullptr));
    keep_place(in.first->handle, out.first->handle);
    return;
  }
  open_pop(in);
  open_push(out);
  move_elements(type_of(*in.first), out.data, in.data, in.size);
}

}  // namespace

void open_stretches(stretch* s, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (s[i].first == nullptr) continue;
    if (s[i].kind == stretch_kind::reuse) {
      hand_on(s[i], s[i + 1]);
      ++i;
    } else {
      if (s[i].data == nullptr) s[i].kind == stretch_kind::push ? open_push(s[i]) : open_pop(s[i]);
    }
  }
}

void fill_stretches(stretch* s, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const stretch& x = s[i];
    if (!x.gathered || x.kind != stretch_kind::push) continue;
    for_pieces(x, [&x](stream_buffer& b, std::uint64_t at, std::uint64_t n) {
      const element_type& t = type_of(b);
      static_cast<void>(memory_of(b));
      move_elements(t, place_in(b, at), x.data + (at - x.from) * t.bytes, n);
    });
  }
}

namespace {
[[gnu::noinline]] void close_several(stretch& x) noexcept {
  if (x.gathered) give_memory_back(type_of(*x.first), x.data, x.size);
  x.gathered = false;
  for_pieces(x, [](stream_buffer& b, std::uint64_t, std::uint64_t) { leave(b); });
}
}  // namespace

void close_stretches(stretch* s, std::size_t count) noexcept {
  for (stretch* const end = s + count; s != end; ++s) {
    if (s->first == nullptr) continue;
    if (!s->several) [[likely]]
      leave(*s->first);
    else
      close_several(*s);
    s->first = nullptr;
  }
}

}  // namespace weft::detail
