#include "sched/balance/rules.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "weft/error.hpp"

namespace weft::sched {

namespace {

std::string refused(const char* settings) {
  try {
    static_cast<void>(rules(settings));
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("rules: each row has a name of its own, and its numbers are in its bounds") {
  std::set<std::string> names;
  for (const weft::rule& r : rules::rows()) {
    CAPTURE(r.name);
    CHECK(names.insert(r.name).second);
    CHECK(std::string(r.what).size() > 20);
    CHECK(std::string(r.what).find('.') == std::string::npos);
    CHECK(std::string(r.counted).size() > 10);
    CHECK(std::string(r.counted).find('.') == std::string::npos);
    CHECK(r.least <= r.value);
    CHECK(r.value <= r.most);
    CHECK(r.value != r.off);
    CHECK(r.most <= rules::never);
  }
  CHECK(names.size() == rules::count);
}

TEST_CASE("rules: a setting moves its own row and no other") {
  const rules some("tiny=off,sweep=16,pipeline_share=off");
  CHECK(some[by::tiny] == 0);
  CHECK(!some.is_on(by::tiny));
  CHECK(some[by::sweep] == 16);
  CHECK(some.is_on(by::sweep));
  CHECK(some[by::pipeline_share] == rules::never);
  CHECK(some.text() == "tiny=off,sweep=16,pipeline_share=off");
  CHECK(rules(some.text()).text() == some.text());
  unsigned moved = 0;
  for (std::size_t i = 0; i < rules::count; ++i) {
    const by r = static_cast<by>(i);
    if (some[r] != rules::usual()[r]) ++moved;
    CHECK(rules::usual()[r] == rules::row(r).value);
  }
  CHECK(moved == 3);
}

TEST_CASE("rules: nothing said, or what is usual, is what is usual") {
  CHECK(rules("").text().empty());
  CHECK(rules("tiny=60").text().empty());
  CHECK(rules("coarse=2000").ps(by::coarse) == 2'000'000);
}

TEST_CASE("rules: every row can be switched off, and set to its bounds, by its name") {
  for (std::size_t i = 0; i < rules::count; ++i) {
    const by r = static_cast<by>(i);
    const weft::rule& row = rules::row(r);
    const std::string name = row.name;
    CAPTURE(name);
    CHECK(rules(name + "=off").is_on(r) == false);
    CHECK(rules(name + "=" + std::to_string(row.off))[r] == row.off);
    for (const std::uint64_t number : {row.least, row.most})
      CHECK(rules(name + "=" + std::to_string(number))[r] == number);
    if (row.most != row.off && row.most + 1 != row.off)
      CHECK(refused((name + "=" + std::to_string(row.most + 1)).c_str()).find(name) != std::string::npos);
  }
}

TEST_CASE("rules: the first row is tiny and the last is in_vain, so the enumeration is the table") {
  CHECK(std::string(rules::row(by::tiny).name) == "tiny");
  CHECK(std::string(rules::row(by::sweep).name) == "sweep");
  CHECK(std::string(rules::row(by::hand_out).name) == "hand_out");
  CHECK(std::string(rules::row(by::first_window).name) == "first_window");
  CHECK(std::string(rules::row(by::pipeline_alone).name) == "pipeline_alone");
  CHECK(std::string(rules::row(by::in_vain).name) == "in_vain");
}

TEST_CASE("rules: where nobody is to look twice those that do are off, unless they are set") {
  const rules& still = rules::still();
  for (const by r : {by::tiny, by::give_way, by::main_moves, by::fork_trial}) {
    CHECK(!still.is_on(r));
    CHECK(still[r] == rules::row(r).off);
  }
  CHECK(still[by::sweep] == rules::usual()[by::sweep]);
  const rules set("give_way=1000,sweep=2", still);
  CHECK((set[by::give_way] == 1000 && set[by::sweep] == 2 && !set.is_on(by::tiny)));
}

TEST_CASE("rules: what cannot be is refused with what is meant, or may be") {
  CHECK(refused("tinny=off") == "weft: there is no rule 'tinny'; did you mean tiny? `weft info --rules` lists them");
  CHECK(refused("nothing_like_it=1") == "weft: there is no rule 'nothing_like_it'; `weft info --rules` lists them");
  CHECK(refused("tiny=") == "weft: rule tiny = '' cannot be; it must be off, or a number from 1 to 2000 (ns)");
  CHECK(refused("tiny") == "weft: rule tiny = '' cannot be; it must be off, or a number from 1 to 2000 (ns)");
  CHECK(refused("sweep=1025") ==
        "weft: rule sweep = '1025' cannot be; it must be off, or a number from 1 to 1024 (victims)");
  CHECK(refused("partners=2") == "weft: rule partners = '2' cannot be; it must be off, or 1");
  CHECK(refused("tiny=-1").find("cannot be") != std::string::npos);
  CHECK(refused("tiny=1e3").find("cannot be") != std::string::npos);
  CHECK(refused("tiny=99999999999999999999").find("cannot be") != std::string::npos);
  CHECK(refused("hand_out=100").find("a power of two from 1 to") != std::string::npos);
  CHECK(refused("tiny=1,,sweep=1").find("there is no rule ''") != std::string::npos);
  CHECK(refused("tiny=1,sweep=2,tiny=3") == "weft: rule tiny is set twice");
  CHECK(refused("tiny=\x1b[31m").find('\x1b') == std::string::npos);
}

}  // namespace weft::sched
