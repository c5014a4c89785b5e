// What is assembled and written must come back from the loader as it was.
#include "machine_text.hpp"

#include <doctest/doctest.h>
#include <hwloc.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/machine_file.hpp"
#include "report.hpp"
#include "weft/error.hpp"

namespace weft::tool::calibrate {

namespace {

class folder {
 public:
  folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-machine-text-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file() const { return (path_ / "x.toml").string(); }

 private:
  std::filesystem::path path_;
};

host_description two_nodes() {
  host_description h;
  h.topology = "NUMANode:2 L3:1 L2:2 PU:1";
  for (unsigned i = 0; i < 4; ++i) {
    model::core c;
    c.at = {i, i / 2, i / 2};
    c.inner = c.physical = i;
    h.cores.push_back(c);
  }
  h.apart = {{0, 1}, {1, 0}};
  h.classes = 2;
  h.caches = {{32 << 10, model::cache::shared_by::core, "L1"},
              {1 << 20, model::cache::shared_by::inner, "L2"},
              {8 << 20, model::cache::shared_by::outer, "L3"}};
  return h;
}

figure measured(std::string key, double median) {
  figure f;
  f.key = f.what = std::move(key);
  f.value = {median, median, median, median, 9};
  return f;
}

figures some_figures() {
  figures all;
  all.add(measured("clock_speed", 2.5));
  all.add(measured("load_hit", 0.4));
  all.add(measured("modify_hit", 8));
  all.add(measured("transfer_2", 60));
  all.add(measured("transfer_4", 200));
  all.add(measured("wake", 9000));
  all.add(measured("bandwidth_L1", 100));
  all.add(measured("bandwidth_memory_0", 12.8));
  all.add(measured("bandwidth_memory_all_0", 20));
  all.add(measured("bandwidth_memory_all_1", 10));
  all.add(measured("latency_read_0", 80));
  all.add(measured("latency_read_1", 70));  // noise: the far node seems nearer
  return all;
}

}  // namespace

TEST_CASE("a machine of two nodes comes back from its file") {
  figures found = some_figures();
  assembled a = assemble(two_nodes(), found, "A \"processor\"\\ of\n2020");
  a.machine.runtime.step_ps = {1'000, 2'000, 3'000, 4'000, 5'000, 6'000, 7'000};
  const folder f;
  write_machine(f.file(), a, "2026-11-20");
  const model::machine m = model::load_machine(f.file());
  REQUIRE(m.cores.size() == 4);
  CHECK(m.summary == "A processor of2020, 4 usable cores");
  CHECK(m.ghz == 2.5);
  CHECK(m.classes == 2);
  CHECK(m.distance(0, 1) == 2);
  CHECK(m.distance(0, 2) == 4);
  CHECK(m.lines.load_ps == 400);
  CHECK(m.lines.modify_ps == 8'000);
  // 1: no two cores share a second-level cache, so as the nearest there is; 3: as 2.
  CHECK(m.lines.transfer_ps == std::vector<std::uint64_t>{0, 60'000, 60'000, 60'000, 200'000});
  CHECK(m.lines.memory_ps == std::vector<std::uint64_t>{80'000, 80'000});
  CHECK(m.runtime.step_ps == a.machine.runtime.step_ps);
  CHECK(m.runtime.wake_ps == 9'000'000);
  CHECK(m.memory.caches.size() == 3);
  CHECK(m.memory.caches[2].bytes == 8 << 20);
  CHECK(m.memory.caches[2].who == model::cache::shared_by::outer);
  CHECK(m.memory.caches[0].bytes_per_ns == 100);
  CHECK(m.memory.controller_bytes_per_ns == 20);
  REQUIRE(m.memory.link_bytes_per_ns.size() == 2);
  CHECK(m.memory.link_bytes_per_ns[1] == 10);
  CHECK(m.memory.lines_in_flight == doctest::Approx(16));
}

TEST_CASE("every number says where it is from, and what was not measured says that") {
  figures found = some_figures();
  const std::string text = machine_text(assemble(two_nodes(), found, "p"), "2026-11-20");
  CHECK(text.find("load = { ns = 0.4, from = \"here\", why = \"median of 9") != std::string::npos);
  CHECK(text.find("waker = { ns = 7200, from = \"assumed\"") != std::string::npos);
  REQUIRE(found.find("runtime.waker") == nullptr);
  CHECK(found.find("waker")->assumed());
}

TEST_CASE("what busy cores take from each other is in the file, unless it is nothing") {
  const auto text_of = [](double compute, double vectors) {
    figures found = some_figures();
    found.add(measured("busy_compute", compute));
    found.add(measured("busy_vectors", vectors));
    found.add(measured("busy_stream", 0.7));
    found.add(measured("bandwidth_L3", 30));
    const assembled a = assemble(two_nodes(), found, "p");
    const folder f;
    write_machine(f.file(), a, "2026-11-20");
    CHECK(model::load_machine(f.file()).speed_when_busy == doctest::Approx(a.machine.speed_when_busy));
    return machine_text(a, "2026-11-20");
  };
  const std::string some = text_of(0.95, 0.85);
  CHECK(some.find(
            "busy_speed = { x = 0.9, from = \"here\", why = \"mean of 0.950 in loops of integers and 0.850 in loops "
            "of vectors\" }") != std::string::npos);
  CHECK(text_of(0.1, 0.2).find("busy_speed = { x = 0.25,") != std::string::npos);  // four cores: no less than one alone
  const std::string none = text_of(1.01, 0.96);
  CHECK(none.find("busy_speed") == std::string::npos);
  CHECK(none.find("while all cores do the same each has 0.700 of it") != std::string::npos);
}

TEST_CASE("a file whose own checks are far off says so, and is not taken") {
  const auto check = [](const char* name, double measured, double modelled) {
    summary s;
    s.median = measured;
    return comparison{name, s, modelled};
  };
  CHECK(unusable({}) == "");
  CHECK(unusable({check("spawn", 100, 125), check("steal", 100, 75)}) == "");
  const std::string why = unusable({check("spawn", 100, 126), check("steal", 100, 90), check("wake", 100, 70)});
  CHECK(why == "'spawn' comes out +26 %, 'wake' comes out -30 % beside what was measured");
  comparison noisy = check("dependence across cores", 100, 48);
  noisy.measured.q1 = 80, noisy.measured.q3 = 130;
  CHECK(unusable({noisy}) == "'dependence across cores' comes out -52 % (noisy: its quartiles are 50 % apart) beside "
                             "what was measured");
  const folder f;
  const host_description h = two_nodes();
  figures found = some_figures();
  write_machine(f.file(), assemble(h, found, "p"), "2026-11-20", why);
  const auto told = [&] {
    try {
      static_cast<void>(model::load_machine(f.file()));
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string("taken");
  };
  CHECK(told().find(":1: unusable: this file says of itself: " + why + "; measure again") != std::string::npos);
}

TEST_CASE("what several tries do not agree on is named, most first") {
  const auto found = [](double transfer, double load) {
    figures all;
    summary s;
    s.median = transfer;
    all.add({.key = "transfer", .what = "t", .value = s});
    s.median = load;
    all.add({.key = "load_hit", .what = "l", .value = s});
    s.median = transfer;
    all.add({.key = "guess", .what = "g", .value = s, .source = "assumed: no pair"});
    return all;
  };
  const auto check = [](double median) {
    summary s;
    s.median = median;
    return std::vector<comparison>{{"spawn", s, 100}};
  };
  disagreements d;
  CHECK(d.text() == "");
  d.add(found(50, 1), check(100));
  CHECK(d.text() == "");
  d.add(found(100, 1.05), check(120));
  CHECK(d.text() == "transfer by 100 %, 'spawn' by 20 %");
  d.add(found(75, 1.05), check(80));
  CHECK(d.text() == "transfer by 100 %, 'spawn' by 50 %");
}

TEST_CASE("a lopsided machine has its XML in the file") {
  host_description h = two_nodes();
  h.topology.clear();
  figures found = some_figures();
  const folder f;
  SUBCASE("nonsense is refused by its key") {
    h.xml = "<?xml version=\"1.0\"?>\n<topology>nonsense";
    write_machine(f.file(), assemble(h, found, "p"), "2026-11-20");
    CHECK_THROWS_WITH_AS(static_cast<void>(model::load_machine(f.file())), doctest::Contains("topology.xml"),
                         weft::error);
  }
  SUBCASE("what hwloc exports comes back") {
    hwloc_topology_t t = nullptr;
    REQUIRE(hwloc_topology_init(&t) == 0);
    REQUIRE(hwloc_topology_set_synthetic(t, "NUMANode:2 L3:1 L2:3 PU:1") == 0);
    REQUIRE(hwloc_topology_load(t) == 0);
    hwloc_obj_add_info(hwloc_get_root_obj(t), "Owner", "somebody's");
    const hwloc_bitmap_t left = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(t));
    hwloc_bitmap_clr(left, 5);
    REQUIRE(hwloc_topology_restrict(t, left, 0) == 0);
    hwloc_bitmap_free(left);
    h = describe(t);
    hwloc_topology_destroy(t);
    REQUIRE(h.topology.empty());
    write_machine(f.file(), assemble(h, found, "p"), "2026-11-20");
    const model::machine m = model::load_machine(f.file());
    REQUIRE(m.cores.size() == 5);
    CHECK(m.distance(0, 2) == 2);
    CHECK(m.distance(0, 3) == 4);
  }
}

}  // namespace weft::tool::calibrate
