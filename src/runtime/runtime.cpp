// The runtime object, and the few functions of the public headers that are not templates.
#include "weft/runtime.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine_file.hpp"
#include "place/topology.hpp"
#include "runtime/engines.hpp"
#include "runtime/options.hpp"
#include "runtime/variables.hpp"
#include "sched/policies/registry.hpp"
#include "sched/workers/worker.hpp"
#include "weft/policy.hpp"

namespace weft {

namespace {

sched::any_engine& implementation(detail::engine_base* e) noexcept { return static_cast<sched::any_engine&>(*e); }

std::uint64_t picoseconds(double ns) noexcept { return static_cast<std::uint64_t>(ns * 1000.0 + 0.5); }

}  // namespace

namespace {

std::unique_ptr<sched::any_engine> make_engine(const options& asked, const options& o) {
  try {
    return std::strcmp(o.machine, "host") == 0 ? make_host_engine(o) : make_virtual_engine(o);
  } catch (const error& e) {
    const std::string_view why = e.what();
    if (why.find("WEFT_") != std::string_view::npos) refuse_variable(std::string(why));
    const bool of_order = why.starts_with("weft: schedule: ");
    if (of_order && asked.model.schedule == nullptr) refuse_variable(std::string(why) + " (WEFT_SCHEDULE)");
    if (asked.trace != nullptr || !why.starts_with("weft: cannot write a trace")) throw;
    refuse_variable(std::string(why) + " (WEFT_TRACE)");
  }
}

}  // namespace

runtime::runtime(const options& opt) {
  const options o = complete(opt);
  auto made = make_engine(opt, o);
  policy_ = sched::find_policy(o.policy).name.name;
  rules_ = o.rules;
  seed_ = o.seed;
  engine_ = made.release();
  if (o.paused) pause();
}

runtime::~runtime() {
  sched::any_engine& e = implementation(engine_);
  if (e.can_end()) {
    delete &e;
    return;
  }
  std::fprintf(
      stderr, "weft: a runtime ends inside one of its own tasks or waits, as by std::exit() in a body; what it has not "
              "done is left undone.\n");
}

unsigned runtime::workers() const noexcept { return implementation(engine_).workers(); }
const char* runtime::machine() const noexcept { return implementation(engine_).machine_name(); }
const char* runtime::policy() const noexcept { return policy_; }
const char* runtime::rules() const noexcept { return rules_; }
int runtime::creator() const noexcept { return implementation(engine_).creator(); }
double runtime::now_ns() const noexcept { return implementation(engine_).now_ns(); }
runtime::counts runtime::statistics() const noexcept { return implementation(engine_).statistics(); }
const char* runtime::trace_path() const noexcept { return implementation(engine_).trace_path(); }
void runtime::write_trace() { implementation(engine_).write_trace(); }

void runtime::charge(double nanoseconds) noexcept {
  if (nanoseconds > 0) implementation(engine_).charge_program(picoseconds(nanoseconds));
}

choices machines() noexcept {
  static const std::vector<model::machine_entry> files = model::machine_files();
  static const std::vector<choice> all = [] {
    std::vector<choice> names{{"host", "this machine: one thread per worker, real time"}};
    for (const model::machine_entry& m : files) names.push_back({m.name.c_str(), m.summary.c_str()});
    return names;
  }();
  return {all.data(), all.size()};
}

namespace {

// Names of policies, in one place for as long as the process lives, and as many as there are.
struct known_policies {
  std::mutex lock;
  std::vector<choice> all;
};
known_policies& the_policies() {
  static known_policies* const one = [] {
    auto* const made = new known_policies;  // never destroyed: who ends with the program may still look
    made->all.reserve(sched::policies().size() + policies_max);
    return made;
  }();
  return *one;
}

}  // namespace

choices policies() noexcept {
  known_policies& known = the_policies();
  const std::scoped_lock hold(known.lock);
  const auto now = sched::policies();
  while (known.all.size() < now.size()) known.all.push_back(now[known.all.size()].name);
  return {known.all.data(), known.all.size()};
}

void add_policy(const policy& p) {
  const std::scoped_lock hold(the_policies().lock);
  sched::enlist_policy(p);
}

rule_list scheduler_rules() noexcept { return sched::rules::rows(); }

unsigned usable_cpus() noexcept { return place::usable_cpus().workers; }

const char* usable_cpus_reason() {
  static const std::string text = [] {
    const place::cpu_budget b = place::usable_cpus();
    std::string s = std::to_string(b.affinity) + (b.affinity == 1 ? " core" : " cores") + " in the affinity mask, ";
    if (b.quota <= 0) return s + "no cgroup quota";
    char quota[32];
    std::snprintf(quota, sizeof quota, "%.2f", b.quota);
    return s + "cgroup quota of " + quota + " CPUs (" + b.quota_of + ")";
  }();
  return text.c_str();
}

void* workspace(std::size_t bytes) {
  detail::worker* w = sched::current_worker();
  if (w == nullptr || w->current == nullptr) throw error("weft: workspace() is called outside of a task body");
  return implementation(w->engine).workspace(bytes);
}

namespace {

// In a body, or on the main thread between fork and join.
[[nodiscard]] bool in_body(const detail::worker& w) noexcept {
  return w.current != nullptr || (w.where != nullptr && w.where->on != nullptr);
}

}  // namespace

void charge(double nanoseconds) noexcept {
  detail::worker* w = sched::current_worker();
  if (w == nullptr || !(nanoseconds > 0) || !in_body(*w)) return;
  implementation(w->engine).charge(picoseconds(nanoseconds), {});
}

void detail::charge_with(double nanoseconds, const data_use* uses, std::size_t count) {
  worker* w = sched::current_worker();
  if (w == nullptr || !in_body(*w)) return;
  implementation(w->engine).charge(nanoseconds > 0 ? picoseconds(nanoseconds) : 0, {uses, count});
}

}  // namespace weft
