#include "runtime/options.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/limits.hpp"
#include "model/machine_file.hpp"
#include "runtime/schedule.hpp"
#include "sched/policy.hpp"
#include "trace/counters.hpp"

namespace weft {

namespace {

[[noreturn]] void refuse(const std::string& option, std::string_view value, const std::string& allowed) {
  throw error("weft: option " + option + " = '" + std::string(value) + "' cannot be; it must be " + allowed);
}

constexpr std::size_t trace_mib_max = std::size_t{1} << 20;  // 1 TiB: more is a slip of the keyboard

// The value of WEFT_<name>, or nullptr if unset or empty.
const char* environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

template <class Number>
void take_number(const char* name, Number& into, Number unset, const std::string& allowed, bool zero_counts = false) {
  if (into != unset) return;
  const char* text = environment(name);
  if (text == nullptr) return;
  const char* end = text + std::strlen(text);
  Number n{};
  const auto [stop, bad] = std::from_chars(text, end, n);
  if (bad != std::errc{} || stop != end) refuse(name, text, allowed);
  if (n == Number{} && !zero_counts)
    refuse(name, text, allowed);  // no option takes it, and of some it is the "not set"
  into = n;
}

void take_text(const char* name, const char*& into, const char* otherwise) {
  if (into == nullptr) into = environment(name);
  if (into == nullptr) into = otherwise;
}

void take_flag(const char* name, bool& into, bool unset) {
  const char* text = environment(name);
  if (text == nullptr || into != unset) return;
  if (std::strcmp(text, "0") != 0 && std::strcmp(text, "1") != 0) refuse(name, text, "0 or 1");
  into = *text == '1';
}

void require(bool right, const char* option, const std::string& value, const std::string& allowed) {
  if (!right) refuse(option, value, allowed);
}

// A name that outlives whoever asked for it: the runtime gives it out again.
const char* kept(const char* name) {
  static std::mutex guard;
  static std::set<std::string> names;
  const std::scoped_lock lock(guard);
  return names.insert(name).first->c_str();
}

// So many workers as there are cores, on a machine that says how many it has.
void seat_workers(options& o, const std::string& allowed) {
  const bool host = std::strcmp(o.machine, "host") == 0;
  const model::machine m = host ? model::machine{} : model::load_machine(o.machine);
  const auto cores = static_cast<unsigned>(m.cores.size());
  const bool counted = !host && !m.any_size;
  if (o.workers == 0) o.workers = host ? usable_cpus() : counted ? cores : 1;
  require(o.workers <= base::workers_max, "workers", std::to_string(o.workers), allowed);
  require(!counted || o.workers <= cores, "workers", std::to_string(o.workers),
          "a number from 1 to " + std::to_string(cores) + ", the cores of machine " + m.name);
  const unsigned places = m.any_size ? o.workers : cores;
  require(host ? o.core == 0 : o.core < places, "core", std::to_string(o.core),
          host ? "0 on machine host" : "below " + std::to_string(places) + ", the cores of machine " + m.name);
}

void check_creation(const options& o) {
  const bool decoupled = std::strcmp(o.creation, "decoupled") == 0;
  require(decoupled || std::strcmp(o.creation, "inline") == 0, "creation", o.creation, "inline or decoupled");
  require(!decoupled || o.workers > 1, "creation", o.creation,
          "inline with one worker; give at least 2 workers, or 3 to have one that only creates");
  require(decoupled || o.creator == 0, "creator", std::to_string(o.creator), "unset unless creation is decoupled");
  require(o.creator < o.workers, "creator", std::to_string(o.creator),
          "a worker from 1 to " + std::to_string(o.workers - 1) + ", or 0 for the last");
}

}  // namespace

bool decoupled(const options& complete) { return std::strcmp(complete.creation, "decoupled") == 0; }

options complete(options asked) {
  static const options defaults;
  const std::string workers_allowed = "a number from 1 to " + std::to_string(base::workers_max);
  const std::string seed_allowed = "a number above 0";
  const std::string window_allowed = "a number of tasks from " + std::to_string(base::window_tasks_min) + " to " +
                                     std::to_string(base::window_tasks_max);
  const std::string stack_allowed =
      "a number of KiB from " + std::to_string(base::stack_kib_min) + " to " + std::to_string(base::stack_kib_max);
  const std::string trace_allowed = "a number of MiB, from 1 to " + std::to_string(trace_mib_max);
  const std::string scale_allowed = "a factor above 0 and below 10^6";
  options o = asked;
  take_number("WEFT_WORKERS", o.workers, defaults.workers, workers_allowed);
  take_number("WEFT_SEED", o.seed, defaults.seed, seed_allowed);
  take_number("WEFT_WINDOW", o.window, defaults.window, window_allowed);
  take_number("WEFT_STACK_KIB", o.stack_kib, defaults.stack_kib, stack_allowed);
  take_text("WEFT_MACHINE", o.machine, "host");
  take_text("WEFT_POLICY", o.policy, sched::policies().front().name.name);
  take_text("WEFT_SCHEDULE", o.schedule, "time");
  take_text("WEFT_MODE", o.mode, "fine");
  take_text("WEFT_BODY", o.body, "declared");
  take_number("WEFT_BODY_SCALE", o.body_scale, defaults.body_scale, scale_allowed);
  take_number("WEFT_CORE", o.core, defaults.core, "the number of a core of the machine, from 0", true);
  take_text("WEFT_CREATION", o.creation, "inline");
  take_number("WEFT_CREATOR", o.creator, defaults.creator, "the number of a worker, above 0");
  take_flag("WEFT_PAUSED", o.paused, defaults.paused);
  take_flag("WEFT_PIN", o.pin, defaults.pin);
  take_flag("WEFT_SUBMITTERS_HELP", o.submitters_help, defaults.submitters_help);
  take_number("WEFT_STUCK_MS", o.stuck_ms, defaults.stuck_ms, "a number of milliseconds, or 0 for never", true);
  take_text("WEFT_TRACE", o.trace, nullptr);
  take_number("WEFT_TRACE_MIB", o.trace_mib, defaults.trace_mib, trace_allowed);
  take_text("WEFT_COUNTERS", o.counters, nullptr);
  const bool host = std::strcmp(o.machine, "host") == 0;
  o.machine = kept(o.machine);
  static_cast<void>(parse_schedule(o.schedule));
  require(!host || std::strcmp(o.schedule, "time") == 0, "schedule", o.schedule, "time on machine host");
  require(std::strcmp(o.mode, "fine") == 0 || std::strcmp(o.mode, "coarse") == 0, "mode", o.mode, "fine or coarse");
  require(!host || std::strcmp(o.mode, "fine") == 0, "mode", o.mode, "unset on machine host");
  require(std::strcmp(o.body, "declared") == 0 || std::strcmp(o.body, "measured") == 0, "body", o.body,
          "declared or measured");
  require(o.body_scale > 0 && o.body_scale < 1e6, "body_scale", std::to_string(o.body_scale), scale_allowed);
  seat_workers(o, workers_allowed);
  check_creation(o);
  const schedule::kind how = parse_schedule(o.schedule).how;
  require(!decoupled(o) || (how != schedule::kind::tasks && how != schedule::kind::order), "schedule", o.schedule,
          "time, random or pct where creation is decoupled");
  require(o.seed != 0, "seed", "0", seed_allowed);
  require(o.window >= base::window_tasks_min && o.window <= base::window_tasks_max, "window", std::to_string(o.window),
          window_allowed);
  require(o.stack_kib >= base::stack_kib_min && o.stack_kib <= base::stack_kib_max, "stack_kib",
          std::to_string(o.stack_kib), stack_allowed);
  require(o.trace_mib >= 1 && o.trace_mib <= trace_mib_max, "trace_mib", std::to_string(o.trace_mib), trace_allowed);
  if (o.counters != nullptr) {
    static_cast<void>(trace::parse_counters(o.counters));
    require(host, "counters", o.counters, "unset on a modelled machine, which has none");
    require(o.trace != nullptr, "counters", o.counters, "given together with a trace, which is where they go");
  }
  static_cast<void>(sched::find_policy(o.policy));
  return o;
}

}  // namespace weft
