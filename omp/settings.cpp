#include "omp/settings.hpp"

#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "weft/weft.hpp"

namespace weft::omp {

namespace {

void write_line(const char* format, std::va_list rest) noexcept {
  char text[1024];
  const int head = std::snprintf(text, sizeof text, "weft-omp: ");
  std::vsnprintf(text + head, sizeof text - static_cast<std::size_t>(head) - 1, format, rest);
  std::strcat(text, "\n");
  std::fputs(text, stderr);
}

// A value that cannot be meant is said, and counts as not there.
void ignored(const char* name, const char* value) noexcept {
  say("%s=%s means nothing here and is ignored", name, value);
}

[[nodiscard]] const char* value_of(const char* name) noexcept {
  const char* text = std::getenv(name);
  while (text != nullptr && std::isspace(static_cast<unsigned char>(*text)) != 0) ++text;
  return text != nullptr && *text != '\0' ? text : nullptr;
}

// A number from least to most at `at`, which moves behind it and behind blanks.
[[nodiscard]] bool number(const char*& at, std::uint64_t least, std::uint64_t most, std::uint64_t& out) noexcept {
  char* end = nullptr;
  errno = 0;
  const char* from = at;
  while (std::isspace(static_cast<unsigned char>(*from)) != 0) ++from;
  if (std::isdigit(static_cast<unsigned char>(*from)) == 0) return false;
  const unsigned long long x = std::strtoull(from, &end, 10);
  if (errno != 0 || x < least || x > most) return false;
  while (std::isspace(static_cast<unsigned char>(*end)) != 0) ++end;
  at = end;
  out = x;
  return true;
}

template <class T> void read_number(const char* name, std::uint64_t least, std::uint64_t most, T& to) noexcept {
  const char* const text = value_of(name);
  if (text == nullptr) return;
  const char* at = text;
  std::uint64_t x = 0;
  if (!number(at, least, most, x) || *at != '\0') return ignored(name, text);
  to = static_cast<T>(x);
}

[[nodiscard]] bool is_word(const char* text, const char* word) noexcept {
  const std::size_t n = std::strlen(word);
  return strncasecmp(text, word, n) == 0 && (text[n] == '\0' || std::isspace(static_cast<unsigned char>(text[n])) != 0);
}

void read_truth(const char* name, bool& to) noexcept {
  const char* const text = value_of(name);
  if (text == nullptr) return;
  if (is_word(text, "true") || is_word(text, "1"))
    to = true;
  else if (is_word(text, "false") || is_word(text, "0"))
    to = false;
  else
    ignored(name, text);
}

constexpr unsigned threads_most = 1024;  // as weft::options::workers

void read_threads(settings& s) noexcept {
  s.first.threads = s.threads_by_level[0] = s.cpus;
  s.levels = 1;
  const char* const text = value_of("OMP_NUM_THREADS");
  if (text == nullptr) return;
  unsigned found = 0;
  unsigned list[8] = {};
  for (const char* at = text;; ++at) {
    std::uint64_t x = 0;
    if (!number(at, 1, threads_most, x) || (*at != ',' && *at != '\0')) return ignored("OMP_NUM_THREADS", text);
    if (found < 8) list[found++] = static_cast<unsigned>(x);
    if (*at == '\0') break;
  }
  std::copy(list, list + 8, s.threads_by_level);
  s.levels = found;
  s.first.threads = list[0];
}

void read_schedule(settings& s) noexcept {
  const char* const text = value_of("OMP_SCHEDULE");
  if (text == nullptr) return;
  const char* at = text;
  bool monotonic = false;
  if (strncasecmp(at, "monotonic:", 10) == 0) {
    monotonic = true;
    at += 10;
  } else if (strncasecmp(at, "nonmonotonic:", 13) == 0) {
    at += 13;
  }
  static constexpr struct {
    const char* word;
    schedule kind;
  } kinds[] = {{"static", schedule::fixed},
               {"dynamic", schedule::dynamic},
               {"guided", schedule::guided},
               {"auto", schedule::automatic}};
  for (const auto& k : kinds) {
    const std::size_t n = std::strlen(k.word);
    if (strncasecmp(at, k.word, n) != 0 || std::isalpha(static_cast<unsigned char>(at[n])) != 0) continue;
    at += n;
    std::uint64_t chunk = k.kind == schedule::fixed || k.kind == schedule::automatic ? 0 : 1;
    if (*at == ',' && !number(++at, 1, 0x7fffffff, chunk)) break;
    if (*at != '\0') break;
    s.first.run_schedule = k.kind;
    s.first.run_chunk = chunk;
    s.first.monotonic = monotonic || k.kind == schedule::fixed;
    return;
  }
  ignored("OMP_SCHEDULE", text);
}

void read_stack(settings& s) noexcept {
  rlimit mine{};
  if (getrlimit(RLIMIT_STACK, &mine) == 0 && mine.rlim_cur != RLIM_INFINITY)
    s.stack_kib = std::clamp<std::size_t>(mine.rlim_cur / 1024, 64, 1U << 22);
  const char* const text = value_of("OMP_STACKSIZE");
  if (text == nullptr) return;
  const char* at = text;
  std::uint64_t x = 0;
  if (!number(at, 1, 1ULL << 42, x)) return ignored("OMP_STACKSIZE", text);
  const char unit = static_cast<char>(std::toupper(static_cast<unsigned char>(*at)));
  const std::uint64_t bytes = unit == 'B' ? x : unit == 'M' ? x << 20 : unit == 'G' ? x << 30 : x << 10;
  if (unit != '\0' && std::strchr("BKMG", unit) == nullptr) return ignored("OMP_STACKSIZE", text);
  s.stack_kib = std::clamp<std::uint64_t>(bytes / 1024, 64, 1U << 22);
}

void read_policies(settings& s) noexcept {
  if (const char* text = value_of("OMP_WAIT_POLICY")) {
    if (is_word(text, "passive"))
      s.spins = false;
    else if (!is_word(text, "active"))
      ignored("OMP_WAIT_POLICY", text);
  }
  if (const char* text = value_of("OMP_PROC_BIND")) {
    static constexpr const char* kinds[] = {"false", "true", "master", "close", "spread"};
    for (int i = 0; i < 5; ++i)
      if (strncasecmp(text, kinds[i], std::strlen(kinds[i])) == 0) s.bind = i;
    if (strncasecmp(text, "primary", 7) == 0) s.bind = 2;
  }
}

[[nodiscard]] settings read_all() noexcept {
  const char* const machine = value_of("WEFT_MACHINE");
  if (machine != nullptr && !is_word(machine, "host"))
    refuse("WEFT_MACHINE=%s: OpenMP programs run on real cores only; on a modelled machine all threads would share one "
           "thread's threadprivate and thread_local variables",
           machine);
  settings s;
  s.cpus = usable_cpus();
  read_threads(s);
  read_schedule(s);
  read_stack(s);
  read_policies(s);
  read_truth("OMP_DYNAMIC", s.first.dynamic);
  read_truth("OMP_CANCELLATION", s.cancellation);
  bool nested = s.levels > 1;
  read_truth("OMP_NESTED", nested);
  constexpr unsigned levels_most = 255;  // as omp_get_supported_active_levels()
  s.first.levels_max = nested ? levels_most : 1;
  read_number("OMP_MAX_ACTIVE_LEVELS", 0, 0x7fffffff, s.first.levels_max);
  s.first.levels_max = std::min(s.first.levels_max, levels_most);
  read_number("OMP_THREAD_LIMIT", 1, 0x7fffffff, s.thread_limit);
  read_number("OMP_NUM_TEAMS", 1, 0x7fffffff, s.teams_max);
  read_number("OMP_TEAMS_THREAD_LIMIT", 1, 0x7fffffff, s.teams_thread_limit);
  read_number("OMP_MAX_TASK_PRIORITY", 0, 0x7fffffff, s.priority_max);
  return s;
}

}  // namespace

void say(const char* format, ...) noexcept {
  std::va_list rest;
  va_start(rest, format);
  write_line(format, rest);
  va_end(rest);
}

void refuse(const char* format, ...) noexcept {
  std::va_list rest;
  va_start(rest, format);
  write_line(format, rest);
  va_end(rest);
  std::fflush(stdout);
  _exit(1);
}

constinit settings the_settings;
constinit bool settings_are_read = false;
const settings& read_settings() noexcept {
  the_settings = read_all();
  settings_are_read = true;
  return the_settings;
}

void display_environment(bool verbose) noexcept {
  const settings& s = set();
  static constexpr const char* kinds[] = {"STATIC", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
  static constexpr const char* binds[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
  std::string threads;
  for (unsigned i = 0; i < s.levels; ++i) threads += (i != 0 ? "," : "") + std::to_string(s.threads_by_level[i]);
  const auto line = [](const char* name, const std::string& value) {
    std::fprintf(stderr, "  [host] %s = '%s'\n", name, value.c_str());
  };
  const auto truth = [](bool b) { return std::string(b ? "TRUE" : "FALSE"); };
  std::fprintf(stderr, "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n");
  line("OMP_DYNAMIC", truth(s.first.dynamic));
  line("OMP_NESTED", truth(s.first.levels_max > 1));
  line("OMP_NUM_THREADS", threads);
  line("OMP_SCHEDULE", kinds[static_cast<int>(s.first.run_schedule)] +
                           (s.first.run_chunk > 1 ? "," + std::to_string(s.first.run_chunk) : std::string()));
  line("OMP_PROC_BIND", binds[s.bind]);
  line("OMP_PLACES", "");
  line("OMP_STACKSIZE", std::to_string(s.stack_kib) + "K");
  line("OMP_WAIT_POLICY", s.spins ? "ACTIVE" : "PASSIVE");
  line("OMP_THREAD_LIMIT", std::to_string(s.thread_limit));
  line("OMP_MAX_ACTIVE_LEVELS", std::to_string(s.first.levels_max));
  line("OMP_NUM_TEAMS", std::to_string(s.teams_max));
  line("OMP_TEAMS_THREAD_LIMIT", std::to_string(s.teams_thread_limit));
  line("OMP_CANCELLATION", truth(s.cancellation));
  line("OMP_MAX_TASK_PRIORITY", std::to_string(s.priority_max));
  if (verbose) line("WEFT_VERSION", version());
  std::fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT END\n");
}

}  // namespace weft::omp
