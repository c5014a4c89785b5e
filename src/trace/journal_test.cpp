// Where events lie: in the file while there is room, whole or not there, and in memory beyond.
#include "trace/journal.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <string>

#include "trace_file.hpp"

namespace weft::trace {

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// The i-th block of a file, as it is there now.
block in_file(const base::part_file& file, std::size_t i) {
  block b{};
  const std::string all = content(file.name());
  REQUIRE(all.size() >= (i + 1) * block_bytes);
  std::memcpy(static_cast<void*>(&b), all.data() + i * block_bytes, sizeof b);
  return b;
}
constexpr block_head of_three{.kind = block_kind::events, .writer = 3, .turn = 1, .lost = 0, .plain = 0};

}  // namespace

TEST_CASE("journal: what is stored is in the file at once") {
  const trace_place place;
  const base::part_file file(place.path());
  journal j(file, 4);
  block* const b = j.take(of_three);
  REQUIRE(b != nullptr);
  b->events[0] = {.time = 42, .kind = event_kind::slept};
  CHECK(content(file.name()).starts_with("Weft journal"));
  const block seen = in_file(file, 1);
  CHECK(seen.head.kind == block_kind::events);
  CHECK(seen.head.writer == 3);
  CHECK(seen.events[0].time == 42);
  CHECK(seen.events[1].kind == event_kind::nothing);
  journal::let_go(*b);
  CHECK(b->events[0].time == 42);
  journal::renew(*b, {.kind = block_kind::events, .writer = 3, .turn = 2, .lost = 7, .plain = 0});
  CHECK(in_file(file, 1).head.lost == 7);
  CHECK(in_file(file, 1).events[0].kind == event_kind::nothing);
}

TEST_CASE("journal: words go on in the next block, and what is longer than one is cut") {
  const trace_place place;
  const base::part_file file(place.path());
  journal j(file, 4);
  const std::string half(words_bytes / 2 - 100, 'x'), long_one(3 * words_bytes, 'y');
  j.tell(word_kind::name, "a", half);
  j.tell(word_kind::name, "b", half);
  j.tell(word_kind::handle, "c", long_one);
  j.tell(word_kind::fact, "d");
  const auto word = [&file](std::size_t i) {
    block b = in_file(file, i);
    word_head head;
    std::memcpy(&head, b.words(), sizeof head);
    return std::pair(head, static_cast<char>(b.words()[sizeof head]));
  };
  CHECK(in_file(file, 1).head.kind == block_kind::words);
  CHECK(word(1).second == 'a');
  CHECK(word(1).first.bytes == half.size() + 1);
  CHECK(word(2).second == 'c');
  CHECK(word_length(word(2).first.bytes) <= words_bytes);
  CHECK(word(3).second == 'd');
}

TEST_CASE("journal: without room in the file, or without a file, blocks are memory") {
  const trace_place place;
  const base::part_file file(place.path());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{2 * block_bytes, before.rlim_max};
  {
    ::setrlimit(RLIMIT_FSIZE, &small);
    journal j(file, 1000);
    ::setrlimit(RLIMIT_FSIZE, &before);
    for (std::uint64_t i = 0; i < 4; ++i) {
      block* const b = j.take(of_three);
      REQUIRE(b != nullptr);
      b->events[0].time = i;
      journal::let_go(*b);  // nothing, of memory
      CHECK(b->events[0].time == i);
    }
    j.tell(word_kind::fact, "goes on");
  }
  journal alone;
  block* const b = alone.take(of_three);
  REQUIRE(b != nullptr);
  CHECK(b->head.writer == 3);
  alone.tell(word_kind::fact, "nowhere");
}

}  // namespace weft::trace
