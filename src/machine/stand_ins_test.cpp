// What stands for a record on a stack: one that lies the same way in every run, used again when it is left, and told to
// the machine when it is new; or the record itself.
#include "machine/stand_ins.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace weft::machine {
namespace {

struct told {
  static void fresh(const void* address, std::size_t bytes) { places.push_back({address, bytes}); }
  struct place {
    const void* address;
    std::size_t bytes;
  };
  static inline std::vector<place> places;
};

struct counted : branch {
  unsigned run = 0, destroyed = 0;
  counted() : branch{} {
    invoke = [](record& r, detail::errand what) {
      counted& self = static_cast<counted&>(static_cast<branch&>(r));
      ++(what == detail::errand::destroy ? self.destroyed : self.run);
    };
  }
};

}  // namespace

TEST_CASE("stand-ins: on real machines a record stands for itself") {
  counted b;
  detail::scope s;
  no_stand_ins all;
  CHECK(&all.offer(b) == &b);
  CHECK(&all.of(b) == &b);
  CHECK(&all.of(s) == &s.own);
}

TEST_CASE("stand-ins: who runs what stands for a branch runs the branch") {
  told::places.clear();
  stand_ins<told> all;
  counted b;
  b.pin = 3;
  branch& there = all.offer(b);
  CHECK(&there != &b);
  CHECK(&all.of(b) == &there);
  CHECK(there.pin == 3);
  CHECK(reinterpret_cast<std::uintptr_t>(&there) % 64 == 0);
  there.invoke(there, detail::errand::run);
  there.invoke(there, detail::errand::destroy);
  CHECK((b.run == 1 && b.destroyed == 1));
  REQUIRE(told::places.size() == 1);
  CHECK((told::places[0].address == &there && told::places[0].bytes >= sizeof(branch)));
}

TEST_CASE("stand-ins: what was left last is used first, and no two are the same meanwhile") {
  told::places.clear();
  stand_ins<told> all;
  counted a, b, c;
  branch& first = all.offer(a);
  branch& second = all.offer(b);
  CHECK(&first != &second);
  all.leave(a);
  CHECK(&all.offer(c) == &first);
  detail::scope s, t;
  record& r = all.of(s);
  CHECK((&r != &s.own && &r != &all.of(t)));
  all.leave(r);
  CHECK(&all.of(s) == &r);
  CHECK(told::places.size() == 4);
}

}  // namespace weft::machine
