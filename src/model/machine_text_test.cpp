// The format of machine files: what each key sets, what holds without it, and the message for each way to be wrong.
#include "model/machine_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/machine_costs.hpp"
#include "weft/error.hpp"

namespace weft::model {
namespace {

using times = std::vector<std::uint64_t>;

const std::string head = "summary = \"a machine\"\n"
                         "[sources]\n"
                         "lab = { text = \"measured\", date = \"2026\" }\n";
const std::string four = "[topology]\nfrom = \"lab\"\nhwloc = \"NUMANode:2 L3:1 L2:1 PU:2\"\n";

description parse(const std::string& text) { return parse_machine(text, "m.toml", "m", "m"); }
machine model(const std::string& more) { return parse(head + four + more).model; }

// The message without what is the same in all.
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse(text));
  } catch (const error& e) {
    const std::string what = e.what();
    return what.starts_with("weft: m.toml:") ? what.substr(13) : what;
  }
  return "accepted";
}
// Of what stands after the topology: line 7.
std::string refusal_of(const std::string& more) { return refusal(head + four + more); }

const std::string every_key = R"(
[clock]
MHz = 2500
from = "lab"
[shared_speed]
x = 0.75
from = "lab"
[busy_speed]
x = 0.875
from = "lab"
[lines]
from = "lab"
load = { ps = 5 }
store = { ns = 1.5 }
modify = { cycles = 10 }
memory = { ns = [80, 90.5] }
kept = { count = 77 }
invalidate = { ps = 6 }
probe = "all"
[lines.transfer]
from = "lab"
inner = { ns = 1 }
outer = { ns = 2 }
node = { ns = [3, 4] }
[runtime]
from = "lab"
submit = { ps = 1 }
submit_access = { ps = 2 }
run = { ps = 3 }
run_access = { ps = 4 }
advance = { ps = 5 }
steal = { ps = 6 }
request = { ps = 7 }
relax = { ps = 8 }
switch = { ps = 9 }
body = { us = 10 }
sleep = { us = 11 }
waker = { us = 12 }
wake = { ms = 13 }
[memory]
from = "lab"
chunk = { KiB = 8 }
controller = { GBps = 25.6 }
link = { MBps = [12800] }
read_line = { ns = [70, 140] }
write_line = { ns = [75, 150] }
lines_in_flight = { count = 12 }
home = "interleave"
[memory.pages]
size = { MiB = 2 }
migrate = true
scan = { ms = 14 }
scan_most = { ms = 15 }
fault = { us = 16 }
move = { us = 17 }
copy = { GBps = 18 }
[[memory.caches]]
shared_by = "core"
size = { KiB = 32 }
rate = { GBps = 50 }
[[memory.caches]]
shared_by = "outer"
size = { MiB = 16 }
)";

}  // namespace

TEST_CASE("machine text: the least there can be, and what holds then") {
  const machine m = model("");
  CHECK(m.name == "m");
  CHECK(m.summary == "a machine");
  CHECK(m.topology == "NUMANode:2 L3:1 L2:1 PU:2");
  CHECK(m.cores.size() == 4);
  CHECK(m.classes == 2);
  CHECK(m.apart == std::vector<std::vector<unsigned>>{{0, 1}, {1, 0}});
  CHECK(m.types.size() == 1);
  CHECK(m.types[0].speed == 1);
  CHECK(m.speed_when_shared == 1);
  CHECK(m.ghz == 1);
  CHECK(m.lines.transfer_ps == times{0, 167'000, 167'000, 167'000, 167'000});
  CHECK(m.lines.memory_ps == times{12'500, 12'500});
  CHECK(m.lines.invalidate_ps == 0);
  CHECK(!m.lines.probes_all);
  CHECK(m.memory.read_line_ps == times{100'000, 100'000});
  CHECK(m.memory.write_line_ps == m.memory.read_line_ps);
  CHECK(m.memory.link_bytes_per_ns == std::vector<double>{0, 0});
  CHECK(m.memory.caches.empty());
  CHECK(m.memory.pages.bytes == 0);
  CHECK(!m.memory.pages.migrate);
}

