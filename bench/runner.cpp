// The main program of every system:
//   SYSTEM PROBLEM [--workers N] [--policy NAME] [--milliseconds T] [--passes N] [--tasks N]
// takes one sample and prints it as one line of JSON; exit status 0, also if the result is wrong, which the line says;
// 3 if the system cannot be had with these settings on this machine, and stderr says why; 2 for all else.
//   --check
// runs each of its systems on every problem in small; exit status 1 if a result is wrong.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include "system.hpp"

namespace weft::bench {

namespace {

struct request {
  std::string system;
  std::string problem;
  settings how;
  effort spend;
  std::uint64_t tasks_max = UINT64_MAX;
};

// The kernel shares the cores among sessions, not among processes, where autogroups are on: then niceness counts only
// for a session as a whole. The tool gives each sample a session of its own; nothing is lost if the right is missing.
bool ask_for_priority() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // in a session of its own a program does not hear an interrupt at the terminal
  if (getsid(0) != getpid()) return false;
  std::FILE* const group = std::fopen("/proc/self/autogroup", "w");
  if (group == nullptr) return false;
  const bool written = std::fputs("-20", group) >= 0;
  return std::fclose(group) == 0 && written;
}

double number(const char* option, const char* text) {
  char* end = nullptr;
  const double n = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(n > 0)) throw std::runtime_error(std::string(option) + ": no number: " + text);
  return n;
}

request parse(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0) throw std::runtime_error("usage: SYSTEM PROBLEM [--option VALUE]...");
  request r{argv[1], argv[2], {}, {}};
  for (int i = 3; i < argc; i += 2) {
    const std::string option = argv[i];
    const char* const text = argv[i + 1];
    if (option == "--policy")
      r.how.policy = text;
    else if (option == "--workers")
      r.how.workers = static_cast<unsigned>(number("--workers", text));
    else if (option == "--milliseconds")
      r.spend.milliseconds = number("--milliseconds", text);
    else if (option == "--passes")
      r.spend.passes = static_cast<std::uint32_t>(number("--passes", text));
    else if (option == "--tasks")
      r.tasks_max = static_cast<std::uint64_t>(number("--tasks", text));
    else
      throw std::runtime_error("unknown option " + option);
  }
  return r;
}

const problem& find_problem(const std::string& name) {
  for (const problem& one : all_problems())
    if (one.name == name) return one;
  throw std::runtime_error("unknown problem " + name);
}

const system_entry& find_system(const std::vector<system_entry>& all, const std::string& name, const problem& p) {
  for (const system_entry& one : all)
    if (one.name == name && one.offers == family_of(p)) return one;
  throw std::runtime_error("no system " + name + " for " + p.name);
}

const char* truth(bool b) { return b ? "true" : "false"; }

void run(const request& r, bool priority) {
  const std::vector<system_entry> systems = systems_here();
  const problem& whole = find_problem(r.problem);
  const system_entry& s = find_system(systems, r.system, whole);
  const remark said = s.remarks(whole, r.how.workers);
  const problem p = shortened(whole, std::min(said.tasks_max, r.tasks_max));
  const sample got = s.measure(p, r.how, r.spend);
  std::printf("{\"system\": \"%s\", \"version\": \"%s\", \"problem\": \"%s\", \"workers\": %u, \"value\": %.6g, "
              "\"above\": %s, \"counts_right\": %s, \"order_right\": %s, \"tasks\": %llu, \"priority\": %s, "
              "\"comparable\": %s, "
              "\"remark\": \"%s\"}\n",
              s.name.c_str(), s.version.c_str(), p.name, r.how.workers, got.ns, truth(got.above),
              truth(got.counts_right), truth(got.order_right), static_cast<unsigned long long>(tasks_per_pass(p)),
              truth(priority), truth(said.comparable), said.text.c_str());
}

int check() {
  int wrong = 0;
  const unsigned cores = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
  for (const system_entry& s : systems_here()) {
    for (const problem& whole : all_problems()) {
      if (whole.measures == metric::access || whole.measures == metric::grain)
        continue;  // made of the others, and long
      if (s.offers != family_of(whole)) continue;
      const problem p = shortened(whole, 500);
      for (unsigned workers = 1; workers <= std::min(cores, 4U); ++workers) {
        const sample got = s.measure(p, {.workers = workers}, {.passes = 1});
        const bool right = got.counts_right && got.order_right;
        std::printf("%s %s, %u workers: %s\n", s.name.c_str(), p.name, workers, right ? "right" : "WRONG");
        wrong += right ? 0 : 1;
      }
    }
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

}  // namespace weft::bench

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "--check") == 0) return weft::bench::check();
    const bool priority = weft::bench::ask_for_priority();
    weft::bench::run(weft::bench::parse(argc, argv), priority);
    return std::fflush(stdout) == 0 ? 0 : 2;
  } catch (const weft::bench::not_possible& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
