// Recorders: what goes in comes out in order, also when the ring has turned, and also while somebody reads.
#include "trace/recorder.hpp"

#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "weft/handle.hpp"

namespace weft::trace {
namespace {

constexpr std::size_t chunk_bytes = block_bytes;

// Values of all events, oldest first; what was lost in `lost`.
std::vector<std::uint64_t> values(recorder& r, std::uint64_t& lost) {
  std::vector<std::uint64_t> all;
  lost = r.read([&](const event& e) { all.push_back(e.value); });
  return all;
}

void add(recorder& r, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = first; i < first + count; ++i) r.add({.value = i});
}

}  // namespace

TEST_CASE("recorder: a new one is empty") {
  shared_state shared(chunk_bytes);
  recorder r(shared);
  std::uint64_t lost = 7;
  CHECK(values(r, lost).empty());
  CHECK(lost == 0);
}

TEST_CASE("recorder: everything comes out in order while there is memory") {
  for (const std::uint64_t count :
       {1ull, chunk_events - 1ull, 1ull * chunk_events, chunk_events + 1ull, 5ull * chunk_events}) {
    shared_state shared(8 * chunk_bytes);
    recorder r(shared);
    add(r, 0, count);
    std::uint64_t lost = 0;
    const std::vector<std::uint64_t> all = values(r, lost);
    CHECK(lost == 0);
    REQUIRE(all.size() == count);
    for (std::uint64_t i = 0; i < count; ++i) REQUIRE(all[i] == i);
  }
}

TEST_CASE("recorder: beyond its memory the newest stay, in order, and the rest is counted") {
  for (const std::size_t chunks : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}})
    for (const std::uint64_t count : {3 * chunk_events, 3 * chunk_events + 1, 7 * chunk_events + 5}) {
      shared_state shared(chunks * chunk_bytes);
      recorder r(shared);
      add(r, 0, count);
      std::uint64_t lost = 0;
      const std::vector<std::uint64_t> all = values(r, lost);
      CHECK(all.size() + lost == count);
      CHECK(all.size() <= std::max<std::size_t>(chunks, 2) * chunk_events);
      CHECK(all.size() > chunk_events);  // all but the chunk that was begun last
      for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == lost + i);
    }
}

TEST_CASE("recorder: memory is shared, so one that records little leaves it to the others") {
  shared_state shared(6 * chunk_bytes);
  recorder busy(shared), idle(shared);
  add(idle, 0, 1);
  add(busy, 0, 5 * chunk_events);
  std::uint64_t lost = 0;
  CHECK(values(busy, lost).size() == 5 * chunk_events);
  CHECK(lost == 0);
  add(busy, 0, 1);
  CHECK(values(busy, lost).size() == 4 * chunk_events + 1);
  CHECK(lost == chunk_events);
}

TEST_CASE("recorder: a reader sees a beginning of what is written, never half an event") {
  shared_state shared(4 * chunk_bytes);
  recorder r(shared);
  constexpr std::uint64_t count = 40 * chunk_events;
  std::thread writer([&r] {
    for (std::uint64_t i = 0; i < count; ++i) r.add({.time = i, .value = i, .task = static_cast<std::uint32_t>(i)});
  });
  std::uint64_t wrong = 0, seen = 0;
  while (seen < count) {
    std::uint64_t next = 0;
    bool first = true;
    std::uint64_t got = 0;
    const std::uint64_t lost = r.read([&](const event& e) {
      if (first) next = e.value;
      first = false;
      wrong += e.value != next || e.time != e.value || e.task != e.value;
      ++next, ++got;
    });
    wrong += !first && next != lost + got;
    seen = lost + got;
  }
  writer.join();
  CHECK(wrong == 0);
}

TEST_CASE("recorder: numbers of tasks are unique among recorders and never 0") {
  shared_state shared(chunk_bytes);
  shared.next_id_block.raw = ~std::uint32_t{0} / id_block;  // so that they go round
  recorder a(shared), b(shared);
  std::set<std::uint32_t> ids;
  for (unsigned i = 0; i < 5 * id_block; ++i) {
    ids.insert(a.new_id());
    ids.insert(b.new_id());
  }
  CHECK(ids.size() == 10 * id_block);
  CHECK(!ids.contains(0));
  CHECK(a.issued() == 5 * id_block);
}

TEST_CASE("recorder: a handle's name outlives the handle") {
  shared_state shared(chunk_bytes);
  recorder r(shared);
  struct {
    detail::record r{};
    detail::access a{};
  } task;
  task.r.access_count = 1;
  task.r.name = "work";
  std::uint32_t id = 0;
  {
    std::string text = "a name that is not kept anywhere else";
    handle<int> h(0);
    h.name(text.c_str());
    id = h.id();
    task.a = {reinterpret_cast<std::uintptr_t>(&h.state()) | detail::kind_add, 5};
    r.submitted(task.r, 17);
    text.assign(text.size(), '-');
  }
  std::vector<event> all;
  r.read([&](const event& e) { all.push_back(e); });
  REQUIRE(all.size() == 2);
  CHECK(all[0].time == 17);
  CHECK(all[0].task == task.r.trace_id());
  CHECK(all[1].other == id);
  CHECK(all[1].value == 5);
  CHECK(kind_text(all[1].detail) == "add");
  r.read_names([&](const std::vector<std::string>& names, const auto& handles) {
    CHECK(names[all[0].position] == "work");
    CHECK(handles.at(id) == "a name that is not kept anywhere else");
  });
}

TEST_CASE("recorder: every kind of access has a text") {
  const auto text = [](std::uintptr_t bits) { return kind_text(kind_code({bits, 0})); };
  CHECK(text(detail::kind_read) == "read");
  CHECK(text(detail::kind_write) == "write");
  CHECK(text(detail::kind_add) == "add");
  CHECK(text(detail::kind_add | detail::kind_repeated) == "add");
  CHECK(text(detail::kind_concurrent) == "concurrent");
  CHECK(text(detail::kind_reduce) == "reduce");
  CHECK(text(detail::kind_resource) == "resource");
  CHECK(text(detail::kind_bits(commutative, 1)) == "user 1");
  CHECK(text(detail::kind_bits(exclusive | readonly, 24)) == "user 24");
}

}  // namespace weft::trace
