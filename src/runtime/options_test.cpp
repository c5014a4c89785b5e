// Options: the argument wins over the environment, the environment over the default; and every value that cannot be
// meant is refused in words that say what can.
#include "runtime/options.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/limits.hpp"
#include "capture.hpp"

namespace weft {
namespace {

constexpr const char* variables[] = {
    "WEFT_WORKERS",   "WEFT_SEED",   "WEFT_WINDOW",     "WEFT_STACK_KIB", "WEFT_MACHINE",  "WEFT_POLICY",
    "WEFT_SCHEDULE",  "WEFT_PIN",    "WEFT_TRACE",      "WEFT_TRACE_MIB", "WEFT_COUNTERS", "WEFT_PAUSED",
    "WEFT_MODE",      "WEFT_BODY",   "WEFT_BODY_SCALE", "WEFT_CORE",      "WEFT_CREATION", "WEFT_CREATOR",
    "WEFT_SEARCH_US", "WEFT_CHANGE", "WEFT_RULES",      "WEFT_TOP"};

// An environment with these variables of ours and no others; what was there comes back in the end.
class environment {
 public:
  explicit environment(const std::map<std::string, std::string>& set = {}) {
    for (const char* name : variables) {
      const char* text = std::getenv(name);
      before_[name] = text == nullptr ? std::nullopt : std::optional<std::string>(text);
      unsetenv(name);
    }
    for (const auto& [name, text] : set) setenv(name.c_str(), text.c_str(), 1);
  }
  ~environment() {
    for (const auto& [name, text] : before_) text ? setenv(name.c_str(), text->c_str(), 1) : unsetenv(name.c_str());
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

std::string refusal(const options& asked, const std::map<std::string, std::string>& set = {}) {
  const environment e(set);
  try {
    static_cast<void>(complete(asked));
  } catch (const error& refused) {
    return refused.what();
  }
  return "accepted";
}

std::string text(const char* t) { return t; }

bool mentions(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (text.find(part) == std::string::npos) return false;
  return true;
}

const std::string workers_message = "' cannot be; it must be a number from 1 to 1024";

}  // namespace

TEST_CASE("options: the defaults") {
  const environment none;
  const options o = complete({});
  CHECK(o.workers == usable_cpus());
  CHECK(text(o.machine) == "host");
  CHECK(text(o.policy) == "local");
  CHECK(text(o.model.schedule) == "time");
  CHECK(o.seed == 1);
  CHECK(o.window == std::size_t{1} << 20);
  CHECK(o.stack_kib == 1024);
  CHECK(o.pin);
  CHECK(!o.paused);
  CHECK(complete({.machine = "virtual"}).workers == 1);  // the same on every machine it runs on
}

TEST_CASE("options: the environment wins over the default") {
  const environment e({{"WEFT_WORKERS", "7"},
                       {"WEFT_SEED", "18446744073709551615"},
                       {"WEFT_WINDOW", "64"},
                       {"WEFT_STACK_KIB", "64"},
                       {"WEFT_MACHINE", "virtual"},
                       {"WEFT_POLICY", "central"},
                       {"WEFT_SCHEDULE", "random"},
                       {"WEFT_PIN", "0"},
                       {"WEFT_PAUSED", "1"}});
  const options o = complete({});
  CHECK(o.workers == 7);
  CHECK(o.seed == ~std::uint64_t{0});
  CHECK(o.window == 64);
  CHECK(o.stack_kib == 64);
  CHECK(text(o.machine) == "virtual");
  CHECK(text(o.policy) == "central");
  CHECK(text(o.model.schedule) == "random");
  CHECK(!o.pin);
  CHECK(o.paused);
}

TEST_CASE("options: the argument wins over the environment") {
  const environment e({{"WEFT_WORKERS", "7"},
                       {"WEFT_SEED", "8"},
                       {"WEFT_WINDOW", "900"},
                       {"WEFT_STACK_KIB", "900"},
                       {"WEFT_MACHINE", "host"},
                       {"WEFT_POLICY", "central"},
                       {"WEFT_SCHEDULE", "time"},
                       {"WEFT_PIN", "1"},
                       {"WEFT_PAUSED", "0"}});
  const options o = complete({.workers = 3,
                              .machine = "virtual",
                              .policy = "random",
                              .seed = 5,
                              .model = {.schedule = "random"},
                              .window = 100,
                              .stack_kib = 200,
                              .paused = true,
                              .pin = false});
  CHECK(o.workers == 3);
  CHECK(o.seed == 5);
  CHECK(o.window == 100);
  CHECK(o.stack_kib == 200);
  CHECK(text(o.machine) == "virtual");
  CHECK(text(o.policy) == "random");
  CHECK(text(o.model.schedule) == "random");
  CHECK(!o.pin);
  CHECK(o.paused);
}

TEST_CASE("options: an argument also hides a variable that could not be meant") {
  CHECK(refusal({.workers = 2}, {{"WEFT_WORKERS", "many"}}) == "accepted");
  CHECK(refusal({.machine = "virtual"}, {{"WEFT_MACHINE", "cray"}}) == "accepted");
  CHECK(refusal({.pin = false}, {{"WEFT_PIN", "perhaps"}}) == "accepted");
  CHECK(refusal({.paused = true}, {{"WEFT_PAUSED", "perhaps"}}) == "accepted");
}

TEST_CASE("options: an empty variable is as good as none") {
  std::map<std::string, std::string> empty;
  for (const char* name : variables) empty[name] = "";
  CHECK(refusal({}, empty) == "accepted");
  const environment e(empty);
  CHECK(text(complete({}).machine) == "host");
  CHECK(complete({}).workers == usable_cpus());
}

TEST_CASE("options: limits are inside") {
  CHECK(refusal({.workers = 1024}) == "accepted");
  CHECK(refusal({.window = 64}) == "accepted");
  CHECK(refusal({.stack_kib = 64}) == "accepted");
  CHECK(refusal({.window = std::size_t{1} << 40}) == "accepted");
  CHECK(refusal({.stack_kib = std::size_t{1} << 22}) == "accepted");
  CHECK(refusal({.seed = ~std::uint64_t{0}}) == "accepted");
}

TEST_CASE("options: a number of workers that cannot be") {
  CHECK(refusal({.workers = 1025}) == "weft: option workers = '1025" + workers_message);
  CHECK(refusal({}, {{"WEFT_WORKERS", "1025"}}) == "weft: WEFT_WORKERS = '1025" + workers_message);
  for (const char* bad : {"0", "-1", "eight", "8x", "8 ", " 8", "0x8", "1.5", "99999999999999999999"})
    CHECK(refusal({}, {{"WEFT_WORKERS", bad}}) == "weft: WEFT_WORKERS = '" + text(bad) + workers_message);
}

TEST_CASE("options: other numbers that cannot be") {
  const std::string window_message = "' cannot be; it must be a number of tasks from 64 to 1099511627776";
  for (const std::size_t tasks : {std::size_t{0}, std::size_t{63}, (std::size_t{1} << 40) + 1, ~std::size_t{0}}) {
    CHECK(refusal({.window = tasks}) == "weft: option window = '" + std::to_string(tasks) + window_message);
    CHECK(refusal({}, {{"WEFT_WINDOW", std::to_string(tasks)}}) ==
          "weft: WEFT_WINDOW = '" + std::to_string(tasks) + window_message);
  }
  CHECK(refusal({}, {{"WEFT_WINDOW", "1M"}}) == "weft: WEFT_WINDOW = '1M" + window_message);
  CHECK(refusal({}, {{"WEFT_SEED", "0"}}) == "weft: WEFT_SEED = '0' cannot be; it must be a number above 0");
  CHECK(refusal({.seed = 0}) == "weft: option seed = '0' cannot be; it must be a number above 0");
  CHECK(refusal({}, {{"WEFT_SEED", "18446744073709551616"}}) ==
        "weft: WEFT_SEED = '18446744073709551616' cannot be; it must be a number above 0");
  const std::string stack_message = "' cannot be; it must be a number of KiB from 64 to 4194304";
  for (const std::size_t kib : {std::size_t{63}, (std::size_t{1} << 22) + 1})
    CHECK(refusal({.stack_kib = kib}) == "weft: option stack_kib = '" + std::to_string(kib) + stack_message);
  CHECK(refusal({}, {{"WEFT_STACK_KIB", "big"}}) == "weft: WEFT_STACK_KIB = 'big" + stack_message);
}

TEST_CASE("options: a machine of a file has as many workers as cores, or fewer") {
  const environment none;
  CHECK(complete({.machine = "epyc-7551-32"}).workers == 32);
  CHECK(text(complete({.machine = "epyc-7551-32"}).machine) == "epyc-7551-32");
  CHECK(complete({.workers = 32, .machine = "epyc-7551-32"}).workers == 32);
  CHECK(complete({.workers = 1, .machine = "epyc-7551-32"}).workers == 1);
  CHECK(complete({.machine = "tasksim-512-biglittle-rtopt"}).workers == 512);  // the last core is for creating
  CHECK(complete({.machine = "tasksim-512-biglittle-rtopt", .creation = "decoupled"}).workers == 513);
  CHECK(complete({.workers = 513, .machine = "tasksim-512-biglittle-rtopt"}).workers == 513);  // as asked, and said
  CHECK(complete({.workers = 1024, .machine = "virtual"}).workers == 1024);
  CHECK(refusal({.workers = 33, .machine = "epyc-7551-32"}) ==
        "weft: option workers = '33' cannot be; it must be a number from 1 to 32, the cores of machine epyc-7551-32");
  CHECK(refusal({}, {{"WEFT_MACHINE", "i7-2600k-4"}, {"WEFT_WORKERS", "5"}}) ==
        "weft: WEFT_WORKERS = '5' cannot be; it must be a number from 1 to 4, the cores of machine i7-2600k-4");
  CHECK(refusal({.machine = "no/such.toml"}) == "weft: no/such.toml: it cannot be read: No such file or directory");
  CHECK(refusal({.machine = "machines"}).starts_with("weft: there is no machine 'machines'"));
}

TEST_CASE("options: the name of a machine outlives what it was given in") {
  const environment none;
  std::string name = "i7-2600k-4";
  const options o = complete({.machine = name.c_str()});
  name = "something else altogether";
  CHECK(text(o.machine) == "i7-2600k-4");
}

TEST_CASE("options: names that cannot be") {
  CHECK(refusal({.machine = "cray"}) == "weft: there is no machine 'cray'; `weft info` lists them");
  CHECK(refusal({.machine = "epic-7551"}) ==
        "weft: there is no machine 'epic-7551'; did you mean epyc-7551-32? `weft info` lists them");
  CHECK(refusal({}, {{"WEFT_MACHINE", "Host"}}) ==
        "weft: WEFT_MACHINE = 'Host': there is no machine 'Host'; did you mean host? `weft info` lists them");
  CHECK(refusal({.machine = "virtual", .model = {.schedule = "fifo"}}) ==
        "weft: option model.schedule = 'fifo' cannot be; it must be time, random, pct, pct:DEPTH:EVENTS, tasks, "
        "tasks:DEPTH:CHOICES (DEPTH from 0 to 1000, the other above 0) or order:FILE");
  CHECK(refusal({.machine = "host", .model = {.schedule = "random"}}) ==
        "weft: option model.schedule = 'random' cannot be; it must be time on machine host");
  CHECK(refusal({}, {{"WEFT_SCHEDULE", "random"}}) ==
        "weft: WEFT_SCHEDULE = 'random' cannot be; it must be time on machine host");
  CHECK(refusal({.policy = "greedy"}) == "weft: there is no policy 'greedy'; choose one of: local, random, work_first, "
                                         "central, near, pufferfish, hpt, shepherd, tao, "
                                         "push_input, push_output, push_weighted, push_random, superglue, taskgenx");
  CHECK(refusal({}, {{"WEFT_POLICY", "greedy"}}) ==
        "weft: WEFT_POLICY = 'greedy': there is no policy 'greedy'; choose "
        "one of: local, random, work_first, central, near, pufferfish, hpt, shepherd, tao, "
        "push_input, push_output, push_weighted, push_random, superglue, taskgenx");
  for (const char* bad : {"2", "yes", "01", "true"})
    for (const std::string flag : {"WEFT_PIN", "WEFT_PAUSED"})
      CHECK(refusal({}, {{flag, bad}}) == "weft: " + flag + " = '" + bad + "' cannot be; it must be 0 or 1");
}

TEST_CASE("options: a trace, its memory and its counters") {
  {
    const environment none;
    CHECK(complete({}).trace == nullptr);
    CHECK(complete({}).trace_mib == 1024);
    CHECK(complete({}).counters == nullptr);
  }
  const environment e({{"WEFT_TRACE", "a.weft"}, {"WEFT_TRACE_MIB", "7"}, {"WEFT_COUNTERS", "cycles,page-faults"}});
  CHECK(text(complete({}).trace) == "a.weft");
  CHECK(complete({}).trace_mib == 7);
  CHECK(text(complete({}).counters) == "cycles,page-faults");
  const options o = complete({.trace = "b.weft", .trace_mib = 9, .counters = "cycles"});
  CHECK(text(o.trace) == "b.weft");
  CHECK(o.trace_mib == 9);
  CHECK(text(o.counters) == "cycles");
  CHECK(refusal({.trace_mib = 0})
            .starts_with("weft: option trace_mib = '0' cannot be; it must be a number of MiB, from 1"));
  CHECK(refusal({}, {{"WEFT_TRACE_MIB", "1G"}}).starts_with("weft: WEFT_TRACE_MIB = '1G' cannot be;"));
  CHECK(refusal({}, {{"WEFT_COUNTERS", "cycles"}})
            .starts_with("weft: WEFT_COUNTERS = 'cycles' cannot be; it must be given"));
}

TEST_CASE("options: rules, from the argument or the environment, as they differ from what is usual") {
  const environment none;
  CHECK(text(complete({}).rules) == "");
  CHECK(text(complete({.rules = "sweep=16,tiny=off,waited=64"}).rules) == "tiny=off,sweep=16");
  CHECK(refusal({.rules = "tinny=off"}) ==
        "weft: there is no rule 'tinny'; did you mean tiny? `weft info --rules` lists them");
  CHECK(refusal({.rules = "sweep=0"}) ==
        "weft: rule sweep = '0' cannot be; it must be off, or a number from 1 to 1024 (victims)");
  CHECK(refusal({}, {{"WEFT_RULES", "sweeps=4"}}) ==
        "weft: WEFT_RULES = 'sweeps=4': there is no rule 'sweeps'; did you mean sweep? `weft info --rules` lists them");
  const environment e(std::map<std::string, std::string>{{"WEFT_RULES", "together=off"}});
  CHECK(text(complete({}).rules) == "together=off");
  CHECK(text(complete({.rules = "many=off"}).rules) == "many=off");
  const runtime rt({.workers = 2, .machine = "virtual"});
  CHECK(text(rt.rules()) == "together=off");
}

TEST_CASE("options: top is for real cores") {
  const environment e(std::map<std::string, std::string>{{"WEFT_TOP", "1"}});
  CHECK(complete({}).top);
  CHECK(refusal({.top = true}, {{"WEFT_MACHINE", "virtual"}}) ==
        "weft: option top = '1' cannot be; it must be unset on a modelled machine");
  CHECK(refusal({}, {{"WEFT_TOP", "yes"}}) == "weft: WEFT_TOP = 'yes' cannot be; it must be 0 or 1");
}

TEST_CASE("options: a refused runtime leaves nothing behind") {
  const environment none;
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(runtime({.policy = "greedy"}), error);
  CHECK(worker_id() == -1);
  runtime good({.workers = 2, .machine = "virtual"});
  int ran = 0;
  good.submit([&ran] { ++ran; });
  good.wait();
  CHECK(ran == 1);
}

TEST_CASE("options: creation") {
  const environment none;
  CHECK(text(complete({}).creation) == "inline");
  CHECK(refusal({.workers = 3, .creation = "decoupled"}, {}) == "accepted");
  CHECK(refusal({.workers = 3, .creation = "decoupled", .creator = 2}, {}) == "accepted");
  CHECK(refusal({}, {{"WEFT_WORKERS", "3"}, {"WEFT_CREATION", "decoupled"}, {"WEFT_CREATOR", "1"}}) == "accepted");
  CHECK(mentions(refusal({.creation = "outsourced"}, {}), {"creation", "outsourced", "inline or decoupled"}));
  CHECK(mentions(refusal({.workers = 1, .creation = "decoupled"}, {}), {"creation", "at least 2 workers"}));
  CHECK(
      mentions(refusal({.workers = 3, .creation = "decoupled", .creator = 3}, {}), {"creator", "'3'", "from 1 to 2"}));
  CHECK(mentions(refusal({.workers = 3, .creator = 1}, {}), {"creator", "unless creation is decoupled"}));
  CHECK(
      mentions(refusal({.workers = 3, .creation = "decoupled"}, {{"WEFT_CREATOR", "0"}}), {"WEFT_CREATOR", "above 0"}));
}

TEST_CASE("options: how long a worker without work searches") {
  {
    const environment none;
    CHECK(complete({}).search_us == 25);
    CHECK(complete({.search_us = 0}).search_us == 0);
    CHECK(complete({.search_us = 1'000'000}).search_us == 1'000'000);
  }
  const environment e(std::map<std::string, std::string>{{"WEFT_SEARCH_US", "0"}});
  CHECK(complete({}).search_us == 0);
  CHECK(complete({.search_us = 7}).search_us == 7);
  const std::string message = "' cannot be; it must be a number of microseconds from 0 to 1000000";
  CHECK(refusal({.search_us = 1'000'001}) == "weft: option search_us = '1000001" + message);
  for (const char* bad : {"1000001", "-1", "25us", "99999999999"})
    CHECK(refusal({}, {{"WEFT_SEARCH_US", bad}}) == "weft: WEFT_SEARCH_US = '" + text(bad) + message);
}

TEST_CASE("options: those of modelled machines") {
  {
    const environment none;
    const options o = complete({.machine = "virtual"});
    CHECK(text(o.model.schedule) == "time");
    CHECK(text(o.model.mode) == "fine");
    CHECK(text(o.model.body) == "declared");
    CHECK(o.model.body_scale == 1);
    CHECK(o.model.core == 0);
  }
  const environment e(
      {{"WEFT_MODE", "coarse"}, {"WEFT_BODY", "measured"}, {"WEFT_BODY_SCALE", "2.5"}, {"WEFT_CORE", "1"}});
  const options o = complete({.workers = 2, .machine = "virtual"});
  CHECK(text(o.model.mode) == "coarse");
  CHECK(text(o.model.body) == "measured");
  CHECK(o.model.body_scale == 2.5);
  CHECK(o.model.core == 1);
  CHECK(text(complete({.workers = 2, .machine = "virtual", .model = {.mode = "fine"}}).model.mode) == "fine");
  CHECK(refusal({.machine = "virtual", .model = {.mode = "rough"}}) ==
        "weft: option model.mode = 'rough' cannot be; it must be fine or coarse");
  CHECK(refusal({.machine = "virtual"}, {{"WEFT_MODE", "rough"}}) ==
        "weft: WEFT_MODE = 'rough' cannot be; it must be fine or coarse");
  CHECK(refusal({.machine = "virtual", .model = {.core = 1}}) ==
        "weft: option model.core = '1' cannot be; it must be below 1, the cores of machine virtual");
  const std::string little = "runtime.submit.ns = 7";
  CHECK(text(complete({.workers = 2, .machine = "virtual", .model = {.change = little.c_str()}}).model.change) ==
        little);
  CHECK(refusal({}, {{"WEFT_CHANGE", little}}) ==
        "weft: WEFT_CHANGE = '" + little + "' cannot be; it must be unset on machine host");
  CHECK(refusal({.workers = 2, .machine = "virtual", .model = {.change = "runtime.submitt.ns = 7"}})
            .find("runtime.submitt: there is no such key") != std::string::npos);
  CHECK(refusal({}, {{"WEFT_CORE", "1"}}) == "weft: WEFT_CORE = '1' cannot be; it must be 0 on machine host");
  for (const char* bad : {"0", "-1", "nan", "inf", "1e6", "1e999", "1,5", "2x", " 2"})
    CHECK(refusal({.machine = "virtual"}, {{"WEFT_BODY_SCALE", bad}}).starts_with("weft: WEFT_BODY_SCALE = '"));
}

TEST_CASE("options: a variable that nothing reads is said on stderr, once, with the nearest that something reads") {
  const auto said = [](const char* variable) {
    setenv(variable, "2", 1);
    const std::string first = stderr_of([] { static_cast<void>(complete({})); });
    CHECK(stderr_of([] { static_cast<void>(complete({})); }) == "");
    unsetenv(variable);
    return first;
  };
  const environment none;
  CHECK(said("WEFT_WORKRES") == "weft: nothing reads the variable WEFT_WORKRES; did you mean WEFT_WORKERS?\n");
  CHECK(said("WEFT_MACHIN") == "weft: nothing reads the variable WEFT_MACHIN; did you mean WEFT_MACHINE?\n");
  CHECK(said("WEFT_SEARCH") == "weft: nothing reads the variable WEFT_SEARCH; did you mean WEFT_SEARCH_US?\n");
  CHECK(said("WEFT_ZEBRA") == "weft: nothing reads the variable WEFT_ZEBRA\n");
  CHECK(said("WEFT_TEST_ANYTHING") == "");  // of this project's own tests
  CHECK(said("WEFTY") == "");
  for (const char* ours : variables) {
    setenv(ours, "", 1);
    CHECK(stderr_of([] { static_cast<void>(complete({})); }) == "");
  }
}

// What a child says that makes a runtime with a wrong option where nothing catches it.
std::string last_words(void (*make)()) {
  return stderr_of([make] {
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGABRT, SIG_DFL);  // not doctest's
      const rlimit none{0, 0};
      ::setrlimit(RLIMIT_CORE, &none);
      setenv("WEFT_WINDOW", "many", 1);
      make();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 2);
  });
}

TEST_CASE("options: a wrong variable that nobody catches ends the program in one line") {
  const environment none;
  const auto one_line = [](const std::string& said) {
    return said.starts_with("weft: WEFT_WINDOW = 'many' cannot be; it must be a number of tasks from 64 to") &&
           said.find('\n') == said.size() - 1;
  };
  const std::string in_main = last_words([]() noexcept { const runtime rt; });
  CHECK(one_line(in_main));
  const std::string as_static_object = last_words([]() noexcept { static const runtime rt; });
  CHECK(one_line(as_static_object));
  const std::string in_a_thread = last_words([] { std::thread([] { const runtime rt; }).join(); });
  CHECK(one_line(in_a_thread));
}

}  // namespace weft
