// What a handle knows about its datum: name, size and home, in any order of being said.
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "weft/handle.hpp"
#include "weft/memory_placement.hpp"

namespace weft {

using detail::bytes_max;
using detail::no_home;

TEST_CASE("about: a handle knows nothing at first, and is one cache line") {
  const handle<int> h{0};
  CHECK(h.name() == nullptr);
  CHECK(h.bytes() == 0);
  static_assert(sizeof(detail::handle_state) == 64);
  detail::handle_state s;
  CHECK(detail::home_of(s) == no_home);
}

TEST_CASE("about: sizes are kept to the byte, beside a name and without") {
  for (const std::uint64_t n :
       {std::uint64_t{1}, std::uint64_t{4097}, (std::uint64_t{1} << 32) + 1, bytes_max - 1, bytes_max}) {
    detail::handle_state s;
    detail::set_bytes(s, n);
    CHECK(detail::bytes_of(s) == n);
    CHECK(detail::name_in(s) == nullptr);
    detail::set_name(s, "x");
    CHECK(detail::bytes_of(s) == n);
    CHECK(detail::name_in(s) == std::string("x"));
  }
}

TEST_CASE("about: an address of any bits is a name") {
  for (const std::uintptr_t address : {std::uintptr_t{1}, (std::uintptr_t{1} << 47) + 3, (std::uintptr_t{1} << 48) - 1,
                                       std::uintptr_t{1} << 48, ~std::uintptr_t{0}}) {
    const char* const name = reinterpret_cast<const char*>(address);
    detail::handle_state s;
    detail::set_name(s, name);
    CHECK(reinterpret_cast<std::uintptr_t>(detail::name_in(s)) == address);
    CHECK(detail::bytes_of(s) == 0);
    detail::set_bytes(s, 5);
    CHECK(reinterpret_cast<std::uintptr_t>(detail::name_in(s)) == address);
    CHECK(detail::bytes_of(s) == 5);
  }
}

TEST_CASE("about: whatever is said last holds, and the rest stays") {
  static const char* const names[] = {nullptr, "a", "bc"};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    base::random rng(seed);
    detail::handle_state s;
    const char* name = nullptr;
    std::uint64_t bytes = 0;
    std::uint16_t home = no_home;
    detail::data_layout layout;
    for (int i = 0; i < 20; ++i) {
      switch (rng.below(4)) {
      case 0: detail::set_name(s, name = names[rng.below(3)]); break;
      case 1:
        detail::set_bytes(s, bytes = rng.below(3));
        layout = {};
        break;
      case 2:
        bytes = rng.below(3);
        detail::set_layout(s, bytes, {memory_placement::block_cyclic(5), 7, 10});
        layout = bytes == 0 ? detail::data_layout{} : detail::data_layout{memory_placement::block_cyclic(5), 7, 10};
        break;
      default: detail::set_home(s, home = rng.below(3) == 0 ? no_home : static_cast<std::uint16_t>(rng.below(0xffff)));
      }
      CAPTURE(seed);
      REQUIRE(detail::name_in(s) == name);
      REQUIRE(detail::bytes_of(s) == bytes);
      REQUIRE(detail::home_of(s) == home);
      const bool on_home = layout == detail::data_layout{} && home != no_home;
      REQUIRE(detail::layout_of(s) ==
              (on_home ? detail::data_layout{memory_placement::on_node(home), 0, bytes} : layout));
    }
  }
}

TEST_CASE("about: a home that one thread sets and a name that another sets are both kept") {
  static const char* const names[] = {"even", "odd"};
  detail::handle_state s;
  std::thread names_it([&] {
    for (int i = 0; i < 20'000; ++i) detail::set_name(s, names[i % 2]);
  });
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto node = static_cast<std::uint16_t>(i % 1000);
    detail::set_home(s, node);
    wrong += detail::home_of(s) != node;
  }
  names_it.join();
  CHECK(wrong == 0);
  CHECK(detail::name_in(s) == names[1]);
  CHECK(detail::home_of(s) == 999);
}

TEST_CASE("about: a home that is found is no home that was said, and goes when the size is said anew") {
  detail::handle_state s;
  detail::find_home(s, 3);  // nobody knows how large it is
  CHECK((detail::home_of(s) == no_home && !detail::is_home_found(s)));
  for (const std::uint64_t n : {std::uint64_t{1}, bytes_max}) {
    detail::set_bytes(s, n);
    detail::find_home(s, 3);
    detail::find_home(s, 5);
    CHECK((detail::home_of(s) == 5 && detail::is_home_found(s) && detail::bytes_of(s) == n));
    CHECK(detail::layout_of(s) == detail::data_layout{});
    detail::set_name(s, "x");
    CHECK((detail::home_of(s) == 5 && detail::is_home_found(s) && detail::bytes_of(s) == n));
    CHECK(detail::name_in(s) == std::string("x"));
    detail::set_home(s, 2);
    detail::find_home(s, 7);
    CHECK((detail::home_of(s) == 2 && !detail::is_home_found(s) && detail::bytes_of(s) == n));
    CHECK(detail::layout_of(s) == detail::data_layout{memory_placement::on_node(2), 0, n});
    detail::set_home(s, no_home);
    detail::find_home(s, 1);
    detail::set_bytes(s, n);
    CHECK((detail::home_of(s) == no_home && !detail::is_home_found(s)));
    detail::set_name(s, nullptr);
  }
  const char* const high = reinterpret_cast<const char*>(~std::uintptr_t{0} >> 17);  // a name's bits are no such bit
  detail::handle_state t;
  detail::set_name(t, high);
  CHECK(!detail::is_home_found(t));
  detail::set_bytes(t, 9);
  CHECK((!detail::is_home_found(t) && detail::bytes_of(t) == 9));
}

TEST_CASE("about: where data begin is known if it was said, and of small data nobody asks") {
  std::vector<char> memory(4096);
  handle<void> h;
  CHECK(detail::address_of(h.state()) == nullptr);
  h.lies_at(memory.data(), 4096);
  CHECK(detail::address_of(h.state()) == memory.data());
  h.name("h");
  CHECK((detail::address_of(h.state()) == memory.data() && h.bytes() == 4096 && h.name() == std::string("h")));
  h.lies_at(memory.data(), 4095);
  CHECK((detail::address_of(h.state()) == nullptr && h.bytes() == 4095 && h.name() == std::string("h")));
  h.bytes(1 << 20);
  CHECK(detail::address_of(h.state()) == nullptr);
}

}  // namespace weft
