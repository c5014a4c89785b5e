// A word has the same T each time; by number each has one of its own, in the order in which they were met.
#include "machine/by_word.hpp"

#include <doctest/doctest.h>

#include <set>

namespace weft::machine {
namespace {

struct alignas(32) entry {
  int value = 0;
};

template <class Words> void has_the_same_each_time() {
  Words words;
  for (std::uintptr_t w = 0; w < 100; ++w) CHECK(&words.of(8 * w) == &words.of(8 * w));
  words.of(64).value = 7;
  CHECK(words.of(64).value == 7);
}

}  // namespace

TEST_CASE("by word: a word has the same each time") {
  has_the_same_each_time<by_hash<entry, 4>>();
  has_the_same_each_time<by_number<entry>>();
}

TEST_CASE("by word: by hash they are spread, and there are no more than were wanted") {
  by_hash<entry, 4> words;
  std::set<entry*> met;
  for (std::uintptr_t w = 0; w < 1000; ++w) met.insert(&words.of(0x1000 + 8 * w));
  CHECK(met.size() == 16);
}

TEST_CASE("by word: by number each has its own, on a line of its own") {
  by_number<entry> words;
  std::set<entry*> met;
  for (std::uintptr_t w = 0; w < 1000; ++w) met.insert(&words.of(0x1000 + 8 * w));
  CHECK(met.size() == 1000);
  for (const entry* e : met) CHECK(reinterpret_cast<std::uintptr_t>(e) % 64 == 0);
}

}  // namespace weft::machine
