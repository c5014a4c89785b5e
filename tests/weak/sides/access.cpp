// What one core hands over to another of memory, of handles and of streams: each alone.
#include <doctest/doctest.h>

#include "access/plain.hpp"
#include "access/reduction.hpp"
#include "access/stream_buffer.hpp"
#include "little_engine.hpp"
#include "memory/chunk_map.hpp"
#include "memory/page_source.hpp"
#include "memory/pools.hpp"
#include "weak/sides/sides.hpp"

namespace weft::weak {
namespace {

using M = bells;
using datum = base::plain<unsigned>;
using detail::record;

// --- src/memory

struct a_chunk {
  explicit a_chunk(M&) {}
  void side(unsigned core) {
    if (core == 1) {
      map.prepare(&place);
      made.write() = 1;
      map.put(&place, reinterpret_cast<weft::memory::chunk*>(&made));
    } else if (map.find(&place) != nullptr) {
      static_cast<void>(made.read());
    }
  }
  const char* wrong() { return nullptr; }
  int place = 0;
  datum made;
  weft::memory::chunk_map map;
};

// What a thread keeps is made when it first comes; who counts sees it whole.
struct what_is_kept {
  explicit what_is_kept(M&) {}
  void side(unsigned core) {
    if (core == 2) return static_cast<void>(all.counts());
    void* const block = all.take(100, 0);
    all.give_back(block, 100);
  }
  const char* wrong() { return nullptr; }
  weft::memory::address_space space;
  weft::memory::pools all{1, space};
};

// --- src/access

// The name and the size of a datum lie in a block, which whoever names it makes.
struct a_name {
  explicit a_name(M&) { detail::set_bytes(h, 100); }
  void side(unsigned core) {
    if (core == 1) {
      detail::set_name(h, "a datum");
      detail::set_name(h, "the same");
    } else {
      seen = detail::name_in(h) != nullptr && detail::bytes_of(h) == 100 && detail::address_of(h) == nullptr &&
             detail::layout_of(h) == detail::data_layout{};
    }
  }
  const char* wrong() { return nullptr; }
  detail::handle_state h;
  bool seen = false;
};
struct a_size : a_name {
  using a_name::a_name;
  void side(unsigned core) {
    if (core == 1)
      detail::set_name(h, "a datum");
    else
      seen = detail::bytes_of(h) == 100;
  }
  const char* wrong() { return seen ? nullptr : "the size of a datum is lost"; }
};
struct an_address : a_name {
  using a_name::a_name;
  void side(unsigned core) { core == 1 ? detail::set_name(h, "a datum") : static_cast<void>(detail::address_of(h)); }
};
struct a_layout : a_name {
  using a_name::a_name;
  void side(unsigned core) { core == 1 ? detail::set_name(h, "a datum") : static_cast<void>(detail::layout_of(h)); }
};
// Who gives it another name has the block of who gave it the first.
struct two_names : a_name {
  using a_name::a_name;
  void side(unsigned core) {
    if (core == 1) return detail::set_name(h, "a datum");
    if ((detail::peek(h.about) >> 63) != 0) detail::set_name(h, "the same");
  }
};

// Core 1 registers them, then the others begin.
struct registered {
  template <std::size_t N> void all(unsigned core, record* const (&tasks)[N]) {
    if (core != 1)
      while (M::load(done, base::acquire) == 0) M::relax(1);
    if (core != 1) return;
    for (record* r : tasks) {
      r->plain = true;
      static_cast<void>(access::register_plain<M>(r, nullptr, [](record&) {}));
    }
    M::store(done, 1u, base::release);
  }
  detail::cell<std::uint32_t> done;
};
// One access writes and another waits for that, so it ends the long way; who comes later, and finds the version there,
// has seen no list.
template <bool Locked> struct a_version_that_is_waited_for {
  explicit a_version_that_is_waited_for(M&) {}
  void side(unsigned core) {
    begin.all(core, {&writes.r, &waits.r});
    if (core == 1) {
      data.write() = 1;
      access::woken list;
      Locked ? access::settle<M>(writes.r, 0, list) : access::finish_plain<M>(writes.r, list);
    } else if (access::available<M>(h, 1)) {
      static_cast<void>(data.read());
    }
  }
  const char* wrong() { return nullptr; }
  registered begin;
  detail::handle_state h;
  testing::task of_writes, of_waits;
  testing::task& writes = of_writes.uses(h, detail::kind_write);
  testing::task& waits = of_waits.uses(h, detail::kind_write);
  datum data;
};
// Two read and a third one waits until both have: who ends last lets it go, and with it what both did.
template <bool Locked> struct two_end_and_one_waits {
  explicit two_end_and_one_waits(M&) {}
  void side(unsigned core) {
    begin.all(core, {&first.r, &second.r, &waits.r});
    did[core - 1].write() = 1;
    access::woken list;
    detail::record& r = core == 1 ? first.r : second.r;
    if (Locked)
      access::settle<M>(r, 0, list);
    else
      access::finish_plain<M>(r, list);
    if (list.head == nullptr) return;
    ++let_go;
    static_cast<void>(did[2 - core].read());
  }
  const char* wrong() { return let_go == 1 ? nullptr : "who waits is not let go once"; }
  registered begin;
  detail::handle_state h;
  testing::task of_first, of_second, of_waits;
  testing::task& first = of_first.uses(h, detail::kind_read);
  testing::task& second = of_second.uses(h, detail::kind_read);
  testing::task& waits = of_waits.uses(h, detail::kind_write);
  datum did[2];
  unsigned let_go = 0;
};

// Of an early buffer the first that comes lays the memory; who pops looks whether there is any; the last that leaves
// gives it back.
struct an_early_buffer {
  static void make(void* at, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) (new (static_cast<datum*>(at) + i) datum)->write() = 7;
  }
  static void end(void* at, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) static_cast<datum*>(at)[i].write() = 0;
  }
  explicit an_early_buffer(M&) {
    b.begin = 0;
    b.end = 32;
    b.early = true;
    detail::poke(b.users, 3u);
    detail::give_memory_back(type, detail::take_memory(type, b.end), b.end);  // what pools keep by thread is there
  }
  void side(unsigned core) {
    if (core != 3)
      ++reinterpret_cast<datum*>(detail::memory_of(b))[core].write();
    else if (detail::has_memory(b))
      static_cast<void>(reinterpret_cast<datum*>(detail::peek(b.data))[3].read());
    detail::leave(b);
  }
  const char* wrong() { return detail::peek(b.data) == nullptr ? nullptr : "its memory is not given back"; }
  ~an_early_buffer() {
    detail::buffer_chunk::close(chunk);
    detail::buffer_chunk::close(chunk);
  }
  detail::element_type type{sizeof(datum), alignof(datum), &make, &end, nullptr, nullptr, true};
  detail::stream_state s{type, nullptr};
  detail::buffer_chunk* chunk = nullptr;
  detail::stream_buffer& b = *detail::buffer_chunk::next(chunk, s, type);
};
// Who uses buffers again sees what those did that left them.
struct a_buffer_that_is_left {
  explicit a_buffer_that_is_left(M&) {
    for (unsigned core = 0; core < 2; ++core) {
      all[core] = detail::buffer_chunk::next(chunk, s, type);
      detail::poke(all[core]->users, 1u);
    }
  }
  ~a_buffer_that_is_left() {
    for (int times = 0; times < 3; ++times) detail::buffer_chunk::close(chunk);
  }
  void side(unsigned core) {
    if (core != 3) {
      of[core - 1].write() = 1;
      return detail::leave(*all[core - 1]);
    }
    for (detail::stream_buffer* b = detail::take_left(s); b != nullptr; b = b->older)
      of[b == all[0] ? 0 : 1].write() = 2;
  }
  const char* wrong() { return nullptr; }
  detail::element_type type{1, 1, nullptr, nullptr, nullptr, nullptr, true};
  detail::stream_state s{type, nullptr};
  detail::buffer_chunk* chunk = nullptr;
  detail::stream_buffer* all[2];
  datum of[2];
};
// And the last that is done with a chunk of buffers takes it along.
struct a_chunk_of_buffers {
  explicit a_chunk_of_buffers(M&) {
    first = detail::buffer_chunk::next(chunk, s, type);
    second = detail::buffer_chunk::next(chunk, s, type);
    detail::buffer_chunk::close(chunk);
  }
  void side(unsigned core) {
    detail::stream_buffer& b = core == 1 ? *first : *second;
    detail::poke(detail::lost_of(b), std::uint64_t{1});
    detail::buffer_chunk::close(b.chunk);
  }
  const char* wrong() { return nullptr; }
  detail::element_type type{1, 1, nullptr, nullptr, nullptr, nullptr, true};
  detail::stream_state s{type, nullptr};
  detail::buffer_chunk* chunk = nullptr;
  detail::stream_buffer* first;
  detail::stream_buffer* second;
};

