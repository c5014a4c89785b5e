// What a measurement must say about where and when it was made, and whether the machine was quiet meanwhile.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "json.hpp"

namespace weft::tool {

// Processor, cores, kernel, compiler.
[[nodiscard]] json machine_facts();
// UTC, as in 2026-11-20T12:00:00Z.
[[nodiscard]] std::string date_and_time();
// The WEFT_* variables and those of other systems, which change a run without leaving a trace in its command line.
[[nodiscard]] json settings_in_environment(const std::vector<std::string>& prefixes);

// What else used the cores, from the kernel's count of all busy time less that of this program and its children.
class load_watch {
 public:
  load_watch();
  struct load {
    bool known = false;  // false where /proc/stat cannot be read
    double others = 0;   // cores that other programs used on average
    double stolen = 0;   // cores that the hypervisor gave to other machines
  };
  // Since the object was made.
  [[nodiscard]] load so_far() const;

 private:
  struct busy {
    bool known = false;
    double all = 0, stolen = 0, own = 0;  // seconds
  };
  static busy now();
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  busy before_ = now();
};

// Where it is on, the kernel shares the cores among sessions, and `nice` does not count between them.
[[nodiscard]] bool autogroups_on();

}  // namespace weft::tool
