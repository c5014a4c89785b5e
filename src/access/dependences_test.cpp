// Edges from accesses, against what versions say, one by one.
#include "access/dependences.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "weft/handle.hpp"

namespace weft::access {
namespace {

using detail::kind_add;
using detail::kind_concurrent;
using detail::kind_read;
using detail::kind_reduce;
using detail::kind_write;

// "1<0 2<0,1": what each task waits for.
std::string edges(const dependences& d) {
  std::string all;
  for (std::uint32_t i = 0; i < d.tasks(); ++i) {
    if (d.begin(i) == d.end(i)) continue;
    all += (all.empty() ? "" : " ") + std::to_string(i) + "<";
    const std::set<std::uint32_t> sorted(d.begin(i), d.end(i));
    CHECK(sorted.size() == static_cast<std::size_t>(d.end(i) - d.begin(i)));
    for (const std::uint32_t p : sorted) all += (p == *sorted.begin() ? "" : ",") + std::to_string(p);
  }
  return all;
}

struct one {
  handle<void>& h;
  std::uint8_t kind;
};
void add(dependences& d, std::initializer_list<one> accesses) {
  for (const one& a : accesses) static_cast<void>(d.access(d.slot_of(a.h.state()), a.kind));
  static_cast<void>(d.add());
}

}  // namespace

TEST_CASE("dependences: groups wait for the group before") {
  handle<void> a;
  dependences d;
  add(d, {{a, kind_write}});
  add(d, {{a, kind_read}});
  add(d, {{a, kind_read}});
  add(d, {{a, kind_write}});
  add(d, {{a, kind_add}});
  add(d, {{a, kind_add}});
  add(d, {{a, kind_concurrent}});
  add(d, {{a, kind_concurrent}});
  CHECK(edges(d) == "1<0 2<0 3<1,2 4<3 5<4 6<5 7<5");
  CHECK(d.slots().size() == 1);
  CHECK(d.slots()[0].mixed);
  CHECK(d.slots()[0].accesses == 8);
}

TEST_CASE("dependences: versions are those of the same tasks one by one") {
  handle<void> a;
  dependences d;
  std::vector<std::uint64_t> required;
  for (const std::uint8_t kind : {kind_read, kind_read, kind_write, kind_write, kind_add, kind_add, kind_read}) {
    required.push_back(d.access(d.slot_of(a.state()), kind));
    static_cast<void>(d.add());
  }
  CHECK(required == std::vector<std::uint64_t>{0, 0, 2, 3, 4, 4, 6});
}

TEST_CASE("dependences: what two edges imply is no edge, and none is there twice") {
  handle<void> a, b, c;
  dependences d;
  add(d, {{a, kind_write}, {b, kind_write}});
  add(d, {{a, kind_read}, {c, kind_write}});
  add(d, {{a, kind_read}, {b, kind_read}, {c, kind_read}});
  CHECK(edges(d) == "1<0 2<1");
  add(d, {{a, kind_write}, {b, kind_write}});
  CHECK(edges(d) == "1<0 2<1 3<2");
}

TEST_CASE("dependences: a handle that was only asked for may be gone") {
  dependences d;
  {
    const auto gone = std::make_unique<handle<void>>();
    d.begin();
    static_cast<void>(d.slot_of(gone->state()));
    CHECK(!d.name(0));
    CHECK(d.name(0));
  }
  std::deque<handle<void>> handles(100);  // the table of slots grows several times
  for (handle<void>& h : handles) add(d, {{h, kind_write}});
  for (handle<void>& h : handles) add(d, {{h, kind_read}});
  CHECK(d.edges() == 100);
  std::size_t used = 0;
  for (const dependences::slot& s : d.slots()) used += s.accesses == 2 ? 1 : 0;
  CHECK(used == 100);
}

TEST_CASE("dependences: a join between many and many") {
  handle<void> a;
  dependences d;
  for (int i = 0; i < 5; ++i) {
    CHECK(!d.needs_join(d.slot_of(a.state()), kind_read));
    add(d, {{a, kind_read}});
  }
  CHECK(!d.needs_join(d.slot_of(a.state()), kind_write));
  REQUIRE(d.needs_join(d.slot_of(a.state()), kind_concurrent));
  CHECK(d.join(d.slot_of(a.state())) == 5);
  for (int i = 0; i < 3; ++i) {
    CHECK(!d.needs_join(d.slot_of(a.state()), kind_concurrent));
    add(d, {{a, kind_concurrent}});
  }
  CHECK(edges(d) == "5<0,1,2,3,4 6<5 7<5 8<5");
  CHECK(!d.must_apply_first(d.slot_of(a.state()), kind_read));
  add(d, {{a, kind_reduce}});
  CHECK(!d.must_apply_first(d.slot_of(a.state()), kind_reduce));
  CHECK(d.must_apply_first(d.slot_of(a.state()), kind_read));
}

TEST_CASE("dependences: for random programs each pair that conflicts is ordered, and no other is") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    base::random rng(seed);
    std::deque<handle<void>> handles(4);
    constexpr std::uint32_t n = 24;
    constexpr std::uint8_t drawn[] = {kind_read, kind_read, kind_write, kind_add, kind_concurrent};
    std::vector<std::vector<int>> kinds(n, std::vector<int>(4, 0));
    dependences d;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (unsigned k = 0; k < 1 + rng.below(3); ++k) kinds[i][rng.below(4)] = drawn[rng.below(5)];
      for (unsigned h = 0; h < 4; ++h)
        if (kinds[i][h] != 0)
          static_cast<void>(d.access(d.slot_of(handles[h].state()), static_cast<std::uint8_t>(kinds[i][h])));
      REQUIRE(d.add() == i);
    }
    // What must be: two accesses to one handle, unless both read or both are concurrent with nothing else in between.
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n)), wanted = before;
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t p = 0; p < i; ++p)
        for (unsigned h = 0; h < 4; ++h) {
          if (kinds[i][h] == 0 || kinds[p][h] == 0) continue;
          bool together = kinds[i][h] == kinds[p][h] && (kinds[i][h] & detail::kind_exclusive) == 0;
          for (std::uint32_t between = p; between < i; ++between)
            together = together && (kinds[between][h] == 0 || kinds[between][h] == kinds[i][h]);
          if (!together) wanted[p][i] = true;
        }
    for (std::uint32_t i = 0; i < n; ++i)
      for (const std::uint32_t* p = d.begin(i); p != d.end(i); ++p) before[*p][i] = true;
    const auto close = [](std::vector<std::vector<bool>>& order) {
      for (std::uint32_t k = 0; k < n; ++k)
        for (std::uint32_t i = 0; i < n; ++i)
          for (std::uint32_t j = 0; j < n; ++j)
            if (order[i][k] && order[k][j]) order[i][j] = true;
    };
    close(before);
    close(wanted);
    INFO("seed " << seed);
    CHECK(before == wanted);
  }
}

}  // namespace weft::access