// A group of reduces that is listed, and the task that closes it.
struct a_listed_group {
  a_listed_group() {
    closers.add([this] { return &closer; });
    open.add(h, closers);
  }
  const char* wrong() { return nullptr; }
  record closer;
  detail::handle_state h;
  access::closers closers;
  access::open_reductions<M> open;
  datum task;
};
// Who takes a group to close it says so before it is off the list; who sees neither sees the task that closed it.
struct an_open_reduction : a_listed_group {
  explicit an_open_reduction(M&) {}
  void side(unsigned core) {
    if (core == 1) {
      static_cast<void>(open.take_first());
      task.write() = 1;
      open.closed();
    } else if (!open.any()) {
      static_cast<void>(task.read());
    }
  }
};
// Nobody opens one after the task that did: who knows of that sees the list.
struct a_reduction_that_is_closed : a_listed_group {
  explicit a_reduction_that_is_closed(M&) { static_cast<void>(open.take_first()); }
  void side(unsigned core) {
    if (core == 1) {
      task.write() = 1;
      open.closed();
    } else if (!open.any_closing()) {
      static_cast<void>(task.read());
    }
  }
};

}  // namespace

TEST_CASE("two sides: pools") {
  of_sides<a_chunk>(2);
  of_sides<what_is_kept>(2);
}
TEST_CASE("two sides: names and sizes") {
  of_sides<a_name>(2);
  of_sides<a_size>(2);
  of_sides<an_address>(2);
  of_sides<a_layout>(2);
  of_sides<two_names>(2);
}
TEST_CASE("two sides: versions") {
  of_sides<a_version_that_is_waited_for<false>>(2);
  of_sides<a_version_that_is_waited_for<true>>(2);
  of_sides<two_end_and_one_waits<false>>(2);
  of_sides<two_end_and_one_waits<true>>(2);
}
TEST_CASE("two sides: buffers of streams") {
  of_sides<an_early_buffer>(3);
  of_sides<a_buffer_that_is_left>(3);
  of_sides<a_chunk_of_buffers>(2);
}
TEST_CASE("two sides: reductions") {
  of_sides<an_open_reduction>(2);
  of_sides<a_reduction_that_is_closed>(2);
}

}  // namespace weft::weak
