#include "ordered/versions.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "machine/host/host.hpp"
#include "ordered/commit_order.hpp"

using namespace weft::speculative;

namespace {

// Four tasks in order, and one word of base memory.
struct bench {
  versions<weft::machine::host> all;
  std::vector<std::unique_ptr<task>> tasks;
  admitted_tasks order;
  alignas(8) std::uint64_t memory = 0x1111111111111111u;
  std::vector<task_ref> stale;

  bench() {
    for (std::uint64_t i = 0; i < 4; ++i) {
      tasks.push_back(std::make_unique<task>());
      tasks.back()->number = i;
      order.insert(*tasks.back());
    }
  }
  task& operator[](std::size_t i) { return *tasks[i]; }
  word_access& add(std::size_t i) {
    word_access& a = tasks[i]->this_run().add();
    a.word = reinterpret_cast<std::uintptr_t>(&memory);
    a.by = tasks[i].get();
    return a;
  }
  std::uint64_t read(std::size_t i, word_access& a, byte_mask mask = whole_word) {
    CHECK(all.read(*tasks[i], a, mask).to == nullptr);
    return a.value;
  }
  word_access& write(std::size_t i, std::uint64_t value, byte_mask mask = whole_word) {
    word_access& a = add(i);
    a.value = value;
    a.written = mask;
    all.publish(a, stale);
    return a;
  }
  // Numbers of the tasks that were made stale since this was asked.
  std::vector<std::uint64_t> told() {
    std::vector<std::uint64_t> who;
    for (const task_ref& s : stale) who.push_back(s.to->number);
    stale.clear();
    return who;
  }
};
using who = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("ordered, versions: a read sees the last write before it in order, or base memory") {
  bench b;
  word_access& at0 = b.add(0);
  CHECK(b.read(0, at0) == b.memory);
  b.write(1, 7);
  b.write(3, 9);
  word_access& at2 = b.add(2);
  CHECK(b.read(2, at2) == 7);
  CHECK(b.told().empty());  // the read of 0 comes before both
}
TEST_CASE("ordered, versions: a write tells those that have read what it changes, and those only") {
  bench b;
  word_access& at1 = b.add(1);
  word_access& at3 = b.add(3);
  CHECK(b.read(1, at1) == b.memory);
  CHECK(b.read(3, at3) == b.memory);
  SUBCASE("from before them") {
    b.write(0, 5);
    CHECK(b.told() == who{3, 1});
    b.write(2, 6);
    CHECK(b.told().empty());  // 3 knows already
  }
  SUBCASE("from between them") {
    b.write(2, 5);
    CHECK(b.told() == who{3});
  }
  SUBCASE("but not one that writes what was there") {
    b.write(0, b.memory);
    CHECK(b.told().empty());
  }
  SUBCASE("nor one that another hides") {
    b.write(2, 5);
    CHECK(b.told() == who{3});
    b.write(0, 6);
    CHECK(b.told() == who{1});
  }
  SUBCASE("a write again by the same call tells by what is different") {
    word_access& first = b.write(0, 0x1111111111111122u, 0x01);
    CHECK(b.told() == who{3, 1});
    weft::detail::poke(b[1].stale, 0u);
    weft::detail::poke(b[3].stale, 0u);
    b.write(0, 0x1111111111111122u, 0x03);
    CHECK(b.told().empty());
    CHECK(!first.published);
  }
}
TEST_CASE("ordered, versions: parts of words are apart") {
  bench b;
  word_access& low = b.add(2);
  CHECK(b.read(2, low, 0x0f) == 0x11111111u);
  b.write(0, 0x2222222200000000u, 0xf0);
  CHECK(b.told().empty());
  CHECK(b.read(2, low, 0xf0) == 0x2222222211111111u);
  b.write(1, 0x3300, 0x02);
  CHECK(b.told() == who{2});
  word_access& all = b.add(3);
  CHECK(b.read(3, all) == 0x2222222211113311u);
}
TEST_CASE("ordered, versions: what is taken back tells its readers, and what happens tells nobody") {
  bench b;
  word_access& w0 = b.write(0, 5);
  word_access& w1 = b.write(1, 6);
  word_access& at2 = b.add(2);
  CHECK(b.read(2, at2) == 6);
  b.all.commit(w0);
  CHECK(b.memory == 5);
  CHECK(b.told().empty());
  b.all.retract(w1, b.stale);
  CHECK(b.told() == who{2});
  b.all.forget_read(at2);
  b.write(1, 8);
  CHECK(b.told().empty());
}
TEST_CASE("ordered, versions: what one does that nothing comes before happens at once, and tells its readers") {
  bench b;
  word_access& at1 = b.add(1);
  word_access& at3 = b.add(3);
  CHECK(b.read(1, at1) == b.memory);
  CHECK(b.read(3, at3) == b.memory);
  word_access& first = b.add(0);
  SUBCASE("it registers no read") {
    b.all.read_first(first, 0x0f);
    b.all.read_first(first, 0xf0);
    CHECK(first.value == b.memory);
    CHECK(first.read == whole_word);
    CHECK(!first.registered);
    b.all.happen(first, b.stale);
    CHECK(b.told().empty());
  }
  SUBCASE("one that is registered is so no more") {
    CHECK(b.read(0, first) == b.memory);
    CHECK(first.registered);
    b.all.happen(first, b.stale);
    CHECK(!first.registered);
    b.all.forget_read(at1);  // its neighbours in the list are linked
    b.all.forget_read(at3);
  }
  SUBCASE("a part of a word") {
    first.value = 0x2200;
    first.written = 0x02;
    b.all.happen(first, b.stale);
    CHECK(b.memory == 0x1111111111112211u);
    CHECK(b.told() == who{3, 1});
    CHECK(!first.published);
  }
  SUBCASE("nobody is told that reads a version between") {
    b.write(2, 9);
    CHECK(b.told() == who{3});
    weft::detail::poke(b[3].stale, 0u);
    first.value = 5;
    first.written = whole_word;
    b.all.happen(first, b.stale);
    CHECK(b.memory == 5);
    CHECK(b.told() == who{1});
  }
  SUBCASE("nobody is told of what was there") {
    first.value = b.memory;
    first.written = whole_word;
    b.all.happen(first, b.stale);
    CHECK(b.told().empty());
  }
}
TEST_CASE("ordered, versions: the value of one that is to run again is not read") {
  bench b;
  b.write(0, 5);
  weft::detail::poke(b[0].stale, 1u);
  word_access& at1 = b.add(1);
  CHECK(b.all.read(b[1], at1, whole_word).to == &b[0]);
  CHECK(at1.read == 0);
  weft::detail::poke(b[0].stale, 0u);
  CHECK(b.read(1, at1) == 5);
}

TEST_CASE("ordered, versions: the accesses of a run are gone through in the order in which they came, also after "
          "another run") {
  access_set all;
  for (const std::size_t n : {0u, 1u, 15u, 16u, 17u, 48u, 16u}) {
    std::vector<word_access*> came;
    for (std::size_t i = 0; i < n; ++i) {
      came.push_back(&all.add());
      CHECK(came.back()->word == 0);  // nothing is left of the run before
      came.back()->word = 8 * (i + 1);
    }
    std::vector<word_access*> seen;
    all.for_each([&](word_access& a) { seen.push_back(&a); });
    CHECK(seen == came);
    CHECK(all.size() == n);
    all.clear();
  }
}
