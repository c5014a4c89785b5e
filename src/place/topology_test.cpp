// How many workers are right: made-up cgroup trees in a temporary folder, made-up machines, and what must hold for the
// real one.
#include "place/topology.hpp"

#include <doctest/doctest.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace weft::place {
namespace {

namespace fs = std::filesystem;

// A folder with a proc file and a cgroup tree in it.
class cgroups {
 public:
  explicit cgroups(const std::string& proc_self_cgroup) {
    std::string pattern = (fs::temp_directory_path() / "weft-cgroups-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    home_ = pattern;
    write("proc", proc_self_cgroup);
  }
  ~cgroups() { fs::remove_all(home_); }
  cgroups(const cgroups&) = delete;
  cgroups& operator=(const cgroups&) = delete;

  cgroups& has(const std::string& path, const std::string& text) {
    write("fs/" + path, text);
    return *this;
  }
  cgroups& has_link(const std::string& path, const std::string& to) {
    fs::create_directory_symlink(to, home_ / "fs" / path);
    return *this;
  }
  [[nodiscard]] double quota() {
    file_.clear();
    return cgroup_quota((home_ / "proc").string(), (home_ / "fs").string(), file_);
  }
  [[nodiscard]] cpu_budget budget() { return usable_cpus((home_ / "proc").string(), (home_ / "fs").string()); }
  // The file that the last quota() came from, below the root.
  [[nodiscard]] std::string file() const {
    const std::string root = (home_ / "fs").string() + "/";
    return file_.starts_with(root) ? file_.substr(root.size()) : file_;
  }

 private:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((home_ / path).parent_path());
    std::ofstream(home_ / path) << text;
  }
  fs::path home_;
  std::string file_;
};

}  // namespace

TEST_CASE("topology: variables of hwloc that describe another machine make no cores here") {
  const std::size_t here = usable_cores().size();
  ::setenv("HWLOC_SYNTHETIC", "Package:2 Core:64 PU:2", 1);
  const std::vector<core> told = usable_cores();
  const std::size_t nodes = node_distances().size();
  ::unsetenv("HWLOC_SYNTHETIC");
  CHECK(told.size() == here);
  CHECK(nodes == 0);  // not those of that machine
}

TEST_CASE("topology: cgroup v2, the group's own quota") {
  cgroups c("0::/user/job\n");
  c.has("user/job/cpu.max", "250000 100000\n");
  CHECK(c.quota() == 2.5);
  CHECK(c.file() == "user/job/cpu.max");
}

TEST_CASE("topology: cgroup v2, max inside and a quota above, at any height up to the root") {
  cgroups c("0::/a/b/c\n");
  c.has("a/b/c/cpu.max", "max 100000\n");
  CHECK(c.quota() == 0);
  CHECK(c.file().empty());
  c.has("cpu.max", "800000 100000\n");
  CHECK(c.quota() == 8);
  CHECK(c.file() == "cpu.max");
  c.has("a/cpu.max", "150000 100000\n");
  CHECK(c.quota() == 1.5);
  CHECK(c.file() == "a/cpu.max");
  c.has("a/b/c/cpu.max", "300000 100000\n");  // more than is above it means nothing
  CHECK(c.quota() == 1.5);
  c.has("a/b/cpu.max", "100000 200000\n");
  CHECK(c.quota() == 0.5);
  CHECK(c.file() == "a/b/cpu.max");
}

TEST_CASE("topology: cgroup v2 in a container, where the group is the root") {
  cgroups c("0::/\n");
  CHECK(c.quota() == 0);
  c.has("cpu.max", "400000 100000\n");
  CHECK(c.quota() == 4);
}

