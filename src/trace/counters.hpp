// Counters of the processor and the kernel, by perf_event_open: one group per worker, opened by its thread, read by one
// call. What a machine does not have, or does not allow, is said once on stderr and left out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace weft::trace {

inline constexpr std::size_t counters_max = 8;

// The names in a list separated by commas. Errors: weft::error for a name that is not known, twice there, or too many.
[[nodiscard]] std::vector<std::string> parse_counters(const char* list);
// Those of them that this machine gives; what it refuses is named on stderr, once per process and name.
[[nodiscard]] std::vector<std::string> usable_counters(const std::vector<std::string>& wanted);

class counter_group {
 public:
  counter_group() = default;
  ~counter_group() { close(); }
  counter_group(const counter_group&) = delete;
  counter_group& operator=(const counter_group&) = delete;

  // Opens these for the calling thread. Returns 0 or an errno; then none is open.
  int open(const std::vector<std::string>& names);
  void close() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return descriptors_.size(); }

  // Since the last call of either: from here on; and what was counted. Who: the thread that opened the group.
  // Cost: one system call.
  void begin() noexcept { read(from_); }
  struct values {
    std::uint64_t of[counters_max];
  };
  [[nodiscard]] values since() noexcept;
  // Whether the kernel ever let the whole group count.
  [[nodiscard]] bool scheduled() noexcept;

 private:
  struct reading {
    std::uint64_t count;
    std::uint64_t enabled_ns;
    std::uint64_t running_ns;
    std::uint64_t values[counters_max];
  };
  void read(reading& into) noexcept;

  std::vector<int> descriptors_;
  reading from_{};
};

}  // namespace weft::trace
