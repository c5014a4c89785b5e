// Which elements stretches get, in which buffers and with which versions, and when memory comes and goes. With tasks:
// tests/conformance/streams.cpp.
#include "access/stream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "access/condition.hpp"
#include "access/stream_buffer.hpp"
#include "weft/stream.hpp"

namespace weft {
namespace {

using detail::stretch;
using detail::stretch_kind;
using ints = std::vector<std::uint64_t>;

struct clause {
  detail::matching m;
  stretch& x = m.x;
  std::array<detail::access, 64> a{};
  std::size_t entries = 0;
  std::size_t noted = 0;
  clause(stream<std::uint64_t>& s, stretch_kind kind, std::uint64_t size, std::uint64_t takes)
      : clause(s.state(), kind, size, takes) {}
  clause(detail::stream_state& s, stretch_kind kind, std::uint64_t size, std::uint64_t takes)
      : m{.stream = &s, .takes = takes} {
    x.size = std::min(size, detail::too_many_elements) & detail::too_many_elements;
    x.kind = kind;
    x.takes_all = takes == size;
    entries = detail::match_one(m, nullptr);
    noted = static_cast<std::size_t>(detail::note_stretch(x, a.data()) - a.data());
  }
  [[nodiscard]] std::vector<std::uint8_t> kinds() const {
    std::vector<std::uint8_t> all;
    for (std::size_t i = 0; i < noted; ++i) all.push_back(access::kind_of(a[i]));
    return all;
  }
  [[nodiscard]] std::uint64_t required(std::size_t i) const { return a[i].required; }
  [[nodiscard]] detail::handle_state& handle(std::size_t i) const { return access::handle_of(a[i]); }
  void open() { detail::open_stretches(&x, 1); }
  void fill() { detail::fill_stretches(&x, 1); }
  void close() { detail::close_stretches(&x, 1); }
  [[nodiscard]] std::uint64_t* data() const { return reinterpret_cast<std::uint64_t*>(x.data); }
  // As a task does that is registered: of its reads and writes each handle hears nothing here but the amounts.
  void settle() {
    for (std::size_t i = 0; i < noted; ++i) {
      if (access::is_repeated(a[i])) continue;
      const bool counted = access::kind_of(a[i]) == detail::kind_fill;
      const bool has_amount = i + 1 < noted && access::is_repeated(a[i + 1]);
      if (!counted) ++handle(i).registered;
      handle(i).word.raw += (has_amount ? a[i + 1].required : 1) << detail::alarm_bits;
    }
  }
  void run() {
    open();
    fill();
    close();
    settle();
  }
};
clause push(stream<std::uint64_t>& s, std::uint64_t n) { return {s, stretch_kind::push, n, n}; }
clause pop(stream<std::uint64_t>& s, std::uint64_t n) { return {s, stretch_kind::pop, n, n}; }
clause pop(stream<std::uint64_t>& s, std::uint64_t takes, std::uint64_t sees) {
  return {s, stretch_kind::pop, sees, takes};
}

constexpr std::uint8_t F = detail::kind_fill, T = detail::kind_take, R = detail::kind_read;
constexpr std::uint8_t amount = detail::kind_repeated | F;

}  // namespace

TEST_CASE("stream: a push makes a buffer, whoever pops parts of it reads the same handle") {
  stream<std::uint64_t> s;
  clause a = push(s, 10), b = pop(s, 4), c = pop(s, 6);
  CHECK(a.kinds() == std::vector<std::uint8_t>{F});
  CHECK((b.kinds() == std::vector<std::uint8_t>{R} && c.kinds() == b.kinds()));
  CHECK((&a.handle(0) == &b.handle(0) && &a.handle(0) == &c.handle(0)));
  CHECK((b.x.from == 0 && c.x.from == 4 && b.m.is_plain && a.m.is_plain));
  CHECK(a.handle(0).registered == 1);  // the push has its place already
  a.open();
  a.data()[4] = 44;
  a.close();
  a.settle();
  c.open();
  CHECK(c.data()[0] == 44);
  c.close(), c.settle();
  b.run();
}

TEST_CASE("stream: a pop that comes first makes an early buffer, which counts elements") {
  stream<std::uint64_t> s;
  clause p = pop(s, 5), a = push(s, 2), b = push(s, 4), q = pop(s, 1);
  CHECK((p.kinds() == std::vector<std::uint8_t>{T} && p.required(0) == 5));
  CHECK(!p.m.is_plain);
  CHECK((a.kinds() == std::vector<std::uint8_t>{F, amount} && a.required(1) == 2));
  CHECK((b.kinds() == std::vector<std::uint8_t>{F, amount, F} && b.required(1) == 3));
  CHECK((&b.handle(0) == &p.handle(0) && &b.handle(2) == &q.handle(0)));
  CHECK((b.entries == 3 && p.handle(0).registered == 5));
  a.open(), b.open();
  a.data()[1] = 1;
  for (std::uint64_t i = 0; i < 4; ++i) b.data()[i] = 10 + i;
  for (clause* x : {&a, &b}) x->fill(), x->close(), x->settle();
  p.open();
  CHECK(ints(p.data() + 1, p.data() + 5) == ints{1, 10, 11, 12});
  p.close(), p.settle();
  q.open();
  CHECK(*q.data() == 13);
  q.close(), q.settle();
}

TEST_CASE("stream: overlapping windows of early elements wait for no more than they see") {
  stream<std::uint64_t> s;
  clause a = pop(s, 1, 3), b = pop(s, 1, 3);
  CHECK((a.entries == 3 && b.entries == 3 && b.x.from == 1));
  CHECK((&a.handle(1) == &b.handle(0) && &a.handle(2) == &b.handle(1)));
  clause p = push(s, 4);
  CHECK(p.entries == 8);
  p.open();
  for (std::uint64_t i = 0; i < 4; ++i) p.data()[i] = i;
  p.fill(), p.close(), p.settle();
  for (clause* x : {&a, &b}) {
    x->open();
    CHECK(ints(x->data(), x->data() + 3) == ints{x->x.from, x->x.from + 1, x->x.from + 2});
    x->close(), x->settle();
  }
}

TEST_CASE("stream: a buffer is used again when all its tasks have ended, and its versions go on") {
  stream<std::uint64_t> s;
  const detail::handle_state* first = nullptr;
  for (std::uint64_t i = 0; i < 5; ++i) {
    clause a = push(s, 3), b = pop(s, 3);
    if (i == 0) first = &a.handle(0);
    CHECK(&a.handle(0) == first);
    CHECK(a.required(0) == 2 * i);
    a.run(), b.run();
  }
  clause held = push(s, 3), by = pop(s, 3), other = push(s, 3);
  CHECK(&held.handle(0) == first);
  CHECK(&other.handle(0) != first);
  held.run(), by.run(), other.run();
}

TEST_CASE("stream: of buffers that are over the one that was left last is used first, and none before its push ran") {
  stream<std::uint64_t> s;
  clause a = push(s, 1), b = push(s, 1), not_run = push(s, 1), over_a = pop(s, 1), over_b = pop(s, 1);
  for (clause* x : {&a, &b, &over_b, &over_a}) x->run();
  s.discard(1);  // of what is still to be pushed
  clause c = push(s, 1), d = push(s, 1), e = push(s, 1);
  CHECK((&c.handle(0) == &a.handle(0) && &d.handle(0) == &b.handle(0)));
  CHECK((&e.handle(0) != &not_run.handle(0) && &e.handle(0) != &c.handle(0) && &e.handle(0) != &d.handle(0)));
  for (clause* x : {&not_run, &c, &d, &e}) x->run();
}

// Catches: a stream that makes new buffers for ever because it looks at the same ones each time.
TEST_CASE("stream: buffers whose accesses are done late are in nobody's way, and are used again") {
  stream<std::uint64_t> s;
  std::vector<std::unique_ptr<clause>> late;
  for (int i = 0; i < 20; ++i) {
    late.push_back(std::make_unique<clause>(s, stretch_kind::push, 1, 1));
    late.push_back(std::make_unique<clause>(s, stretch_kind::pop, 1, 1));
  }
  for (const auto& x : late) x->close();
  std::set<const detail::handle_state*> used;
  const auto pairs = [&](int n) {
    while (n-- > 0) {
      clause a = push(s, 1), b = pop(s, 1);
      used.insert(&a.handle(0));
      a.run(), b.run();
    }
  };
  pairs(200);
  CHECK(used.size() <= 3);
  for (const auto& x : late) x->settle();
  clause held[20] = {push(s, 1), push(s, 1), push(s, 1), push(s, 1), push(s, 1), push(s, 1), push(s, 1),
                     push(s, 1), push(s, 1), push(s, 1), push(s, 1), push(s, 1), push(s, 1), push(s, 1),
                     push(s, 1), push(s, 1), push(s, 1), push(s, 1), push(s, 1), push(s, 1)};
  std::size_t again = 0;
  for (clause& x : held) {
    for (const auto& was : late) again += &was->handle(0) == &x.handle(0);
    x.run();
  }
  CHECK(again >= 30);  // two clauses each
}

TEST_CASE("stream: elements that need only a place are zeros until they are written, whatever lay there before") {
  stream<std::uint64_t> s;
  for (int life = 0; life < 2; ++life) {
    clause a = push(s, 2), b = pop(s, 2);
    CHECK((a.data() != nullptr && b.data() == a.data()));
    CHECK((a.data()[0] == 0 && a.data()[1] == 0));
    a.data()[0] = a.data()[1] = 7;
    a.run(), b.run();
  }
}

// Catches: a buffer that is left by all, or is used again, while elements of it are still to be pushed.
TEST_CASE("stream: an early buffer that nobody pops stays for its pushes, to the last of them") {
  stream<std::uint64_t> s;
  s.discard(2);
  clause a = push(s, 1);
  detail::stream_buffer& early = *a.x.first;
  a.run();
  CHECK(detail::peek(early.users) == 1);
  clause b = push(s, 1);
  CHECK(b.x.first == &early);
  b.run();
  CHECK(detail::peek(early.users) == 0);
}

TEST_CASE("stream: where the elements of a buffer lay says nothing of those that it gets next") {
  stream<std::uint64_t> s;
  for (const std::uint16_t home : {std::uint16_t{3}, detail::no_home}) {
    clause a = push(s, 1 << 16), b = pop(s, 1 << 16);
    CHECK(detail::home_of(a.handle(0)) == detail::no_home);
    a.run();
    detail::set_home(a.handle(0), home);
    b.run();
  }
}

TEST_CASE("stream: what was gathered from several buffers is given back once, however often it is closed") {
  stream<std::uint64_t> s;
  clause a = push(s, 3), b = push(s, 3), c = pop(s, 6);
  a.run(), b.run();
  c.open();
  CHECK(bool{c.x.gathered});
  c.close();
  CHECK(c.x.first == nullptr);
  CHECK_FALSE(bool{c.x.gathered});
  c.close();
  c.settle();
}

TEST_CASE("stream: memory is there from the push's body to the end of the last that sees it") {
  stream<std::uint64_t> s;
  clause a = push(s, 100), look(s, stretch_kind::peek, 100, 0), b = pop(s, 100);
  detail::stream_buffer& buffer = *a.x.first;
  CHECK(detail::peek(buffer.data) == nullptr);
  a.run();
  CHECK(detail::peek(buffer.data) != nullptr);
  b.run();
  CHECK(detail::peek(buffer.data) != nullptr);
  look.run();
  CHECK(detail::peek(buffer.data) == nullptr);
  stream<std::uint64_t> now;
  now.immediate();
  clause c = push(now, 100);
  CHECK(detail::peek(c.x.first->data) != nullptr);
  c.run();
}

TEST_CASE("stream: what is discarded is nobody's, before and after it is pushed") {
  stream<std::uint64_t> s("dropped");
  s.discard(3);
  clause a = push(s, 5), b = pop(s, 2);
  a.open();
  a.data()[3] = 33;
  a.fill(), a.close(), a.settle();
  b.open();
  CHECK(*b.data() == 33);
  b.close(), b.settle();
  s.end();
  clause c = push(s, 2);
  c.run();
  CHECK_THROWS_WITH(s.end(),
                    doctest::Contains("stream 'dropped' ends with 2 elements that no task pops, from element 5"));
  s.discard(2);
  s.end();
}

TEST_CASE("stream: of what is matched and not submitted after all the pushes are lost, in every buffer, and no pop") {
  stream<std::uint64_t> s;
  clause a = push(s, 3), p = pop(s, 8), b = push(s, 2);
  CHECK((p.entries == 2 && a.x.first == p.x.first && b.x.first == a.x.first->next));
  const detail::stream_buffer& both = *a.x.first;
  const auto lost = [&both](bool of_second) { return detail::peek(detail::lost_of(of_second ? *both.next : both)); };
  detail::unmatch(&p.x, 1);
  CHECK((lost(false) == 0 && lost(true) == 0));
  detail::unmatch(&a.x, 1);
  CHECK((lost(false) == 1 && lost(true) == 0));  // one version
  detail::unmatch(&b.x, 1);
  CHECK((lost(false) == 1 && lost(true) == 2));  // of an early one each element is
}

// Catches: a pop that fails in the middle and takes along the stream's share in buffers that it named first.
TEST_CASE("stream: a pop for which memory cannot be made takes nothing") {
  struct picky {
    picky() {
      if (refuses()) throw std::bad_alloc();
    }
    int value = 0;
    static bool& refuses() {
      static bool yes = false;
      return yes;
    }
  };
  stream<picky> s;
  s.immediate();
  clause a(s.state(), stretch_kind::push, 1, 1);
  a.open();
  reinterpret_cast<picky*>(a.x.data)->value = 7;
  picky::refuses() = true;
  CHECK_THROWS_AS(clause(s.state(), stretch_kind::pop, 2, 2), std::bad_alloc);
  picky::refuses() = false;
  a.close(), a.settle();
  clause b(s.state(), stretch_kind::pop, 1, 1);
  b.open();
  CHECK(reinterpret_cast<picky*>(b.x.data)->value == 7);
  b.close(), b.settle();
  s.end();
}

TEST_CASE("stream: no memory in the middle of matching loses elements and nothing else") {
  CHECK(access::describe_elements(stream<int>("x").state(), 3, 4) == "element 3 of stream 'x'");
  stream<std::uint64_t> s;
  s.immediate();
  CHECK_THROWS_AS(static_cast<void>(push(s, std::uint64_t{1} << 60)), std::bad_alloc);
  clause a = push(s, 1), b = pop(s, 1);
  a.run(), b.run();
}

}  // namespace weft
