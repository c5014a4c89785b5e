#include "runtime/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <locale>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/limits.hpp"
#include "base/printable.hpp"
#include "model/machine_file.hpp"
#include "runtime/schedule.hpp"
#include "runtime/variables.hpp"
#include "sched/policies/registry.hpp"
#include "trace/counters.hpp"

namespace weft {

namespace {

constexpr std::size_t trace_mib_max = std::size_t{1} << 20;  // 1 TiB: more is a slip of the keyboard
constexpr unsigned search_us_max = 1'000'000;                // who searches longer than a second wants to spin

// Fills options from the environment, and knows afterwards which came from there: errors name what the user wrote.
class filling {
 public:
  template <class Number>
  void number(const char* option, Number& into, Number unset, const std::string& allowed, bool zero_counts = false) {
    const char* text = into == unset ? take(option) : nullptr;
    if (text == nullptr) return;
    // Without zero_counts 0 is refused here: no option takes it, and of some it is the "not set".
    if (!parse(text, into) || (into == Number{} && !zero_counts)) refuse(option, text, allowed);
  }
  void text(const char* option, const char*& into, const char* otherwise) {
    if (into == nullptr) into = take(option);
    if (into == nullptr) into = otherwise;
  }
  void flag(const char* option, bool& into, bool unset) {
    const char* text = into == unset ? take(option) : nullptr;
    if (text == nullptr) return;
    if (std::strcmp(text, "0") != 0 && std::strcmp(text, "1") != 0) refuse(option, text, "0 or 1");
    into = *text == '1';
  }

  [[nodiscard]] std::string name(const char* option) const {
    return taken_.contains(option) ? variable_of(option) : "option " + std::string(option);
  }
  [[noreturn]] void refuse(const char* option, std::string_view value, const std::string& allowed) const {
    const std::string why =
        "weft: " + name(option) + " = '" + base::printable(value) + "' cannot be; it must be " + allowed;
    if (taken_.contains(option)) refuse_variable(why);
    throw error(why);
  }
  void require(bool right, const char* option, const std::string& value, const std::string& allowed) const {
    if (!right) refuse(option, value, allowed);
  }
  // The same for what names the option itself when it refuses its value.
  template <class Look> auto told_by_itself(const char* option, Look look) const {
    try {
      return look();
    } catch (const error& e) {
      if (taken_.contains(option)) refuse_variable(e.what());
      throw;
    }
  }
  // What `look` returns for the option's value. It knows what is wrong with a value, and not where that is from.
  template <class Look> auto looked_up(const char* option, const char* value, Look look) const {
    try {
      return look(value);
    } catch (const error& e) {
      if (!taken_.contains(option)) throw;
      const std::string_view what = e.what();
      constexpr std::string_view who = "weft: ";
      refuse_variable(std::string(who) + variable_of(option) + " = '" + value +
                      "': " + std::string(what.substr(what.starts_with(who) ? who.size() : 0)));
    }
  }

 private:
  const char* take(const char* option) {
    const char* text = value_of_variable(option);
    if (text != nullptr) taken_.insert(option);
    return text;
  }
  template <class Number> static bool parse(const char* text, Number& into) {
    const char* end = text + std::strlen(text);
    if constexpr (std::is_floating_point_v<Number>) {  // libc++ before 20 has no from_chars for these
      std::istringstream in(text);
      in.imbue(std::locale::classic());
      in >> std::noskipws >> into;
      return !in.fail() && in.peek() == std::istringstream::traits_type::eof();
    } else {
      const auto [stop, bad] = std::from_chars(text, end, into);
      return bad == std::errc{} && stop == end;
    }
  }

