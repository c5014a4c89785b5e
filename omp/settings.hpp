// What OMP_... variables say, and the internal control variables (OpenMP 5.2, §2) that a task inherits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace weft::omp {

// Kinds of schedules as omp_sched_t numbers them; the compiler's calls use the same.
enum class schedule : std::uint8_t { run_time = 0, fixed = 1, dynamic = 2, guided = 3, automatic = 4 };

// A data environment's. Never changed once a task may see it: who sets one makes a copy (team::renewed).
struct controls {
  unsigned threads = 1;
  unsigned levels_max = 1;
  bool dynamic = false;
  schedule run_schedule = schedule::dynamic;
  bool monotonic = false;
  std::uint64_t run_chunk = 1;
};

// Of the process; read once, when the library comes.
struct settings {
  controls first;
  unsigned threads_by_level[8] = {};
  unsigned levels = 0;
  unsigned thread_limit = 0x7fffffff;
  unsigned teams_max = 0;
  unsigned teams_thread_limit = 0;
  int priority_max = 0;
  bool cancellation = false;
  bool spins = true;  // OMP_WAIT_POLICY is not passive
  int bind = 0;       // omp_proc_bind_t; what was asked, and is said again
  std::size_t stack_kib = 8192;
  unsigned cpus = 1;
};

[[gnu::cold]] const settings& read_settings() noexcept;
extern settings the_settings;
extern bool settings_are_read;
[[nodiscard]] inline const settings& set() noexcept { return settings_are_read ? the_settings : read_settings(); }
// Whether what was there when the process began asked for libgomp.
[[nodiscard]] bool is_needed() noexcept;
// To stderr, as OMP_DISPLAY_ENV asks.
void display_environment(bool verbose) noexcept;

// One line on stderr, "weft-omp: ...".
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;
// The same, and the program ends with status 1: what it asks for is not here, and to go on would be wrong.
[[noreturn, gnu::format(printf, 1, 2)]] void refuse(const char* format, ...) noexcept;

}  // namespace weft::omp