TEST_CASE("topology: cgroup v1, the controller alone or with its accounting") {
  for (const char* controllers : {"cpu", "cpu,cpuacct", "cpuacct,cpu"}) {
    CAPTURE(controllers);
    cgroups c("9:cpuset:/other\n4:" + std::string(controllers) + ":/docker/x\n1:name=systemd:/docker/x\n");
    if (std::string(controllers) == "cpu")
      c.has("cpu/docker/x/cpu.cfs_quota_us", "-1\n").has("cpu/docker/x/cpu.cfs_period_us", "100000\n");
    else
      c.has("cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n")
          .has("cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n")
          .has_link("cpu", "cpu,cpuacct");
    CHECK(c.quota() == 0);
    c.has("cpu/docker/x/cpu.cfs_quota_us", "350000\n");
    CHECK(c.quota() == 3.5);
    CHECK(c.file() == "cpu/docker/x");
    c.has("cpu/docker/cpu.cfs_quota_us", "50000\n").has("cpu/docker/cpu.cfs_period_us", "100000\n");
    CHECK(c.quota() == 0.5);
  }
}

TEST_CASE("topology: cgroup v1 in a container, whose path is known outside only") {
  cgroups c("4:cpu,cpuacct:/docker/0123456789ab\n");
  c.has("cpu/cpu.cfs_quota_us", "200000\n").has("cpu/cpu.cfs_period_us", "100000\n");
  CHECK(c.quota() == 2);
}

TEST_CASE("topology: controllers that only begin like cpu do not count") {
  cgroups c("3:cpuset:/x\n5:cpuacct:/x\n6:mycpu:/x\n");
  c.has("cpu/x/cpu.cfs_quota_us", "100000\n").has("cpu/x/cpu.cfs_period_us", "100000\n");
  CHECK(c.quota() == 0);
}

TEST_CASE("topology: both versions at once, the smaller quota holds") {
  cgroups c("4:cpu:/x\n0::/x\n");
  c.has("cpu/x/cpu.cfs_quota_us", "300000\n").has("cpu/x/cpu.cfs_period_us", "100000\n");
  c.has("x/cpu.max", "700000 100000\n");
  CHECK(c.quota() == 3);
  c.has("x/cpu.max", "200000 100000\n");
  CHECK(c.quota() == 2);
}

TEST_CASE("topology: files that say nothing sensible limit nothing") {
  for (const char* text : {"", "\n", "garbage", "garbage 100000", "100000", "100000 0", "100000 -5", "0 100000",
                           "-100000 100000", "max", "max max", "100000 x", "nan 100000", "\xff\xfe\x01 7"}) {
    CAPTURE(std::string(text));
    cgroups c("0::/a\n");
    c.has("a/cpu.max", text);
    CHECK(c.quota() == 0);
    CHECK(c.file().empty());
    c.has("cpu.max", "100000 100000\n");
    CHECK(c.quota() == 1);  // and what is above still does
  }
  cgroups v1("4:cpu:/a\n");
  v1.has("cpu/a/cpu.cfs_quota_us", "100000\n");
  CHECK(v1.quota() == 0);  // no period
  v1.has("cpu/a/cpu.cfs_period_us", "0\n");
  CHECK(v1.quota() == 0);
  v1.has("cpu/a/cpu.cfs_period_us", "what\n");
  CHECK(v1.quota() == 0);
}

TEST_CASE("topology: a process file that says nothing sensible limits nothing") {
  for (const char* text :
       {"", "\n\n", "garbage", ":", "0:", "::", "0::", "0::relative", "0::/no/such/group", ":::::"}) {
    CAPTURE(std::string(text));
    cgroups c(text);
    CHECK(c.quota() == 0);
  }
  std::string file;
  CHECK(cgroup_quota("/no/such/file", "/no/such/folder", file) == 0);
}

TEST_CASE("topology: classes of distance are the different latencies between nodes, in order") {
  using table = std::vector<std::vector<unsigned>>;
  CHECK(distance_classes({}, 3) == table{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}});
  CHECK(distance_classes({10}, 1) == table{{0}});
  CHECK(distance_classes({10, 16, 32, 16, 10, 21, 32, 21, 10}, 3) == table{{0, 1, 3}, {1, 0, 2}, {3, 2, 0}});
  const table here = node_distances();
  for (std::size_t a = 0; a < here.size(); ++a)
    for (std::size_t b = 0; b < here.size(); ++b) CHECK((here[a][b] == 0) == (a == b));
  for (const core& c : usable_cores()) CHECK((here.empty() || c.node < here.size()));
}

