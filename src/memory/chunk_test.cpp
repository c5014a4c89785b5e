// Chunks without memory: only addresses are computed with.
#include "memory/chunk.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "memory/chunk_map.hpp"

namespace weft::memory {
namespace {

std::byte* address(std::uint64_t n) { return reinterpret_cast<std::byte*>(n * chunk_bytes); }

}  // namespace

TEST_CASE("chunk: the class of a size is the first whose blocks have room") {
  for (std::size_t bytes = 1; bytes <= chunk_bytes; bytes += 1 + bytes / 1000) {
    const unsigned c = class_of(bytes);
    REQUIRE(c < size_classes);
    REQUIRE(bytes_of(c) >= bytes);
    REQUIRE((c == 0 || bytes_of(c - 1) < bytes));
  }
  CHECK(class_of(0) == 0);
  CHECK(class_of(chunk_bytes) == whole_chunk);
}

TEST_CASE("chunk: of every class all blocks are taken, lowest first, and come back") {
  chunk c(address(5), chunk_bytes, 3, true);
  for (unsigned size_class = 0; size_class < size_classes; ++size_class) {
    c.cut(size_class);
    const std::uint64_t n = chunk_bytes / bytes_of(size_class);
    for (std::uint64_t i = 0; i < n; ++i) REQUIRE(c.take() == address(5) + i * bytes_of(size_class));
    CHECK(!c.has_free());
    std::byte* const middle = address(5) + n / 2 * bytes_of(size_class);
    CHECK((c.place_of(middle) == nullptr) == (bytes_of(size_class) < asked_bytes_min));
    c.put(middle);
    CHECK(c.take() == middle);
    for (std::uint64_t i = n; i-- > 0;) c.put(address(5) + i * bytes_of(size_class));
    CHECK(c.is_whole());
  }
}

TEST_CASE("chunk list: chunks come and go at any place") {
  chunk a(address(1), chunk_bytes, 0, false), b(address(2), chunk_bytes, 0, false),
      c(address(3), chunk_bytes, 0, false);
  for (chunk* gone : {&a, &b, &c}) {
    chunk_list l;
    for (chunk* x : {&a, &b, &c}) l.push(*x);
    l.remove(*gone);
    std::vector<chunk*> left, expected;
    for (chunk* x = l.first(); x != nullptr; x = x->next) left.push_back(x);
    for (chunk* x : {&c, &b, &a})
      if (x != gone) expected.push_back(x);
    CHECK(left == expected);
    CHECK(l.last() == expected.back());
    while (l.first() != nullptr) l.remove(*l.first());
    CHECK(l.last() == nullptr);
  }
}

TEST_CASE("chunk map: what was put is found at every address of its chunk, and nothing elsewhere") {
  chunk_map m;
  chunk c(address(7), chunk_bytes, 0, false);
  const std::vector<std::uint64_t> at{0, 1, 511, 512, 513, std::uint64_t{1} << 18, (std::uint64_t{1} << 26) - 1};
  for (const std::uint64_t n : at) {
    CHECK(m.find(address(n)) == nullptr);
    m.prepare(address(n));
    m.put(address(n), &c);
    CHECK(m.find(address(n)) == &c);
    CHECK(m.find(address(n + 1) - 1) == &c);
  }
  CHECK(m.find(address(2)) == nullptr);
  CHECK(m.find(address(std::uint64_t{1} << 20)) == nullptr);
  for (const std::uint64_t n : at) {
    m.put(address(n), nullptr);
    CHECK(m.find(address(n)) == nullptr);
  }
}

}  // namespace weft::memory
