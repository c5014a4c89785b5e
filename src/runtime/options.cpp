#include "runtime/options.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/limits.hpp"
#include "sched/policy.hpp"

namespace weft {

namespace {

[[noreturn]] void refuse(const std::string& option, std::string_view value, const std::string& allowed) {
  throw error("weft: option " + option + " = '" + std::string(value) + "' cannot be; it must be " + allowed);
}

// The value of WEFT_<name>, or nullptr if unset or empty.
const char* environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

template <class Number> void take_number(const char* name, Number& into, Number unset, const std::string& allowed) {
  if (into != unset) return;
  const char* text = environment(name);
  if (text == nullptr) return;
  const char* end = text + std::strlen(text);
  Number n{};
  const auto [stop, bad] = std::from_chars(text, end, n);
  if (bad != std::errc{} || stop != end) refuse(name, text, allowed);
  if (n == Number{}) refuse(name, text, allowed);  // no option takes it, and of some it is the "not set"
  into = n;
}

void take_flag(const char* name, bool& into, bool unset) {
  const char* text = environment(name);
  if (text == nullptr || into != unset) return;
  if (std::strcmp(text, "0") != 0 && std::strcmp(text, "1") != 0) refuse(name, text, "0 or 1");
  into = *text == '1';
}

void take_text(const char* name, const char*& into, const char* otherwise) {
  if (into == nullptr) into = environment(name);
  if (into == nullptr) into = otherwise;
}

void require(bool right, const char* option, const std::string& value, const std::string& allowed) {
  if (!right) refuse(option, value, allowed);
}

}  // namespace

options complete(options asked) {
  static const options defaults;
  const std::string workers_allowed = "a number from 1 to " + std::to_string(base::workers_max);
  const std::string seed_allowed = "a number above 0";
  const std::string window_allowed = "a number of tasks from " + std::to_string(base::window_tasks_min) + " to " +
                                     std::to_string(base::window_tasks_max);
  const std::string stack_allowed =
      "a number of KiB from " + std::to_string(base::stack_kib_min) + " to " + std::to_string(base::stack_kib_max);
  options o = asked;
  take_number("WEFT_WORKERS", o.workers, defaults.workers, workers_allowed);
  take_number("WEFT_SEED", o.seed, defaults.seed, seed_allowed);
  take_number("WEFT_WINDOW", o.window, defaults.window, window_allowed);
  take_number("WEFT_STACK_KIB", o.stack_kib, defaults.stack_kib, stack_allowed);
  take_text("WEFT_MACHINE", o.machine, "host");
  take_text("WEFT_POLICY", o.policy, sched::policies().front().name.name);
  take_text("WEFT_SCHEDULE", o.schedule, "time");
  take_flag("WEFT_PAUSED", o.paused, defaults.paused);
  take_flag("WEFT_PIN", o.pin, defaults.pin);
  const bool host = std::strcmp(o.machine, "host") == 0;
  require(host || std::strcmp(o.machine, "virtual") == 0, "machine", o.machine, "host or virtual");
  require(std::strcmp(o.schedule, "time") == 0 || std::strcmp(o.schedule, "random") == 0, "schedule", o.schedule,
          "time or random");
  require(!host || std::strcmp(o.schedule, "time") == 0, "schedule", o.schedule, "time on machine host");
  if (o.workers == 0) o.workers = host ? usable_cpus() : 1;
  require(o.workers <= base::workers_max, "workers", std::to_string(o.workers), workers_allowed);
  require(o.seed != 0, "seed", "0", seed_allowed);
  require(o.window >= base::window_tasks_min && o.window <= base::window_tasks_max, "window", std::to_string(o.window),
          window_allowed);
  require(o.stack_kib >= base::stack_kib_min && o.stack_kib <= base::stack_kib_max, "stack_kib",
          std::to_string(o.stack_kib), stack_allowed);
  static_cast<void>(sched::find_policy(o.policy));
  return o;
}

}  // namespace weft
