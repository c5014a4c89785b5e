// See machine_state.hpp.
#include "machine_state.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string_view>

#include "weft/weft.hpp"

namespace weft::tool {

namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

}  // namespace

json machine_facts() {
  utsname system{};
  uname(&system);
  return {{"processor", processor_name()},
          {"usable_cpus", usable_cpus()},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"compiler", WEFT_COMPILER},
          {"build", WEFT_BUILD_TYPE}};
}

std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

json settings_in_environment(const std::vector<std::string>& prefixes) {
  json found = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    for (const std::string& p : prefixes)
      if (text.starts_with(p)) found[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  }
  return found;
}

load_watch::load_watch() = default;

load_watch::busy load_watch::now() {
  busy found;
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal) {
    const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    found = {true, (user + nice + system + irq + softirq) * tick, steal * tick, 0};
  }
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    found.own += seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  return found;
}

load_watch::load load_watch::so_far() const {
  const busy after = now();
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (!before_.known || !after.known || passed <= 0) return {};
  const double others = (after.all - before_.all) - (after.own - before_.own);
  return {true, std::max(others, 0.0) / passed, (after.stolen - before_.stolen) / passed};
}

bool autogroups_on() {
  std::ifstream setting("/proc/sys/kernel/sched_autogroup_enabled");
  int on = 0;
  return setting >> on && on == 1;
}

}  // namespace weft::tool
