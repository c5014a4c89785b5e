// What model.change says comes instead of what the file says, whole numbers at a time, and is checked like the file.
#include "model/machine_change.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/machine_text.hpp"
#include "weft/error.hpp"

namespace weft::model {
namespace {

const std::string file = R"(summary = "two kinds"
[sources]
lab = { text = "measured", date = "2026" }
[topology]
hwloc = "PU:4"
types = "2 big, 2 little"
from = "lab"
[clock]
GHz = 2
from = "lab"
[types.big]
speed = { x = 1, from = "lab" }
[types.little]
speed = { x = 0.5, from = "lab" }
[lines.transfer]
node = { ns = 60, from = "lab" }
)";

description changed(const std::string& change) { return parse_machine(file, "m.toml", "m", "m", change); }

std::string refusal(const std::string& change) {
  try {
    static_cast<void>(changed(change));
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("machine change: a number comes whole, with another unit than it had, and the rest stays") {
  const machine m = changed("lines.transfer.node.cycles = 10").model;
  CHECK(m.lines.transfer_ps.back() == 5'000);
  CHECK(m.types[1].speed == 0.5);
  CHECK(changed("").model.lines.transfer_ps.back() == 60'000);
}

TEST_CASE("machine change: several, by lines or semicolons, in tables that the file has not and in its topology") {
  for (const char* change : {"runtime.submit.ns = 7; types.little.speed.x = 0.25; topology.types = \"1 big, 3 little\"",
                             "runtime.submit.ns = 7\ntypes.little = { speed = { x = 0.25 } }\n[topology]\n"
                             "types = \"1 big, 3 little\""}) {
    const machine m = changed(change).model;
    CHECK(m.runtime.step_ps[0] == 7'000);
    CHECK(m.types[1].speed == 0.25);
    CHECK(m.types[0].speed == 1);
    CHECK(m.cores[1].type == 1);
    CHECK(m.topology == "PU:4");
  }
}

TEST_CASE("machine change: the machines of a family change alike") {
  const std::string family = "summary = \"many\"\n[family]\nsizes = [2, 4]\n[[family.variants]]\nname = \"{n}\"\n"
                             "hwloc = \"PU:{n}\"\ntypes = \"{n} a\"\nfrom = \"assumed\"\nwhy = \"so\"\n"
                             "[types.a]\n[types.b]\n";
  const machine m = parse_machine(family, "m.toml", "m", "m-4", "topology.types = \"3 a, 1 b\"").model;
  CHECK(m.types[m.cores[3].type].name == "b");
  CHECK(m.types[m.cores[2].type].name == "a");
}

TEST_CASE("machine change: a figure says that it was given") {
  for (const figure& f : changed("runtime.submit.ns = 7").figures)
    if (f.key == "runtime.submit") {
      CHECK(f.from == "assumed");
      CHECK(f.why == "given by the option model.change");
      return;
    }
  FAIL("the figure is missing");
}

TEST_CASE("machine change: what is wrong in it is said") {
  CHECK(refusal("runtime.submitt.ns = 7")
            .find("m.toml as changed: runtime.submitt: there is no such key; did you "
                  "mean submit") != std::string::npos);
  CHECK(refusal("runtime.submit.ns = -1").find("it is negative") != std::string::npos);
  CHECK(refusal("runtime.submit = 7").find("runtime.submit: it is a time") != std::string::npos);
  CHECK(refusal("runtime.submit.ns =").find("option model.change:1: this is no TOML") != std::string::npos);
  CHECK(refusal("topology.types = \"9 big\"").find("gives types to 9 cores") != std::string::npos);
}

TEST_CASE("machine change: which steps a core serves") {
  const machine m = changed("types.big.serves = \"run, submit\"; topology.types = \"1 big, 3 little\"").model;
  CHECK(m.types[0].serves[static_cast<std::size_t>(step::run)]);
  CHECK(m.types[0].serves[static_cast<std::size_t>(step::submit)]);
  CHECK(!m.types[0].serves[static_cast<std::size_t>(step::advance)]);
  CHECK(!m.types[1].serves[static_cast<std::size_t>(step::run)]);
  CHECK(refusal("types.big.serves = \"run\"").find("2 cores would serve the others; at most one may") !=
        std::string::npos);
  for (const char* bad : {"", "walk", "run,", "run submit", "advance"})
    CHECK(refusal("types.big.serves = \"" + std::string(bad) + "\"").find("steps that a core does for all") !=
          std::string::npos);
}

}  // namespace weft::model
