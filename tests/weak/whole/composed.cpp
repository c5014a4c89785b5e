// Random programs of everything at once (composed.hpp) on the whole engine with weak memory.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "composed_text.hpp"
#include "perform.hpp"
#include "weak/whole/run.hpp"

namespace weft::weak {
namespace {

using namespace composed;

struct program {
  explicit program(std::uint64_t seed) : make(seed, {way_of(seed).workers, true}) {}

  const char* operator()(runtime& rt) {
    performer run(rt, true);
    block& here = *(all = make.segment());
    const unsigned right = expectation::expect(here, true);
    if (std::getenv("WEFT_TEST_SHOW") != nullptr) std::printf("%s", in_words(here).c_str());
    run.perform(here, false);
    const unsigned got = performer::caught([&] { rt.wait(); });
    static std::string wrong;
    wrong = got != right ? "the wait threw " + std::to_string(got) + ", not " + std::to_string(right) : verdict(here);
    return wrong.empty() ? nullptr : wrong.c_str();
  }

  generator make;
  std::unique_ptr<block> all;
};

TEST_CASE("weak memory: random programs") {
  on_weak_memory_of_all_seeds(200, [](std::uint64_t seed) { return program(seed); });
}

}  // namespace
}  // namespace weft::weak
