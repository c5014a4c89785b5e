// omp_...: what a program asks and sets (OpenMP 5.2, §18), and host teams. Each also as Fortran calls it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "omp/abi.hpp"
#include "omp/team.hpp"

namespace weft::omp {

namespace {

constexpr unsigned levels_most = 255;  // of active regions in each other

[[nodiscard]] task& now() noexcept { return *here().now; }

// The region around the calling task at `level`, and the number of the thread in it that is an ancestor of the caller.
struct around {
  const team* of;
  unsigned number;
};
[[nodiscard]] around at_level(int level) noexcept {
  const thread& th = here();
  around a{th.now->of, th.number};
  if (level < 0 || static_cast<unsigned>(level) > a.of->level) return {nullptr, 0};
  while (a.of->level > static_cast<unsigned>(level)) a = {a.of->outer, a.of->outer_number};
  return a;
}

unsigned teams_wanted = 0, teams_thread_limit = 0;               // omp_set_num_teams, omp_set_teams_thread_limit
std::string affinity_format = "level %L thread %i affinity %A";  // NOLINT: kept as it was set

[[nodiscard]] double seconds() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void set_schedule(unsigned kind, int chunk) {
  const unsigned which = kind & 0x7fffffffU;
  if (which < 1 || which > 4) return;
  controls& c = own_controls(now());
  c.run_schedule = static_cast<schedule>(which);
  c.monotonic = (kind & schedule_monotonic) != 0;
  c.run_chunk = chunk > 0 ? static_cast<unsigned>(chunk) : which == 2 || which == 3 ? 1 : 0;
}

// The teams of a league, one after the other: each has all cores.
void league(function f, void* data, unsigned count, unsigned limit) noexcept {
  const unsigned n = count != 0 ? count : teams_wanted != 0 ? teams_wanted : set().teams_max != 0 ? set().teams_max : 1;
  thread& th = here();
  task& outer = *th.now;
  team& g = *outer.of;
  const controls* const before = outer.icv;
  controls inside = *before;
  const unsigned most = limit != 0 ? limit : teams_thread_limit;
  if (most != 0) {
    inside.threads = std::min(inside.threads, most);
    outer.icv = &inside;
  }
  g.league = n;
  for (unsigned i = 0; i < n; ++i) {
    g.league_number = i;
    f(data);
  }
  g.league = 1;
  g.league_number = 0;
  outer.icv = before;
}

// Environment variables are read, and shown if that is asked for, when the library comes.
[[gnu::constructor]] void begin() noexcept {
  if (!is_needed()) return;  // LD_PRELOAD goes to all children, also those that know nothing of OpenMP
  static_cast<void>(read_settings());
  const char* const shown = std::getenv("OMP_DISPLAY_ENV");
  if (shown == nullptr) return;
  const std::string text(shown);
  if (text == "true" || text == "TRUE" || text == "1") display_environment(false);
  if (text == "verbose" || text == "VERBOSE") display_environment(true);
}

}  // namespace

}  // namespace weft::omp

using namespace weft::omp;

// A question without an argument, one with a number, and one that sets a number.
#define WEFT_ASK(TYPE, NAME, ANSWER)                                                                                   \
  WEFT_OMP TYPE NAME() { return ANSWER; }                                                                              \
  WEFT_OMP TYPE NAME##_() { return NAME(); }
#define WEFT_ASK_OF(NAME, ANSWER)                                                                                      \
  WEFT_OMP int NAME(int x) { return ANSWER; }                                                                          \
  WEFT_OMP int NAME##_(const int* x) { return NAME(*x); }                                                              \
  WEFT_OMP int NAME##_8_(const long* x) { return NAME(static_cast<int>(*x)); }
#define WEFT_SET(NAME, ACTION)                                                                                         \
  WEFT_OMP void NAME(int x) { ACTION; }                                                                                \
  WEFT_OMP void NAME##_(const int* x) { NAME(*x); }                                                                    \
  WEFT_OMP void NAME##_8_(const long* x) { NAME(static_cast<int>(*x)); }

