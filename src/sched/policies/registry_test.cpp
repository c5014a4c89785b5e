// The policies that are registered: by what names, and that each robs everybody. How they run programs:
// tests/conformance/policy.cpp.
#include "sched/policies/registry.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "weft/error.hpp"

namespace weft::sched {
namespace {

[[nodiscard]] place::tree four() {
  return place::tree({{.cpu = 0}, {.cpu = 1}, {.cpu = 2, .cache = 1, .node = 1}, {.cpu = 3, .cache = 1, .node = 1}}, 4);
}

constexpr weft::policy silent{.name = "silent", .about = "a table without functions"};

}  // namespace

TEST_CASE("registry: each registered one is found by its name, an unknown name is answered with those there are") {
  const place::tree places = four();
  for (const policy_entry& e : policies()) {
    CHECK(&find_policy(e.name.name) == &e);
    CHECK(e.make(e, places) != nullptr);
  }
  try {
    static_cast<void>(find_policy("no such policy"));
    FAIL_CHECK("it was found");
  } catch (const error& e) {
    for (const policy_entry& p : policies()) CHECK(std::string(e.what()).find(p.name.name) != std::string::npos);
  }
}

// Over one sweep everybody must have a chance. What is drawn names somebody else each time, and everybody in a few
// sweeps.
TEST_CASE("registry: no registered one robs itself, and each comes to everybody") {
  const place::tree places = four();
  for (const policy_entry& e : policies()) {
    const auto p = e.make(e, places);
    base::random rng(7);
    for (unsigned self = 0; self < 4; ++self) {
      std::set<unsigned> named;
      for (unsigned sweep = 0; sweep < 20; ++sweep)
        for (unsigned i = 0; i < 3; ++i) named.insert(p->victim(self, i, rng));
      INFO(e.name.name);
      CHECK(named.size() == 3);
      CHECK(named.count(self) == 0);
      CHECK(*named.rbegin() < 4);
    }
  }
}

TEST_CASE("registry: a name is checked when it is added, and there is room for so many") {
  const auto refusal = [](const weft::policy& p) -> std::string {
    try {
      enlist_policy(p);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  weft::policy p = silent;
  p.name = "two words";
  CHECK(refusal(p).find("'two words' is no name") != std::string::npos);
  p.name = nullptr;
  CHECK(refusal(p).find("'' is no name") != std::string::npos);
  p.name = "local";
  CHECK(refusal(p).find("there is a policy 'local' already") != std::string::npos);
  p.name = "silent";
  p.about = "";
  CHECK(refusal(p).find("does not say what it is about") != std::string::npos);
  static std::vector<std::string> names;
  const std::size_t before = policies().size();
  for (std::size_t i = 0; i < policies_max; ++i) names.push_back("outside_" + std::to_string(i));
  std::size_t added = 0;
  for (const std::string& name : names) {
    p = silent;
    p.name = name.c_str();
    if (refusal(p) == "") ++added;
  }
  CHECK(added == policies_max);
  CHECK(policies().size() == before + policies_max);
  const place::tree places = four();
  CHECK(find_policy("outside_3").make(find_policy("outside_3"), places) != nullptr);
  p = silent;
  CHECK(refusal(p).find("one more than the 64") != std::string::npos);
}

}  // namespace weft::sched
