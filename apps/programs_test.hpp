// Programs as their tests run them: found by name, with settings given by the names of their options.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app.hpp"

namespace weft::apps {

struct setting {
  const char* name;
  std::variant<int, std::string, bool> value;
};
using settings = std::vector<setting>;

[[nodiscard]] inline settings with(settings all, const settings& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The program, which is to have all these options; of two settings of one the later holds.
[[nodiscard]] inline app make(std::string_view name, const settings& all) {
  app found;
  for (app& a : all_apps())
    if (a.name == name) found = std::move(a);
  REQUIRE(found.run);
  for (const setting& s : all) {
    const auto o =
        std::ranges::find_if(found.options, [&](const option& x) { return std::string_view(x.name) == s.name; });
    REQUIRE(o != found.options.end());
    std::visit(
        [&](const auto& v) {
          using type = std::decay_t<decltype(v)>;
          using target = std::conditional_t<std::is_same_v<type, int>, std::size_t, type>;
          *std::get<target*>(o->target) = static_cast<target>(v);
        },
        s.value);
  }
  return found;
}

inline result run(std::string_view name, const settings& all, const weft::options& opt) {
  progress silent("test");
  return make(name, all).run(opt, silent);
}
inline result run(std::string_view name, const settings& all, const char* machine, unsigned workers,
                  const char* policy = "random") {
  return run(name, all, {.workers = workers, .machine = machine, .policy = policy});
}

}  // namespace weft::apps