TEST_CASE("machine text: every key, in every unit") {
  const machine m = model(every_key);
  CHECK(m.ghz == 2.5);
  CHECK(m.speed_when_shared == 0.75);
  CHECK(m.lines.load_ps == 5);
  CHECK(m.lines.store_ps == 1'500);
  CHECK(m.lines.modify_ps == 4'000);
  CHECK(m.lines.memory_ps == times{80'000, 90'500});
  CHECK(m.lines.kept == 77);
  CHECK(m.lines.invalidate_ps == 6);
  CHECK(m.lines.probes_all);
  CHECK(m.lines.transfer_ps == times{0, 1'000, 2'000, 3'000, 4'000});
  for (std::size_t i = 0; i < steps; ++i) CHECK(m.runtime.step_ps[i] == i + 1);
  CHECK(m.runtime.relax_ps == 8);
  CHECK(m.runtime.switch_ps == 9);
  CHECK(m.runtime.body_ps == 10'000'000);
  CHECK(m.runtime.sleep_ps == 11'000'000);
  CHECK(m.runtime.waker_ps == 12'000'000);
  CHECK(m.runtime.wake_ps == 13'000'000'000);
  CHECK(m.memory.chunk_bytes == 8192);
  CHECK(m.memory.controller_bytes_per_ns == 25.6);
  CHECK(m.memory.link_bytes_per_ns == std::vector<double>{0, 12.8});
  CHECK(m.memory.read_line_ps == times{70'000, 140'000});
  CHECK(m.memory.write_line_ps == times{75'000, 150'000});
  CHECK(m.memory.lines_in_flight == 12);
  CHECK(m.memory.placement == memory_costs::home::interleave);
  CHECK(m.memory.pages.bytes == 2 << 20);
  CHECK(m.memory.pages.migrate);
  CHECK(m.memory.pages.scan_ps == 14'000'000'000);
  CHECK(m.memory.pages.scan_most_ps == 15'000'000'000);
  CHECK(m.memory.pages.fault_ps == 16'000'000);
  CHECK(m.memory.pages.move_ps == 17'000'000);
  CHECK(m.memory.pages.copy_bytes_per_ns == 18);
  REQUIRE(m.memory.caches.size() == 2);
  CHECK(m.memory.caches[0].who == cache::shared_by::core);
  CHECK(m.memory.caches[0].bytes == 32768);
  CHECK(m.memory.caches[0].bytes_per_ns == 50);
  CHECK(m.memory.caches[1].who == cache::shared_by::outer);
}

TEST_CASE("machine text: what cores of a physical core do together, and kinds of work of their own") {
  const std::string threads = head + "[topology]\nfrom = \"lab\"\nhwloc = \"NUMANode:1 Core:2 PU:4\"\n";
  const auto speed = [](const std::string& x) { return "[shared_speed]\nx = " + x + "\nfrom = \"lab\"\n"; };
  const auto refused = [&](const std::string& more) { return refusal(threads + more); };
  const std::string range = "it must be from 1/4, where 4 cores of a physical core do as much as one alone, to 1";
  CHECK(most_siblings(parse(threads).model) == 4);
  CHECK(parse(threads + speed("0.25")).model.speed_when_shared == 0.25);
  CHECK(refused(speed("0.24")) == "7: shared_speed: " + range);
  CHECK(refused(speed("1.1")) == "7: shared_speed: it must be at most 1");
  const std::string spin = "[shared_speed_of]\nfrom = \"lab\"\nspin = { x = 1 }\n";
  const machine m = parse(threads + speed("0.25") + spin).model;
  REQUIRE(m.shared_speed_of.size() == 1);
  CHECK((m.shared_speed_of[0].task == "spin" && m.shared_speed_of[0].speed == 1));
  CHECK(refused(spin) == "7: shared_speed_of: it needs [shared_speed] or [busy_speed] for all other tasks");
  CHECK(refused(speed("0.25") + "[shared_speed_of]\nspin = { x = 0.2, from = \"lab\" }\n") ==
        "11: shared_speed_of.spin: " + range);
}

TEST_CASE("machine text: what all cores do together") {
  const auto speed = [](const std::string& x) { return "[busy_speed]\nx = " + x + "\nfrom = \"lab\"\n"; };
  CHECK(model("").speed_when_busy == 1);
  CHECK_FALSE(model("").computing_is_shared());
  CHECK(model(speed("0.25")).speed_when_busy == 0.25);
  CHECK(model(speed("0.9")).computing_is_shared());
  CHECK(refusal_of(speed("1.01")) == "7: busy_speed: it must be at most 1");
  CHECK(refusal_of(speed("0.24")) ==
        "7: busy_speed: it must be from 1/4, where all 4 cores do as much as one alone, to 1");
  for (const char* none : {"nan", "inf", "-0.5"})
    CHECK(refusal_of(speed(none)).find(": busy_speed: ") != std::string::npos);
  CHECK(model(speed("0.9") + "[shared_speed_of]\nfrom = \"lab\"\nspin = { x = 1 }\n").shared_speed_of.size() == 1);
}

TEST_CASE("machine text: what is missing follows from what is there") {
  const machine m = model("[memory]\nfrom = \"lab\"\nread_line = { ns = [70, 140] }\n"
                          "[lines.transfer]\nfrom = \"lab\"\nnode = { ns = [50, 60] }\n");
  CHECK(m.memory.write_line_ps == m.memory.read_line_ps);
  CHECK(m.lines.memory_ps == times{8'750, 17'500});
  CHECK(m.lines.transfer_ps == times{0, 50'000, 50'000, 50'000, 60'000});
  CHECK(model("[lines.transfer]\nfrom = \"lab\"\nouter = { ns = 20 }\n").lines.transfer_ps ==
        times{0, 20'000, 20'000, 167'000, 167'000});
}

TEST_CASE("machine text: types, tasks with a speed of their own, and which cores are which") {
  const std::string types = "[types]\nfrom = \"lab\"\n[types.big]\nspeed = { x = 4 }\ntasks.gemm = { x = 6.8 }\n"
                            "[types.little]\nruntime_speed = { x = 2 }\n[types.unused]\n";
  const machine m = parse(head + four + "types = \"1 little, 2 big,1 little\"\n" + types).model;
  REQUIRE(m.types.size() == 2);
  CHECK(m.types[0].name == "little");
  CHECK(m.types[0].speed == 1);
  CHECK(m.types[0].runtime_speed == 2);
  CHECK(m.types[1].speed == 4);
  CHECK(m.types[1].runtime_speed == 4);  // as bodies, unless said
  REQUIRE(m.types[1].speed_of.size() == 1);
  CHECK(m.types[1].speed_of[0].task == "gemm");
  CHECK(m.types[1].speed_of[0].speed == 6.8);
  std::vector<unsigned> of;
  for (const core& c : m.cores) of.push_back(c.type);
  CHECK(of == std::vector<unsigned>{0, 1, 1, 0});
  CHECK(model("[types.only]\nspeed = { x = 3, from = \"lab\" }\n").types[0].name == "only");

  CHECK(refusal_of(types).find("the key types is missing") != std::string::npos);
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"2 big, 3 little", "7: topology.types: it gives types to 5 cores, and the topology has 4"},
           {"4 bigg", "7: topology.types: there is no type 'bigg' in [types]; did you mean big?"},
           {"big",
            "7: topology.types: it must be like \"4 big, 4 little\": how many cores are of which type, in order"},
           {"99999 big", "7: topology.types: 99999 is more cores than Weft takes"},
           {"", "7: topology.types: it gives types to 0 cores, and the topology has 4"}}) {
    CAPTURE(text);
    CHECK(refusal(head + four + "types = \"" + text + "\"\n" + types) == why);
  }
}

TEST_CASE("machine text: distances between memory nodes") {
  const auto apart = [](const std::string& nodes, const std::string& how) {
    return parse(head + "[topology]\nfrom = \"lab\"\nhwloc = \"NUMANode:" + nodes +
                 " PU:1\"\n[apart]\nfrom = \"lab\"\n" + how)
        .model.apart;
  };
  using matrix = std::vector<std::vector<unsigned>>;
  CHECK(apart("3", "form = \"all\"") == matrix{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}});
  CHECK(apart("4", "form = \"ring\"") == matrix{{0, 1, 2, 1}, {1, 0, 1, 2}, {2, 1, 0, 1}, {1, 2, 1, 0}});
  CHECK(apart("4", "groups = [2]") == matrix{{0, 1, 2, 2}, {1, 0, 2, 2}, {2, 2, 0, 1}, {2, 2, 1, 0}});
  CHECK(apart("2", "matrix = [[0, 1], [1, 0]]") == matrix{{0, 1}, {1, 0}});
  CHECK(apart("8", "groups = [2, 4]")[0] == std::vector<unsigned>{0, 1, 2, 2, 3, 3, 3, 3});

  const auto wrong = [](const std::string& how) { return refusal_of("[apart]\nfrom = \"lab\"\n" + how); };
  CHECK(wrong("matrix = [[0, 1]]") == "9: apart.matrix: it has 1 rows, and the topology 2 memory nodes");
  CHECK(wrong("matrix = [[0, 1], [1]]") == "9: apart.matrix: row 2 has 1 numbers, and the topology 2 memory nodes");
  CHECK(wrong("matrix = [[0, 1], [2, 0]]") ==
        "9: apart.matrix: row 2, column 1 is 2, but the other way it is 1; it must be symmetric");
  CHECK(wrong("matrix = [[1, 1], [1, 0]]") ==
        "9: apart.matrix: row 1, column 1: a node is at 0 from itself and from no other");
  CHECK(wrong("matrix = [[0, 2], [2, 0]]") ==
        "9: apart.matrix: it has a 2 and no 1; classes are numbered from 1 without gaps");
  CHECK(wrong("matrix = [[0, -1], [-1, 0]]") == "9: apart.matrix: row 1 must hold whole numbers, 0 or more");
  CHECK(wrong("matrix = 3") == "9: apart.matrix: it must be a list of rows, and is a number");
  CHECK(wrong("groups = [2]") ==
        "9: apart.groups: each must be a multiple of the one before, above 1 and below the 2 memory nodes");
  CHECK(wrong("form = \"star\"") == "9: apart.form: it must be \"all\" or \"ring\"");
  CHECK(wrong("") == "7: apart: it must have one of form, groups and matrix");
}

TEST_CASE("machine text: hardware threads, neighbours first or one of each core first") {
  const std::string t = head + "[topology]\nfrom = \"lab\"\nhwloc = \"L3:1 L2:2 Core:1 PU:2\"\n";
  const machine near = parse(t).model;
  const machine spread = parse(t + "order = \"physical\"\n").model;
  std::vector<unsigned> of_near;
  std::vector<unsigned> of_spread;
  for (unsigned i = 0; i < 4; ++i) {
    of_near.push_back(near.cores[i].physical);
    of_spread.push_back(spread.cores[i].physical);
    CHECK(spread.cores[i].at.cpu == i);
  }
  CHECK(of_near == std::vector<unsigned>{0, 0, 1, 1});
  CHECK(of_spread == std::vector<unsigned>{0, 1, 0, 1});
  CHECK(spread.distance(0, 2) == 1);
  CHECK(spread.distance(0, 1) == 2);
  CHECK(refusal(t + "order = \"any\"\n") == "7: topology.order: it must be \"neighbours\" or \"physical\"");
}

TEST_CASE("machine text: figures say where a number is from") {
  const description d = parse(head + four +
                              "[lines]\nfrom = \"assumed\"\nwhy = \"half\"\nload = { ns = 1 }\n"
                              "modify = { ns = 2, from = \"lab\" }\n");
  REQUIRE(d.figures.size() == 3);
  CHECK(d.figures[0].key == "topology.hwloc");
  CHECK(d.figures[1].key == "lines.load");
  CHECK(d.figures[1].value == "1 ns");
  CHECK(d.figures[1].from == "assumed");
  CHECK(d.figures[1].why == "half");
  CHECK(d.figures[2].from == "lab");
  CHECK(d.figures[2].source == "measured");
  CHECK(d.figures[2].date == "2026");
  CHECK(d.figures[2].why.empty());  // the section's, which is about assumed numbers
}

TEST_CASE("machine text: a family is several machines") {
  const std::string text =
      "summary = \"all\"\n[sources]\nlab = { text = \"x\", date = \"y\" }\n"
      "[types.a]\n[types.b]\n[family]\nsizes = [2, 4]\n"
      "[[family.variants]]\nname = \"{n}\"\nhwloc = \"PU:{n}\"\ntypes = \"{n} a\"\nfrom = \"lab\"\n"
      "[[family.variants]]\nname = \"{n}-x\"\nsummary = \"{n/2} and {n+1}\"\nhwloc = \"PU:{n+1}\"\n"
      "types = \"{n/2} a, {n/2} b, 1 a\"\nfrom = \"lab\"\n";
  const std::vector<machine_entry> all = machines_in(text, "m.toml", "m");
  REQUIRE(all.size() == 4);
  CHECK(all[0].name == "m-2");
  CHECK(all[0].summary == "all");
  CHECK(all[3].name == "m-4-x");
  CHECK(all[3].summary == "2 and 5");
  const machine m = parse_machine(text, "m.toml", "m", "m-4-x").model;
  CHECK(m.cores.size() == 5);
  CHECK(m.types.size() == 2);
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_machine(text, "m.toml", "m", "m-3")),
                       "weft: m.toml: there is no machine 'm-3' in it", error);
}

}  // namespace weft::model