extern "C" {

WEFT_ASK(int, omp_get_thread_num, static_cast<int>(here().number))
WEFT_ASK(int, omp_get_num_threads, static_cast<int>(now().of->size))
WEFT_ASK(int, omp_get_max_threads, static_cast<int>(now().icv->threads))
WEFT_ASK(int, omp_get_num_procs, static_cast<int>(set().cpus))
WEFT_ASK(int, omp_in_parallel, now().of->active_level > 0 ? 1 : 0)
WEFT_ASK(int, omp_get_dynamic, now().icv->dynamic ? 1 : 0)
WEFT_ASK(int, omp_get_nested, now().icv->levels_max > 1 ? 1 : 0)
WEFT_ASK(int, omp_get_thread_limit, static_cast<int>(set().thread_limit))
WEFT_ASK(int, omp_get_max_active_levels, static_cast<int>(now().icv->levels_max))
WEFT_ASK(int, omp_get_supported_active_levels, static_cast<int>(levels_most))
WEFT_ASK(int, omp_get_level, static_cast<int>(now().of->level))
WEFT_ASK(int, omp_get_active_level, static_cast<int>(now().of->active_level))
WEFT_ASK(int, omp_in_final, now().is_final ? 1 : 0)
WEFT_ASK(int, omp_get_cancellation, set().cancellation ? 1 : 0)
WEFT_ASK(int, omp_get_proc_bind, set().bind)
WEFT_ASK(int, omp_get_max_task_priority, set().priority_max)
WEFT_ASK(double, omp_get_wtime, seconds())
WEFT_ASK(double, omp_get_wtick, 1e-9)
WEFT_ASK(int, omp_get_num_teams, static_cast<int>(now().of->league))
WEFT_ASK(int, omp_get_team_num, static_cast<int>(now().of->league_number))
WEFT_ASK(int, omp_get_max_teams, static_cast<int>(teams_wanted != 0 ? teams_wanted : set().teams_max))
WEFT_ASK(int, omp_get_teams_thread_limit,
         static_cast<int>(teams_thread_limit != 0 ? teams_thread_limit : set().teams_thread_limit))
// There are no places to ask for: Weft binds its workers itself.
WEFT_ASK(int, omp_get_num_places, 0)
WEFT_ASK(int, omp_get_place_num, -1)
WEFT_ASK(int, omp_get_partition_num_places, 0)
// There is no device but the host.
WEFT_ASK(int, omp_get_num_devices, 0)
WEFT_ASK(int, omp_get_default_device, 0)
WEFT_ASK(int, omp_get_initial_device, 0)
WEFT_ASK(int, omp_get_device_num, 0)
WEFT_ASK(int, omp_is_initial_device, 1)

WEFT_ASK_OF(omp_get_ancestor_thread_num, at_level(x).of != nullptr ? static_cast<int>(at_level(x).number) : -1)
WEFT_ASK_OF(omp_get_team_size, at_level(x).of != nullptr ? static_cast<int>(at_level(x).of->size) : -1)
WEFT_ASK_OF(omp_get_place_num_procs, (static_cast<void>(x), 0))
WEFT_ASK_OF(omp_pause_resource_all, x == 1 || x == 2 ? 0 : -1)  // nothing that could be given back is kept

WEFT_SET(omp_set_num_threads, if (x > 0) own_controls(now()).threads = static_cast<unsigned>(x))
WEFT_SET(omp_set_dynamic, own_controls(now()).dynamic = x != 0)
WEFT_SET(omp_set_nested, own_controls(now()).levels_max = x != 0 ? levels_most : 1U)
WEFT_SET(omp_set_max_active_levels,
         if (x >= 0) own_controls(now()).levels_max = std::min(static_cast<unsigned>(x), levels_most))
WEFT_SET(omp_set_default_device, static_cast<void>(x))
WEFT_SET(omp_set_num_teams, if (x >= 0) teams_wanted = static_cast<unsigned>(x))
WEFT_SET(omp_set_teams_thread_limit, if (x > 0) teams_thread_limit = static_cast<unsigned>(x))

WEFT_OMP int omp_pause_resource(int kind, int) { return omp_pause_resource_all(kind); }
WEFT_OMP void omp_get_place_proc_ids(int, int*) {}
WEFT_OMP void omp_get_partition_place_nums(int*) {}

WEFT_OMP void omp_set_schedule(unsigned kind, int chunk) { set_schedule(kind, chunk); }
WEFT_OMP void omp_set_schedule_(const unsigned* kind, const int* chunk) { set_schedule(*kind, *chunk); }
WEFT_OMP void omp_get_schedule(unsigned* kind, int* chunk) {
  const controls& c = *now().icv;
  *kind = static_cast<unsigned>(c.run_schedule) | (c.monotonic ? schedule_monotonic : 0);
  *chunk = static_cast<int>(c.run_chunk);
}
WEFT_OMP void omp_get_schedule_(unsigned* kind, int* chunk) { omp_get_schedule(kind, chunk); }

WEFT_OMP void omp_display_env(int verbose) { display_environment(verbose != 0); }
WEFT_OMP void omp_set_affinity_format(const char* format) { affinity_format = format; }
WEFT_OMP std::size_t omp_get_affinity_format(char* to, std::size_t size) {
  if (size != 0) std::snprintf(to, size, "%s", affinity_format.c_str());
  return affinity_format.size();
}
WEFT_OMP void omp_display_affinity(const char*) {
  std::printf("level %u thread %u affinity (Weft's)\n", now().of->level, here().number);
}
WEFT_OMP std::size_t omp_capture_affinity(char* to, std::size_t size, const char*) {
  const int n = std::snprintf(to, size, "level %u thread %u affinity (Weft's)", now().of->level, here().number);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

// Memory: every allocator is the system's.
WEFT_OMP void* omp_aligned_alloc(std::size_t align, std::size_t size, std::uintptr_t) {
  void* p = nullptr;
  if (size == 0 || posix_memalign(&p, std::max(align, sizeof(void*)), size) != 0) return nullptr;
  return p;
}
WEFT_OMP void* omp_alloc(std::size_t size, std::uintptr_t a) { return omp_aligned_alloc(16, size, a); }
WEFT_OMP void* omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t size, std::uintptr_t a) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, size, &all)) return nullptr;
  void* const p = omp_aligned_alloc(align, all, a);
  if (p != nullptr) std::memset(p, 0, all);
  return p;
}
WEFT_OMP void* omp_calloc(std::size_t count, std::size_t size, std::uintptr_t a) {
  return omp_aligned_calloc(16, count, size, a);
}
WEFT_OMP void* omp_realloc(void* p, std::size_t size, std::uintptr_t, std::uintptr_t) { return std::realloc(p, size); }
WEFT_OMP void omp_free(void* p, std::uintptr_t) { std::free(p); }
WEFT_OMP void* GOMP_alloc(std::size_t align, std::size_t size, std::uintptr_t a) {
  return omp_aligned_alloc(align, size, a);
}
WEFT_OMP void GOMP_free(void* p, std::uintptr_t) { std::free(p); }
WEFT_OMP std::uintptr_t omp_init_allocator(std::uintptr_t, int, const void*) { return 1; }
WEFT_OMP void omp_destroy_allocator(std::uintptr_t) {}
WEFT_OMP void omp_set_default_allocator(std::uintptr_t) {}
WEFT_OMP std::uintptr_t omp_get_default_allocator() { return 1; }

WEFT_OMP void GOMP_teams_reg(function f, void* data, unsigned count, unsigned limit, unsigned) {
  league(f, data, count, limit);
}

WEFT_OMP void GOMP_warning(const char* text, std::size_t size) {
  if (text == nullptr) return say("error directive encountered");
  size == ~std::size_t{0} ? say("error directive encountered: %s", text)
                          : say("error directive encountered: %.*s", static_cast<int>(size), text);
}
WEFT_OMP void GOMP_error(const char* text, std::size_t size) {
  GOMP_warning(text, size);
  std::exit(1);
}
}
