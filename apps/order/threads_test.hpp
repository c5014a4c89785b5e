// For tests of programs that run by threads on the modelled chip: how many cores it has, while this lives.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "../programs_test.hpp"

namespace weft::apps {

class chip_of {
 public:
  // more: other options, each with a comma before it
  explicit chip_of(unsigned cores, const std::string& more = "") {
    if (const char* const there = std::getenv("WEFT_SWARM")) before_ = there;
    REQUIRE(::setenv("WEFT_SWARM", ("cores=" + std::to_string(cores) + more).c_str(), 1) == 0);
  }
  ~chip_of() {
    if (before_.empty())
      ::unsetenv("WEFT_SWARM");
    else
      ::setenv("WEFT_SWARM", before_.c_str(), 1);
  }
  chip_of(const chip_of&) = delete;
  chip_of& operator=(const chip_of&) = delete;

 private:
  std::string before_;
};

inline result run_by_threads(std::string_view name, const settings& all, unsigned cores, std::uint64_t seed = 1) {
  const chip_of chip(cores);
  return run(name, with(all, {{"executor", "threads"}}), {.workers = 1, .seed = seed});
}

[[nodiscard]] inline std::uint64_t count_in(const result& r, std::string_view name) {
  for (const field& f : r.fields)
    if (f.name == name) return std::get<std::uint64_t>(f.value);
  FAIL("no field " << name);
  return 0;
}

// Right with any number of cores, from several seeds, and at the least size.
inline void require_right_by_threads(std::string_view name, const settings& small, const settings& least) {
  for (const unsigned cores : {1u, 2u, 4u, 16u, 64u})
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(name);
      CAPTURE(cores);
      CAPTURE(seed);
      const result r = run_by_threads(name, small, cores, seed);
      CHECK(r.ok());
      CHECK(r.checks.size() >= 2);
      CHECK(run_by_threads(name, least, cores, seed).ok());
    }
}

// To the cycle, and faster with more cores: so many times as fast with 16 as with one.
inline void require_faster_by_threads(std::string_view name, const settings& all, double at_least) {
  const std::uint64_t sixteen = count_in(run_by_threads(name, all, 16), "cycles");
  CHECK(count_in(run_by_threads(name, all, 16), "cycles") == sixteen);
  CHECK(static_cast<double>(count_in(run_by_threads(name, all, 1), "cycles")) >
        at_least * static_cast<double>(sixteen));
}

}  // namespace weft::apps
