// Settings become options of a runtime, or the environment of a program, and their errors speak of what the user wrote.
#include "settings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace weft::tool::sim {
namespace {

std::string refused(const settings& s) {
  try {
    const runtime rt(s.options());
  } catch (const error& e) {
    return s.blamed(e.what());
  }
  return "accepted";
}

}  // namespace

TEST_CASE("settings: options, each by its own field") {
  settings s;
  s.set("MACHINE", "virtual");
  s.set("POLICY", "local");
  s.set("POLICY", "random");  // the last counts
  s.set("WORKERS", "7");
  s.set("SEED", "18446744073709551615");
  s.set("WINDOW", "128");
  s.set("CORE", "3");
  s.set("MODE", "coarse");
  s.set("BODY_SCALE", "2.5");
  s.set("CREATION", "");
  const weft::options o = s.options();
  CHECK(std::string(o.machine) == "virtual");
  CHECK(std::string(o.policy) == "random");
  CHECK(o.workers == 7);
  CHECK(o.seed == ~std::uint64_t{0});
  CHECK(o.window == 128);
  CHECK(o.model.core == 3);
  CHECK(std::string(o.model.mode) == "coarse");
  CHECK(std::abs(o.model.body_scale - 2.5) < 1e-12);
  CHECK(o.creation == nullptr);
  CHECK(o.trace == nullptr);
  const runtime rt(o);
  CHECK(rt.workers() == 7);
  CHECK(std::string(rt.policy()) == "random");
}

TEST_CASE("settings: an error names the option") {
  const auto wrong = [](const char* name, const char* value) {
    settings s;
    s.set("MACHINE", "virtual");
    s.set(name, value);
    return refused(s);
  };
  CHECK(wrong("WORKERS", "many") == "--workers = 'many' cannot be; it must be a number");
  CHECK(wrong("WORKERS", "-3") == "--workers = '-3' cannot be; it must be a number");
  CHECK(wrong("WORKERS", "99999").starts_with("weft: --workers = '99999' cannot be; it must be a number from 1 to"));
  CHECK(wrong("WINDOW", "3").starts_with("weft: --window = '3' cannot be"));
  CHECK(wrong("MODE", "rough").starts_with("weft: --mode = 'rough' cannot be"));
  CHECK(wrong("CREATION", "never").starts_with("weft: --creation = 'never' cannot be"));
  CHECK(wrong("BODY_SCALE", "nan").starts_with("weft: --body-scale = '"));
  CHECK(wrong("SEED", "0").starts_with("weft: --seed = '0' cannot be"));
}

TEST_CASE("settings: the environment of a program") {
  settings s;
  s.set("POLICY", "central");
  s.set("TRACE", "");
  const std::vector<std::string> all = s.environment();
  CHECK(std::ranges::count(all, "WEFT_POLICY=central") == 1);
  CHECK(std::ranges::none_of(all, [](const std::string& e) { return e.starts_with("WEFT_TRACE="); }));
  CHECK(std::ranges::any_of(all, [](const std::string& e) { return e.starts_with("PATH="); }));
}

}  // namespace weft::tool::sim
