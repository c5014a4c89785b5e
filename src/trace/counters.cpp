#include "trace/counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>

#include "weft/error.hpp"

namespace weft::trace {

namespace {

struct known_counter {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr known_counter known[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

[[nodiscard]] const known_counter* find(std::string_view name) noexcept {
  for (const known_counter& k : known)
    if (name == k.name) return &k;
  return nullptr;
}

// Processor counters count the program and not the kernel, which unprivileged users may not look at and which would
// drown small bodies. Software counters happen in the kernel; without the right to see them there they stay at 0 or are
// refused, so the narrow form is the second choice.
[[nodiscard]] int open_one(const known_counter& k, int leader) noexcept {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = k.type;
  wanted.config = k.config;
  wanted.exclude_hv = 1;
  wanted.exclude_kernel = k.type == PERF_TYPE_HARDWARE ? 1 : 0;
  wanted.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const auto ask = [&] {
    return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
  };
  const int fd = ask();
  if (fd >= 0 || wanted.exclude_kernel != 0 || (errno != EACCES && errno != EPERM)) return fd;
  wanted.exclude_kernel = 1;
  return ask();
}

void say_once(const std::string& name, const std::string& why) {
  static std::mutex guard;
  static auto* const said = new std::set<std::string>;  // never destroyed: a static runtime may be the last to ask
  const std::lock_guard hold(guard);
  if (said->insert(name).second)
    std::fprintf(stderr, "weft: counter %s is not available here (%s); going on without.\n", name.c_str(), why.c_str());
}

}  // namespace

std::vector<std::string> parse_counters(const char* list) {
  std::vector<std::string> names;
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (find(name) == nullptr) {
      std::string all;
      for (const known_counter& k : known) all += (all.empty() ? "" : ", ") + std::string(k.name);
      throw error("weft: there is no counter '" + std::string(name) + "'; choose from: " + all);
    }
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw error("weft: counter '" + std::string(name) + "' is named twice");
    names.emplace_back(name);
  }
  if (names.size() > counters_max)
    throw error("weft: " + std::to_string(names.size()) + " counters are too many; at most " +
                std::to_string(counters_max) + " can be read together");
  return names;
}

// One after the other joins the group, so that what does not fit beside the others is left out, and nothing else.
std::vector<std::string> usable_counters(const std::vector<std::string>& wanted) {
  std::vector<std::string> usable;
  for (const std::string& name : wanted) {
    std::vector<std::string> with = usable;
    with.push_back(name);
    counter_group group;
    const int refused = group.open(with);
    if (refused != 0)
      say_once(name, std::strerror(refused));
    else if (!group.scheduled())
      say_once(name, "too many counters at the same time");
    else
      usable = std::move(with);
  }
  return usable;
}

int counter_group::open(const std::vector<std::string>& names) {
  close();
  descriptors_.reserve(names.size());
  for (const std::string& name : names) {
    const int fd = open_one(*find(name), descriptors_.empty() ? -1 : descriptors_.front());
    if (fd < 0) {
      const int refused = errno;
      close();
      return refused;
    }
    descriptors_.push_back(fd);
  }
  return 0;
}

void counter_group::close() noexcept {
  for (const int fd : descriptors_) ::close(fd);
  descriptors_.clear();
}

void counter_group::read(reading& into) noexcept {
  if (::read(descriptors_.front(), &into, sizeof into) < 0) into = {};
}

counter_group::values counter_group::since() noexcept {
  reading now{};
  read(now);
  values difference{};
  for (std::size_t i = 0; i < size(); ++i) difference.of[i] = now.values[i] - from_.values[i];
  return difference;
}

bool counter_group::scheduled() noexcept {
  reading now{};
  read(now);
  return now.running_ns != 0 || now.enabled_ns == 0;
}

}  // namespace weft::trace
