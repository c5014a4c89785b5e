// Random tests by seed, and how much of them. Each seed is a run of its own; when one fails, the line that replays just
// that one is printed.
#pragma once
#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "quick.hpp"
#include "sanitized.hpp"
#include "weft/runtime.hpp"

// A scheduler's favourite failure is to hang, and then nobody prints anything. While this lives, a hang of more than
// `seconds` prints `line` and ends the process. One at a time.
class deadline {
 public:
  explicit deadline(const std::string& line, unsigned seconds = sanitized ? 600 : 300) {
    text() = "hangs; replay: " + line + "\n";
    std::signal(SIGALRM, [](int) {
      static_cast<void>(!::write(STDERR_FILENO, text().data(), text().size()));
      ::_exit(1);
    });
    ::alarm(seconds);
  }
  ~deadline() { ::alarm(0); }
  deadline(const deadline&) = delete;
  deadline& operator=(const deadline&) = delete;

 private:
  static std::string& text() {
    static std::string line;
    return line;
  }
};

// Calls run(seed), which gives what is wrong or "", for seeds first .. first + count - 1, of which `quick` has a tenth;
// with WEFT_TEST_SEED=n in the environment for n alone. `test_case`: a filter that finds the case.
template <class Run> void for_each_seed(const char* test_case, std::uint64_t first, std::uint64_t count, Run run) {
  count = few(count);
  if (const char* only = std::getenv("WEFT_TEST_SEED")) {
    first = std::strtoull(only, nullptr, 10);
    count = 1;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string line = "WEFT_TEST_SEED=" + std::to_string(seed) + " build/dev/" + program_invocation_short_name +
                             " -tc=\"" + test_case + "\"";
    const deadline limit(line);
    const std::string wrong = run(seed);
    if (!wrong.empty()) FAIL("replay: " << line << "\n" << wrong);
  }
}

// Calls check(options) for both machines and the numbers of workers at which behaviour may differ, also with a creator.
// The virtual machine also in random order.
template <class Check> void on_both_machines(Check check) {
  for (const char* machine : both_machines)
    for (const char* schedule : {"time", "random"})
      for (int at = 0; at < 5; ++at) {
        if (machine[0] == 'h' && schedule[0] == 'r') continue;
        const unsigned workers = at == 0 ? 1 : at % 2 == 1 ? 2 : 4;
        const char* creation = at < 3 ? "inline" : "decoupled";
        const std::string line = "WEFT_MACHINE=" + std::string(machine) + " WEFT_WORKERS=" + std::to_string(workers) +
                                 " WEFT_SCHEDULE=" + schedule + " WEFT_CREATION=" + creation;
        INFO(line);
        const deadline limit("the test case with " + line);
        check(weft::options{
            .workers = workers, .machine = machine, .model = {.schedule = schedule}, .creation = creation});
      }
}
