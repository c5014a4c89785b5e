// Joules by hand: of a sum by itself, then of small programs on two cores of two nodes.
#include "model/energy.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "weft/weft.hpp"

namespace weft::model {

TEST_CASE("energy: a sum of times by power and of bytes by their price") {
  energy_costs e{true, 10, 5, 0.5, 100, 400};
  const joules j = energy_of(e, {2'000'000'000'000, 1'000'000'000'000, 4'000'000'000'000}, 3'000'000, 500'000);
  CHECK(j.modelled);
  CHECK(j.running == 20);
  CHECK(j.searching == 5);
  CHECK(j.asleep == 2);
  CHECK(j.local == doctest::Approx(3e-4).epsilon(1e-12));
  CHECK(j.remote == doctest::Approx(2e-4).epsilon(1e-12));
  CHECK(j.total() == j.running + j.searching + j.asleep + j.local + j.remote);
  e.known = false;
  CHECK(!energy_of(e, {1, 1, 1}, 1, 1).modelled);
  CHECK(energy_of(e, {1, 1, 1}, 1, 1).total() == 0);
}

namespace {

// A machine file for the length of a test: two nodes of one core, whose scheduler costs next to nothing.
struct machine_on_disk {
  std::string path =
      (std::filesystem::temp_directory_path() / ("weft-energy-" + std::to_string(getpid()) + ".toml")).string();

  explicit machine_on_disk(const std::string& energy) {
    std::ofstream(path) << "summary = \"two nodes\"\n"
                           "[sources]\nlab = { text = \"made up\", date = \"2026\" }\n"
                           "[topology]\nhwloc = \"NUMANode:2 L3:1 PU:1\"\nfrom = \"lab\"\n"
                        << energy;
  }
  ~machine_on_disk() { std::filesystem::remove(path); }
};

const char* const all = "[energy]\nfrom = \"lab\"\nrunning = { W = 10 }\nsearching = { W = 4 }\nasleep = { mW = 500 }\n"
                        "local = { pJ_per_byte = 100 }\nremote = { pJ_per_bit = 50 }\n";

}  // namespace

TEST_CASE("energy: one core computes for a second and moves nothing, then reads both nodes") {
  const machine_on_disk file(all);
  runtime rt({.workers = 1, .machine = file.path.c_str()});
  // Of power times time, which is exact to the picosecond, and of the clock, which begins when the runtime is made.
  const auto running_ps = [&rt] { return std::llround(rt.statistics().energy.running / 10 * 1e12); };
  const auto now_ps = [&rt] { return std::llround(rt.now_ns() * 1e3); };
  const auto made_ps = running_ps() - now_ps();
  rt.submit(cost(1'000'000'000), [] {});
  rt.wait();
  const joules before = rt.statistics().energy;
  CHECK(before.modelled);
  CHECK(running_ps() - now_ps() == made_ps);  // it never waits
  CHECK(before.running >= 10);
  CHECK(before.running < 10.001);
  CHECK(before.searching + before.asleep + before.local + before.remote == 0);
  handle<void> near, far;
  near.bytes(1'000'000, memory_placement::on_node(0));
  far.bytes(2'000'000, memory_placement::on_node(1));
  rt.submit(read(near), read(far), [] {});
  rt.wait();
  const joules after = rt.statistics().energy;
  CHECK(after.local == 100 * (1e6 * 1e-12));
  CHECK(after.remote == 400 * (2e6 * 1e-12));
  CHECK(running_ps() - now_ps() == made_ps);
}

TEST_CASE("energy: a core without work searches, then sleeps, and all time is one of the three") {
  const machine_on_disk file(all);
  for (const char* mode : {"fine", "coarse"}) {
    CAPTURE(mode);
    runtime rt({.workers = 2, .machine = file.path.c_str(), .model = {.mode = mode}});
    rt.submit(pin(0), cost(1'000'000'000), [] {});
    rt.wait();
    const joules e = rt.statistics().energy;
    const double cores_s = 2 * rt.now_ns() * 1e-9;
    CHECK(e.running / 10 + e.searching / 4 + e.asleep / 0.5 == doctest::Approx(cores_s).epsilon(1e-6));
    CHECK(e.running == doctest::Approx(10).epsilon(1e-3));
    CHECK(e.asleep == doctest::Approx(0.5).epsilon(1e-3));
    CHECK(e.searching > 0);
    CHECK(e.searching < 4 * 100e-6);  // 25 us, unless somebody asks for more
  }
  // Who never sleeps searches for a second.
  runtime rt({.workers = 2, .machine = file.path.c_str(), .search_us = 1'000'000});
  rt.submit(pin(0), cost(500'000'000), [] {});
  rt.wait();
  CHECK(rt.statistics().energy.searching == doctest::Approx(4 * 0.5).epsilon(1e-3));
  CHECK(rt.statistics().energy.asleep == 0);
}

TEST_CASE("energy: a machine that says nothing about it has none, and one that says a part is refused") {
  {
    runtime rt({.machine = "virtual"});
    rt.submit([] {});
    rt.wait();
    CHECK(!rt.statistics().energy.modelled);
    CHECK(rt.statistics().energy.total() == 0);
  }
  const auto refused = [](const std::string& energy) -> std::string {
    const machine_on_disk file(energy);
    try {
      const runtime rt({.machine = file.path.c_str()});
    } catch (const error& e) {
      const std::string what = e.what();
      return what.substr(what.find(".toml") + 5);
    }
    return "";
  };
  const std::string text = all;
  const auto with = [&](const std::string& key, const std::string& value) {
    const std::size_t at = text.find(key + " = {");
    return text.substr(0, at) + value + text.substr(text.find('\n', at));
  };
  CHECK(refused(text).empty());
  CHECK(refused(with("asleep", "")) == ":7: energy: the key asleep is missing");
  CHECK(refused(with("running", "running = { W = -1 }")) == ":9: energy.running: -1 cannot be: it is negative");
  CHECK(refused(with("local", "local = { pJ_per_bit = nan }")) ==
        ":12: energy.local: its value must be a number, not infinite or nan");
  CHECK(refused(with("remote", "remote = { pJ_per_byte = inf }")) ==
        ":13: energy.remote: its value must be a number, not infinite or nan");
  CHECK(refused(with("searching", "searching = { kW = 1 }")) ==
        ":10: energy.searching: 'kW' is no unit of a power: W, mW");
  CHECK(refused(text + "idle = { W = 1 }\n").starts_with(":14: energy.idle: there is no such key"));
}

}  // namespace weft::model
