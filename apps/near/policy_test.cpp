// What who writes hints gets for them by default: the programs that have them, on a modelled machine with four memory
// nodes, under the default policy and under near.
#include "apps/programs_test.hpp"

namespace weft::apps {

namespace {

constexpr const char* machine = "epyc-7551-32";

[[nodiscard]] double ms(const char* name, const settings& how, const char* policy) {
  const result r = run(name, how, machine, 0, policy);
  REQUIRE(r.ok());
  return r.seconds * 1e3;
}

}  // namespace

TEST_CASE("near: the default policy is as fast as near where tasks have hints, and faster than one that ignores them") {
  const settings sor{{"size", 1024}, {"iterations", 3}}, srad{{"size", 512}, {"iterations", 3}},
      cilksort{{"count", 1'000'000}};
  for (const auto& [name, how] : {std::pair("sor", sor), std::pair("srad", srad), std::pair("cilksort", cilksort)}) {
    const double by_default = ms(name, how, nullptr), near = ms(name, how, "near"), random = ms(name, how, "random");
    MESSAGE(name << ": default " << by_default << " ms, near " << near << ", random " << random);
    CHECK(by_default < 1.05 * near);
    if (name != std::string("cilksort")) CHECK(by_default < random);
  }
}

TEST_CASE("near: without hints the default policy runs these programs as if it had never heard of them") {
  const settings how{{"size", 512}, {"iterations", 2}, {"no-hints", true}};
  const result r = run("sor", how, machine, 0, "local");
  CHECK(r.ok());
  CHECK(r.counts.calls == 0);
}

}  // namespace weft::apps