  std::set<std::string, std::less<>> taken_;
};

// A name that outlives whoever asked for it: the runtime gives it out again.
const char* kept(const char* name) {
  static std::mutex guard;
  static std::set<std::string> names;
  const std::scoped_lock lock(guard);
  return names.insert(name).first->c_str();
}

// A core that is better at the scheduler's work than others, which are better at bodies.
bool is_for_creation(const model::machine& m, unsigned core) {
  const model::core_type& t = m.types[m.cores[core].type];
  return std::any_of(m.types.begin(), m.types.end(), [&t](const model::core_type& other) {
    return other.speed > t.speed && other.runtime_speed < t.runtime_speed;
  });
}

// As many workers as there are cores; without one that creates, those made for that stay free, if they are the last.
unsigned most_workers(const options& o, const model::machine& m) {
  auto n = static_cast<unsigned>(m.cores.size());
  if (!decoupled(o))
    while (n > 1 && is_for_creation(m, n - 1)) --n;
  return n;
}

// Which core each worker sits on is src/machine/virtual's to know; that it has one of these follows from their number.
void say_who_runs_tasks(const options& o, const model::machine& m) {
  if (decoupled(o) || o.model.core != 0 || o.workers <= most_workers(o, m)) return;
  const model::core_type& t = m.types[m.cores[o.workers - 1].type];
  static std::mutex guard;
  static std::set<std::string> told;
  const std::scoped_lock lock(guard);
  if (!told.insert(m.name).second) return;
  std::fprintf(
      stderr,
      "weft: worker %u runs tasks on a core of type '%s' of machine %s, which is made for creating them: bodies "
      "at %g of the speed, the scheduler at %g. It creates with creation = decoupled; with %u workers it is "
      "free.\n",
      o.workers - 1, t.name.c_str(), m.name.c_str(), t.speed, t.runtime_speed, most_workers(o, m));
}

void seat_workers(options& o, const filling& from, const std::string& allowed) {
  const bool host = std::strcmp(o.machine, "host") == 0;
  const model::machine m = host ? model::machine{} : from.looked_up("machine", o.machine, [&o](const char* n) {
    return model::load_machine(n, o.model.change);
  });
  const auto cores = static_cast<unsigned>(m.cores.size());
  const bool counted = !host && !m.any_size;
  if (o.workers == 0) o.workers = host ? usable_cpus() : counted ? most_workers(o, m) : 1;
  from.require(o.workers <= base::workers_max, "workers", std::to_string(o.workers), allowed);
  from.require(!counted || o.workers <= cores, "workers", std::to_string(o.workers),
               "a number from 1 to " + std::to_string(cores) + ", the cores of machine " + m.name);
  const unsigned places = m.any_size ? o.workers : cores;
  from.require(host ? o.model.core == 0 : o.model.core < places, "model.core", std::to_string(o.model.core),
               host ? "0 on machine host" : "below " + std::to_string(places) + ", the cores of machine " + m.name);
  if (counted) say_who_runs_tasks(o, m);
}

void check_creation(const options& o, const filling& from) {
  from.require(decoupled(o) || std::strcmp(o.creation, "inline") == 0, "creation", o.creation, "inline or decoupled");
  from.require(!decoupled(o) || o.workers > 1, "creation", o.creation,
               "inline with one worker; give at least 2 workers, or 3 to have one that only creates");
  from.require(decoupled(o) || o.creator == 0, "creator", std::to_string(o.creator),
               "unset unless creation is decoupled");
  from.require(o.creator < o.workers, "creator", std::to_string(o.creator),
               "a worker from 1 to " + std::to_string(o.workers - 1) + ", or 0 for the last");
}

void check_model(const options& o, const filling& from, const std::string& scale_allowed) {
  const bool host = std::strcmp(o.machine, "host") == 0;
  const model_options& m = o.model;
  const auto is = [](const char* a, const char* b) { return std::strcmp(a, b) == 0; };
  const auto how = from.told_by_itself("model.schedule",
                                       [&] { return parse_schedule(m.schedule, from.name("model.schedule")).how; });
  from.require(!host || how == schedule::kind::time, "model.schedule", m.schedule, "time on machine host");
  from.require(!decoupled(o) || (how != schedule::kind::tasks && how != schedule::kind::order), "model.schedule",
               m.schedule, "time, random or pct where creation is decoupled");
  from.require(is(m.mode, "fine") || is(m.mode, "coarse"), "model.mode", m.mode, "fine or coarse");
  from.require(!host || is(m.mode, "fine"), "model.mode", m.mode, "unset on machine host");
  from.require(!host || *m.change == '\0', "model.change", m.change, "unset on machine host");
  from.require(is(m.body, "declared") || is(m.body, "measured"), "model.body", m.body, "declared or measured");
  from.require(m.body_scale > 0 && m.body_scale < 1e6, "model.body_scale", std::to_string(m.body_scale), scale_allowed);
}

void check_trace(const options& o, const filling& from, const std::string& mib_allowed) {
  from.require(o.trace_mib >= 1 && o.trace_mib <= trace_mib_max, "trace_mib", std::to_string(o.trace_mib), mib_allowed);
  if (o.counters == nullptr) return;
  from.looked_up("counters", o.counters, [](const char* names) { static_cast<void>(trace::parse_counters(names)); });
  from.require(std::strcmp(o.machine, "host") == 0, "counters", o.counters,
               "unset on a modelled machine, which has none");
  from.require(o.trace != nullptr, "counters", o.counters, "given together with a trace, which is where they go");
}

}  // namespace

sched::rules rules_of(const options& complete) {
  return sched::rules(complete.rules, complete.search_us != 0 ? sched::rules::usual() : sched::rules::still());
}

bool decoupled(const options& complete) { return std::strcmp(complete.creation, "decoupled") == 0; }

default_machine& default_machine_here() noexcept {
  static thread_local constinit default_machine here;
  return here;
}

options complete(options asked) {
  static const options defaults;
  const std::string workers_allowed = "a number from 1 to " + std::to_string(base::workers_max);
  const std::string seed_allowed = "a number above 0";
  const std::string window_allowed = "a number of tasks from " + std::to_string(base::window_tasks_min) + " to " +
                                     std::to_string(base::window_tasks_max);
  const std::string search_allowed = "a number of microseconds from 0 to " + std::to_string(search_us_max);
  const std::string stack_allowed =
      "a number of KiB from " + std::to_string(base::stack_kib_min) + " to " + std::to_string(base::stack_kib_max);
  const std::string trace_allowed = "a number of MiB, from 1 to " + std::to_string(trace_mib_max);
  const std::string scale_allowed = "a factor above 0 and below 10^6";
  report_unknown_variables();
  options o = asked;
  if (const default_machine& here = default_machine_here(); o.machine == nullptr && here.name != nullptr) {
    o.machine = here.name;
    if (o.model.change == nullptr) o.model.change = here.change;
  }
  filling from;
  from.number("workers", o.workers, defaults.workers, workers_allowed);
  from.number("seed", o.seed, defaults.seed, seed_allowed);
  from.number("window", o.window, defaults.window, window_allowed);
  from.number("search_us", o.search_us, defaults.search_us, search_allowed, true);
  from.number("stack_kib", o.stack_kib, defaults.stack_kib, stack_allowed);
  from.text("machine", o.machine, "host");
  from.text("policy", o.policy, sched::policies().front().name.name);
  from.text("model.schedule", o.model.schedule, "time");
  from.text("model.mode", o.model.mode, "fine");
  from.text("model.body", o.model.body, "declared");
  from.number("model.body_scale", o.model.body_scale, defaults.model.body_scale, scale_allowed);
  from.number("model.core", o.model.core, defaults.model.core, "the number of a core of the machine, from 0", true);
  from.text("model.change", o.model.change, "");
  from.text("creation", o.creation, "inline");
  from.number("creator", o.creator, defaults.creator, "the number of a worker, above 0");
  from.flag("paused", o.paused, defaults.paused);
  from.flag("pin", o.pin, defaults.pin);
  from.number("stuck_ms", o.stuck_ms, defaults.stuck_ms, "a number of milliseconds, or 0 for never", true);
  from.text("trace", o.trace, nullptr);
  from.number("trace_mib", o.trace_mib, defaults.trace_mib, trace_allowed);
  from.text("counters", o.counters, nullptr);
  from.text("rules", o.rules, "");
  from.flag("top", o.top, defaults.top);
  o.machine = kept(o.machine);
  seat_workers(o, from, workers_allowed);
  check_creation(o, from);
  check_model(o, from, scale_allowed);
  from.require(o.seed != 0, "seed", "0", seed_allowed);
  from.require(o.window >= base::window_tasks_min && o.window <= base::window_tasks_max, "window",
               std::to_string(o.window), window_allowed);
  from.require(o.search_us <= search_us_max, "search_us", std::to_string(o.search_us), search_allowed);
  from.require(o.stack_kib >= base::stack_kib_min && o.stack_kib <= base::stack_kib_max, "stack_kib",
               std::to_string(o.stack_kib), stack_allowed);
  check_trace(o, from, trace_allowed);
  from.require(!o.top || std::strcmp(o.machine, "host") == 0, "top", "1", "unset on a modelled machine");
  from.looked_up("policy", o.policy, [](const char* name) { static_cast<void>(sched::find_policy(name)); });
  o.rules = kept(from.looked_up("rules", o.rules, [](const char* all) { return sched::rules(all).text(); }).c_str());
  return o;
}

}  // namespace weft
