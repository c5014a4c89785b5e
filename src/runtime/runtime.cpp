// The runtime object, and the few functions of the public headers that are not templates.
#include "weft/runtime.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/version.hpp"
#include "base/atomic.hpp"
#include "model/machine_file.hpp"
#include "place/topology.hpp"
#include "runtime/engines.hpp"
#include "runtime/options.hpp"
#include "runtime/variables.hpp"
#include "sched/decoupled.hpp"
#include "sched/policy.hpp"
#include "sched/worker.hpp"
#include "weft/version.hpp"

namespace weft {

namespace detail {

thread_local constinit worker* this_worker = nullptr;

worker* self_out_of_line() noexcept { return this_worker; }

namespace {
cell<std::uint32_t> handles_made;
}

handle_state::handle_state() noexcept
    : registered(0), waiters_head(nullptr), waiters_tail(nullptr), group_start(0), engine(nullptr),
      id((base::shared(handles_made).fetch_add(1, base::relaxed) + 1) & 0x7fffffff), sized(false), group_kind(0),
      exclusive_taken(false) {}

bool handle_state::idle() noexcept {
  if (sched::decoupled::any() && !sched::decoupled::none_pending()) [[unlikely]]
    return false;
  if (base::shared(lock).exchange(1, base::acquire) != 0) return false;
  const bool all_done = weft::access::outstanding(base::shared(word).load(base::acquire), registered) == 0;
  const bool open = group_kind == kind_reduce;
  base::shared(lock).store(0, base::release);
  return all_done && !open;
}

void handle_state::await_registration() noexcept {
  if (sched::decoupled::any()) [[unlikely]]
    sched::decoupled::await_all();
}

void handle_state::drain() noexcept {
  await_registration();
  if (engine == nullptr) return;
  // The version first, then the lock: whoever advanced the version last did so by one compare-exchange, or inside the
  // lock. So once both are seen nobody touches this handle any more, and its runtime may be gone already.
  const bool all_done = weft::access::outstanding(base::shared(word).load(base::acquire), registered) == 0;
  const bool open =
      group_kind == kind_reduce;  // what the reduces left over is still to be applied, by a living runtime
  if (all_done && !open && base::shared(lock).load(base::acquire) == 0 && !base::shared(poisoned).load(base::relaxed))
    return;
  engine->drain(*this);
  engine = nullptr;  // said once: a handle with data drains before the data goes, and again as a member
}

void throw_no_such_priority(int level) {
  throw error("weft: priority(" + std::to_string(level) +
              ") cannot be; there are two levels, 0 and 1, which goes first");
}

void throw_too_wide(std::size_t accesses) {
  throw error("weft: a task names " + std::to_string(accesses) + " handles; a task takes at most 1 MiB, about " +
              std::to_string(task_bytes_max / sizeof(access)) +
              " handles; split it, or let one handle stand for many data");
}

}  // namespace detail

namespace sched {

void set_current_worker(detail::worker* w) noexcept { detail::this_worker = w; }

}  // namespace sched

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
  seed_ = o.seed;
  engine_ = made.release();
  if (o.paused) pause();
}

runtime::~runtime() { delete &implementation(engine_); }

unsigned runtime::workers() const noexcept { return implementation(engine_).workers(); }
const char* runtime::machine() const noexcept { return implementation(engine_).machine_name(); }
const char* runtime::policy() const noexcept { return policy_; }
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

choices policies() noexcept {
  static const std::vector<choice> all = [] {
    std::vector<choice> names;
    for (const sched::policy_entry& p : sched::policies()) names.push_back(p.name);
    return names;
  }();
  return {all.data(), all.size()};
}

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

const char* version() noexcept {
#define WEFT_TEXT(x) #x
#define WEFT_VERSION_TEXT(major, minor, patch) WEFT_TEXT(major) "." WEFT_TEXT(minor) "." WEFT_TEXT(patch)
  return WEFT_VERSION_TEXT(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH);
#undef WEFT_VERSION_TEXT
#undef WEFT_TEXT
}

int worker_id() noexcept {
  const detail::worker* w = sched::current_worker();
  if (w == nullptr || detail::peek(w->shown_id) == detail::record::unpinned) return -1;
  return static_cast<int>(detail::peek(w->shown_id));
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