TEST_CASE("topology: memory nodes are numbered without gaps") {
  hwloc_topology_t raw = nullptr;
  REQUIRE(hwloc_topology_init(&raw) == 0);
  REQUIRE(hwloc_topology_set_synthetic(raw, "NUMANode:4(indexes=1,5,0,9) PU:1") == 0);
  REQUIRE(hwloc_topology_load(raw) == 0);
  CHECK((node_number(raw, 0) == 0 && node_number(raw, 1) == 1 && node_number(raw, 5) == 2 && node_number(raw, 9) == 3));
  CHECK((node_number(raw, -1) == 0 && node_number(raw, 7) == 0));
  hwloc_topology_destroy(raw);
}

TEST_CASE("topology: this process's number of workers follows from mask and quota") {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  const std::vector<core> cores = usable_cores();
  CHECK(cores.size() == static_cast<std::size_t>(CPU_COUNT(&set)));
  std::set<unsigned> cpus;
  for (const core& c : cores) {
    CHECK(CPU_ISSET(c.cpu, &set));
    CHECK(cpus.insert(c.cpu).second);
  }
  CHECK(cpus.contains(current_cpu()));
  const cpu_budget b = usable_cpus();
  CHECK(b.affinity == cores.size());
  CHECK(b.workers >= 1);
  CHECK(b.workers <= b.affinity);
  if (b.quota > 0) {
    CHECK(b.workers == std::max(1.0, std::min<double>(b.affinity, std::ceil(b.quota))));
    CHECK(!b.quota_of.empty());
  } else {
    CHECK(b.workers == b.affinity);
  }
}

TEST_CASE("topology: workers are the cores that the quota pays for, rounded up, at least one") {
  const unsigned cores = static_cast<unsigned>(usable_cores().size());
  for (const char* proc : {"0::/job\n", "4:cpu,cpuacct:/job\n"}) {
    CAPTURE(std::string(proc));
    const bool v2 = proc[0] == '0';
    cgroups c(proc);
    CHECK(c.budget().workers == cores);
    for (const double paid : {0.01, 0.5, 1.0, 1.01, 1.5, 2.0, 3.7, 100'000.0}) {
      CAPTURE(paid);
      const std::string quota = std::to_string(static_cast<long>(paid * 100'000));
      if (v2)
        c.has("job/cpu.max", quota + " 100000\n");
      else
        c.has("cpu/job/cpu.cfs_quota_us", quota + "\n").has("cpu/job/cpu.cfs_period_us", "100000\n");
      const cpu_budget b = c.budget();
      CHECK(b.affinity == cores);
      CHECK(b.quota == doctest::Approx(paid));
      CHECK(b.quota_of.ends_with(v2 ? "/job/cpu.max" : "/cpu/job"));
      CHECK(b.workers == std::min<double>(cores, std::ceil(paid)));
    }
  }
}

TEST_CASE("topology: a narrower affinity mask is fewer cores") {
  cpu_set_t before;
  CPU_ZERO(&before);
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  const unsigned last = usable_cores().back().cpu;
  CPU_SET(last, &one);
  const auto set_all = [](const cpu_set_t& mask) {  // also the threads that a sanitizer keeps
    for (const auto& thread : fs::directory_iterator("/proc/self/task"))
      static_cast<void>(sched_setaffinity(std::stoi(thread.path().filename()), sizeof mask, &mask));
  };
  set_all(one);
  const std::vector<core> cores = usable_cores();
  const unsigned workers = usable_cpus().workers;
  set_all(before);
  REQUIRE(cores.size() == 1);
  CHECK(cores.front().cpu == last);
  CHECK(workers == 1);
}

}  // namespace weft::place
