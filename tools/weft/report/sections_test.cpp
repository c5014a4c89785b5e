#include "sections.hpp"

#include <doctest/doctest.h>

#include "made.hpp"

namespace weft::tool::report {

TEST_CASE("report, sections: runs of one executor are added up, and it is said whether running ahead paid") {
  trace::file f = made(2).take();
  f.format = 7;
  f.sections = {{"speculative", 0, 100, 50, 60, 4, 10, 150},
                {"speculative", 200, 300, 50, 50, 0, 50, 90},
                {"serial", 400, 410, 5, 5, 0, 0, -1},
                {"swarm", 500, 800, 20, 20, 0, 0, 240}};
  const std::vector<section_figures> all = sections_of(f);
  REQUIRE(all.size() == 3);
  CHECK((all[0].executor == "swarm" && all[1].executor == "speculative" && all[2].executor == "serial"));
  CHECK((all[1].runs == 2 && all[1].committed == 100 && all[1].started == 110 && all[1].again == 4));
  CHECK((all[1].in_order == 60 && all[1].in_vain() == 10 && all[1].took == 200 && all[1].serial == 240));
  CHECK(all[1].gain() == doctest::Approx(1.2));
  CHECK(all[2].gain() == 0);
  const std::string text = section_rows(all, false);
  CHECK(text.find("yes: 1.20 times as fast") != std::string::npos);
  CHECK(text.find("no: 0.800 times as fast") != std::string::npos);
  const json reply = sections_json(f, all);
  CHECK(reply.size() == 3);
  CHECK(reply[2]["gain"].is_null());
  f.format = 6;
  CHECK(sections_json(f, all).is_null());
}

TEST_CASE("report, sections: a gain is of what is known alone; as fast is even; without sections nothing is said") {
  trace::file f = made(1).take();
  CHECK(section_rows(sections_of(f), false).empty());
  f.sections = {{"speculative", 0, 100, 5, 5, 0, 0, 101}, {"speculative", 100, 900, 5, 5, 0, 0, -1}};
  const std::vector<section_figures> all = sections_of(f);
  REQUIRE(all.size() == 1);
  CHECK(all[0].gain() == doctest::Approx(1.01));
  CHECK(section_rows(all, false).find("even") != std::string::npos);
  f.sections.erase(f.sections.begin());
  CHECK(section_rows(sections_of(f), false).find("unknown") != std::string::npos);
}

}  // namespace weft::tool::report
