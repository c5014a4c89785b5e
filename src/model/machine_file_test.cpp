// Machine files: all that are shipped load and are sane, a few facts in them, and every way to be wrong has its
// message.
#include "model/machine_file.hpp"

#include <doctest/doctest.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "capture.hpp"

#include "weft/error.hpp"

namespace weft::model {
namespace {

using times = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("machine files: the machines of all papers are there, virtual first, each with a source for every number") {
  std::set<std::string> names;
  const std::vector<machine_entry> all = machine_files();
  REQUIRE(!all.empty());
  CHECK(all.front().name == "virtual");
  for (const machine_entry& e : all) {
    CAPTURE(e.name);
    CHECK(names.insert(e.name).second);
    CHECK(e.summary.size() > 10);
    const description d = describe_machine(e.name);
    CHECK(d.model.name == e.name);
    CHECK(d.model.summary == e.summary);
    CHECK(d.figures.size() >= 2);
    for (const figure& f : d.figures) {
      CAPTURE(f.key);
      CHECK((f.from == "assumed") == f.source.empty());
      CHECK((f.from == "assumed") == !f.why.empty());
      CHECK(f.date.empty() == f.source.empty());
    }
    CHECK(load_machine(e.name).cores.size() == d.model.cores.size());
  }
  for (const char* name :
       {"virtual", "opteron-6220-interlagos-16", "opteron-6282-64", "sgi-uv2000-192", "opteron-6276-bulldozer-64",
        "xeon-e5-4650-32ht", "xeon-phi-5110p-240", "i7-2600k-4", "epyc-7551-32"})
    CHECK(names.contains(name));
  for (const char* size : {"8", "16", "32", "64", "128", "256", "512"})
    for (const char* kind : {"", "-rtopt", "-biglittle", "-biglittle-rtopt"})
      CHECK(names.contains("tasksim-" + std::string(size) + kind));
  CHECK(names.size() == 11 + 28);
}

TEST_CASE("machine files: virtual is one core of many alike, at the costs that the struct has by default") {
  const machine m = load_machine("virtual");
  CHECK(m.any_size);
  REQUIRE(m.cores.size() == 1);
  const machine defaults;
  CHECK(m.lines.load_ps == defaults.lines.load_ps);
  CHECK(m.lines.store_ps == defaults.lines.store_ps);
  CHECK(m.lines.modify_ps == defaults.lines.modify_ps);
  CHECK(m.lines.kept == defaults.lines.kept);
  CHECK(m.lines.transfer_ps == times{0, 167'000, 167'000, 167'000});
  CHECK(m.runtime.step_ps == defaults.runtime.step_ps);
  CHECK(m.runtime.relax_ps == defaults.runtime.relax_ps);
  CHECK(m.runtime.switch_ps == defaults.runtime.switch_ps);
  CHECK(m.runtime.body_ps == defaults.runtime.body_ps);
  CHECK(m.runtime.sleep_ps == defaults.runtime.sleep_ps);
  CHECK(m.runtime.waker_ps == defaults.runtime.waker_ps);
  CHECK(m.runtime.wake_ps == defaults.runtime.wake_ps);
  const machine many = with_cores(m, 5);
  REQUIRE(many.cores.size() == 5);
  for (unsigned a = 0; a < 5; ++a)
    for (unsigned b = 0; b < 5; ++b) CHECK(many.distance(a, b) == (a == b ? 0 : 2));
}

TEST_CASE("machine files: opteron-6282-64 is OpenStream's Opteron-64") {
  const machine m = load_machine("opteron-6282-64");
  REQUIRE(m.cores.size() == 64);
  CHECK(m.ghz == 2.6);
  CHECK(m.classes == 4);
  CHECK(m.memory.read_line_ps == times{76'800, 138'800, 165'800, 333'900});
  CHECK(m.memory.write_line_ps == times{134'500, 162'000, 234'500, 333'900});
  std::set<unsigned> nodes;
  for (unsigned c = 0; c < 64; ++c) {
    nodes.insert(m.cores[c].at.node);
    CHECK(m.cores[c].at.node == c / 8);
    CHECK(m.cores[c].at.cache == c / 8);
    CHECK(m.cores[c].inner == c / 2);
    CHECK(m.cores[c].physical == c / 2);
  }
  CHECK(nodes.size() == 8);
  for (unsigned n = 0; n < 8; ++n) {  // "4 neighbors are at a distance of 1 hop and 3 neighbors are at 2 hops"
    unsigned of_class[4] = {};
    for (const unsigned c : m.apart[n]) ++of_class[c];
    CHECK(of_class[0] == 1);
    CHECK(of_class[1] + of_class[2] == 4);
    CHECK(of_class[3] == 3);
  }
}

TEST_CASE("machine files: sgi-uv2000-192 is OpenStream's SGI-192") {
  const machine m = load_machine("sgi-uv2000-192");
  REQUIRE(m.cores.size() == 192);
  CHECK(m.apart.size() == 24);
  CHECK(m.classes == 4);
  CHECK(m.ghz == 2.4);
  CHECK(m.memory.read_line_ps == times{55'700, 272'000, 346'900, 416'700});
  CHECK(m.memory.write_line_ps == times{77'900, 314'900, 385'800, 457'400});
  CHECK(m.cores[191].at.node == 23);
  CHECK(m.apart[0][1] == 1);   // the blade
  CHECK(m.apart[0][15] == 2);  // its enclosure
  CHECK(m.apart[0][16] == 3);
}

TEST_CASE(
    "machine files: hardware threads and modules share their units, and are used up last where the paper says so") {
  const machine xeon = load_machine("xeon-e5-4650-32ht");
  REQUIRE(xeon.cores.size() == 64);
  CHECK(xeon.speed_when_shared == 0.5);
  std::set<unsigned> first;
  for (unsigned i = 0; i < 32; ++i) first.insert(xeon.cores[i].physical);
  CHECK(first.size() == 32);
  CHECK(xeon.apart == std::vector<std::vector<unsigned>>{{0, 1, 2, 1}, {1, 0, 1, 2}, {2, 1, 0, 1}, {1, 2, 1, 0}});
  const machine phi = load_machine("xeon-phi-5110p-240");
  REQUIRE(phi.cores.size() == 240);
  CHECK(phi.distance(0, 60) == 1);  // two threads of one core
  CHECK(phi.distance(0, 1) == 3);   // no cache is shared by cores
  const machine bulldozer = load_machine("opteron-6276-bulldozer-64");
  CHECK(bulldozer.cores[0].physical == bulldozer.cores[32].physical);
  const machine tao = load_machine("opteron-6220-interlagos-16");
  CHECK(tao.cores.size() == 16);
  CHECK(tao.apart == std::vector<std::vector<unsigned>>{{0, 1, 2, 2}, {1, 0, 2, 2}, {2, 2, 0, 1}, {2, 2, 1, 0}});
}

TEST_CASE("machine files: epyc-7551-32 has two caches in each of four memory nodes") {
  const machine m = load_machine("epyc-7551-32");
  REQUIRE(m.cores.size() == 32);
  CHECK(m.distance(0, 3) == 2);
  CHECK(m.distance(0, 4) == 3);
  CHECK(m.distance(0, 8) == 4);
  CHECK(m.memory.caches.size() == 3);

  // The tree, with the sizes that the file has and none that hwloc would make up.
  outline part = describe_machine("epyc-7551-32").drawing;
  std::string tree;
  for (;;) {
    tree += part.what + " x " + std::to_string(part.count) + "; ";
    if (part.inside.empty()) break;
    REQUIRE(part.inside.size() == 1);
    part = outline(part.inside.front());
  }
  CHECK(tree == "machine x 1; package x 1; memory node x 4; L3 8 MiB x 2; L2 512 KiB x 4; core x 1; ");
}

TEST_CASE("machine files: tasksim has TaskGenX's types, and its core for creating tasks comes last") {
  const machine m = load_machine("tasksim-8-biglittle-rtopt");
  REQUIRE(m.cores.size() == 9);
  REQUIRE(m.types.size() == 3);
  const auto type = [&](unsigned core) { return m.types[m.cores[core].type]; };
  CHECK(type(0).name == "big");
  CHECK(type(3).name == "big");
  CHECK(type(4).name == "little");
  CHECK(type(8).name == "rtopt");
  CHECK(type(0).speed == 4 * type(4).speed);
  CHECK(type(4).runtime_speed == 1);
  CHECK(type(8).speed == 0.25);
  CHECK(type(8).runtime_speed == 16);
  CHECK(load_machine("tasksim-512").types.size() == 1);
}

TEST_CASE("machine files: the user's own folder comes after the library's own files") {
  std::string pattern = (std::filesystem::temp_directory_path() / "weft-config-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  const char* before = std::getenv("XDG_CONFIG_HOME");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_CONFIG_HOME", pattern.c_str(), 1);
  const std::filesystem::path folder = machine_folder();
  CHECK(folder == std::filesystem::path(pattern) / "weft/machines");
  const std::size_t shipped = machine_files().size();  // no such folder yet
  std::filesystem::create_directories(folder);
  const std::string text = "summary = \"mine\"\n[sources]\nlab = { text = \"x\", date = \"y\" }\n"
                           "[topology]\nhwloc = \"PU:3\"\nfrom = \"lab\"\n";
  std::ofstream(folder / "this-host.toml") << text;
  std::ofstream(folder / "i7-2600k-4.toml") << text;
  std::ofstream(folder / "broken.toml") << "summary = ";
  std::ofstream(folder / "notes.txt") << "not a machine";
  CHECK(load_machine("this-host").cores.size() == 3);
  CHECK(load_machine("i7-2600k-4").cores.size() == 4);  // the library's
  const std::vector<machine_entry> all = machine_files();
  REQUIRE(all.size() == shipped + 3);
  CHECK(all[shipped].name == "broken");
  CHECK(all[shipped].summary.find("cannot be used: weft: ") == 0);
  CHECK_THROWS_AS(static_cast<void>(load_machine("broken")), error);
  before == nullptr ? unsetenv("XDG_CONFIG_HOME") : setenv("XDG_CONFIG_HOME", kept.c_str(), 1);
  std::filesystem::remove_all(pattern);
}

TEST_CASE("machine files: what hwloc exported of this machine is taken, with one warning and default costs") {
  hwloc_topology_t topology = nullptr;
  REQUIRE(hwloc_topology_init(&topology) == 0);
  REQUIRE(hwloc_topology_set_synthetic(topology, "Package:2 NUMANode:2 L3:1 L2:2 PU:2") == 0);
  REQUIRE(hwloc_topology_load(topology) == 0);
  hwloc_obj_t nodes[4];
  for (unsigned i = 0; i < 4; ++i) nodes[i] = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, i);
  hwloc_uint64_t latency[16] = {10, 16, 22, 22, 16, 10, 22, 22, 22, 22, 10, 16, 22, 22, 16, 10};
  const auto handle = hwloc_distances_add_create(
      topology, "lat", HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
  REQUIRE(handle != nullptr);
  REQUIRE(hwloc_distances_add_values(topology, handle, 4, nodes, latency, 0) == 0);
  REQUIRE(hwloc_distances_add_commit(topology, handle, 0) == 0);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("weft-" + std::to_string(getpid()) + ".xml")).string();
  REQUIRE(hwloc_topology_export_xml(topology, path.c_str(), 0) == 0);
  hwloc_topology_destroy(topology);

  const std::string said = stderr_of([&] {
    static_cast<void>(load_machine(path));
    static_cast<void>(load_machine(path));
  });
  CHECK(said.find(path + ": it says nothing about costs") != std::string::npos);
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  const machine m = load_machine(path);
  CHECK(m.cores.size() == 16);
  CHECK(m.apart == std::vector<std::vector<unsigned>>{{0, 1, 2, 2}, {1, 0, 2, 2}, {2, 2, 0, 1}, {2, 2, 1, 0}});
  CHECK(m.lines.transfer_ps.size() == 3 + 3);

  std::string text;
  std::getline(std::ifstream(path), text, '\0');
  for (std::size_t i = 0; i < text.size(); i += 1 + text.size() / 40) {
    std::ofstream(path) << text.substr(0, i);
    CHECK_THROWS_AS(static_cast<void>(load_machine(path)), error);
  }
  // On some of these hwloc crashes, or its assertions end the process: they have to end in an error, or in a machine.
  for (std::size_t i = 0, at = 0; (at = text.find("cpuset=\"", at + 1)) != std::string::npos && i < 60; ++i) {
    const std::size_t from = at + 8, to = text.find('"', from);
    for (const char* wrong : {"", "0x", "0x0000te_nodeset", ",x0000000f"}) {
      std::ofstream(path) << std::string(text).replace(from, to - from, wrong);
      try {
        CHECK(load_machine(path).cores.size() <= 16);
      } catch (const error& e) {
        CHECK(std::string(e.what()).find(path) != std::string::npos);
      }
    }
  }
  std::filesystem::remove(path);
}

// Each half has a node of its own and a second one beside it, as processors with two kinds of memory have.
TEST_CASE("machine files: nodes without cores are nodes, farther away from who is not beside them") {
  const shape s = shape_of_notation("Package:2 [NUMANode(memory=1GB)] [NUMANode(memory=1GB)] Core:2 PU:1");
  CHECK(s.cores.size() == 4);
  CHECK(s.nodes == 4);
  CHECK(s.cores[1].at.node == 0);
  CHECK(s.cores[2].at.node == 1);
  CHECK(s.latency[0] == std::vector<std::uint64_t>{10, 20, 20, 30});
  CHECK(s.latency[1] == std::vector<std::uint64_t>{20, 10, 30, 20});
  CHECK(s.latency[2] == std::vector<std::uint64_t>{20, 30, 10, 30});
  CHECK(shape_of_notation("NUMANode:4 Core:2 PU:1").latency.empty());  // as before
}

TEST_CASE("machine files: this machine can be described, too") {
  const description d = describe_host();
  CHECK(d.model.cores.size() >= 1);
  CHECK(d.figures.empty());
  CHECK(d.drawing.what.find("machine") == 0);
}

}  // namespace weft::model
