// The functions of weft.h. Each checks what it was given, calls the C++ one, and turns exceptions into a status.
#include <cstdio>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "access/version.hpp"
#include "runtime/c_api.hpp"

namespace weft::c {
namespace {

// On the heap: what a plug-in that is loaded late needs of the threads' static storage comes out of some 1600 bytes
// that all such plug-ins share, and a message inside left too little for the next one (scikit-learn's libgomp).
constexpr std::size_t message_bytes_max = 1024;
struct message {
  char* text = nullptr;
  bool is_lost = false;  // there was no memory for it
  constexpr message() = default;
  message(const message&) = delete;
  message& operator=(const message&) = delete;
  ~message() { delete[] std::exchange(text, nullptr); }
};
thread_local constinit message last_message;

// Out of line, like everything here that touches last_message: a task that waited may be on another thread now.
[[gnu::noinline]] void remember(const char* text) noexcept {
  message& m = last_message;
  if (m.text == nullptr) m.text = new (std::nothrow) char[message_bytes_max];
  m.is_lost = m.text == nullptr;
  if (!m.is_lost) std::snprintf(m.text, message_bytes_max, "%s", text);
}

}  // namespace

[[gnu::noinline]] const char* last_error() noexcept {
  const message& m = last_message;
  return m.is_lost ? "weft: no memory" : m.text != nullptr ? m.text : "";
}

[[gnu::noinline, gnu::cold]] int told() noexcept {
  try {
    throw;
  } catch (const error& e) {
    remember(e.what());
    return WEFT_MISUSE;
  } catch (const std::bad_alloc&) {
    remember("weft: no memory");
    return WEFT_NO_MEMORY;
  } catch (const std::exception& e) {
    remember(e.what());
  } catch (...) {
    remember("weft: a task threw something that is no std::exception");
  }
  return WEFT_TASK_FAILED;
}

// Every version so far has all fields, so less than that cannot be meant. More may be a newer header's, and has to be
// 0. What is much more was never set.
void check_size(const void* given, std::size_t size, std::size_t known, const char* name) {
  constexpr std::size_t believable = 4096;
  const std::string prefix = "weft: " + std::string(name);
  if (given == nullptr) throw error(prefix + " is NULL");
  if (size < known || size > believable)
    throw error(prefix + ".size is " + std::to_string(size) + "; zero the struct and set it to sizeof(" + name + ")");
  const auto* bytes = static_cast<const unsigned char*>(given);
  if (std::any_of(bytes + known, bytes + size, [](unsigned char b) { return b != 0; }))
    throw error(prefix + " uses a field that libweft " + version() + " does not have");
}

namespace {

[[nodiscard]] bool running_task_uses(weft_handle& h) noexcept {
  detail::record* r = running_task();
  if (r == nullptr) return false;
  const auto names_h = [&h](const detail::access& a) {
    return (a.handle_and_kind & detail::handle_address_mask) == reinterpret_cast<std::uintptr_t>(&h.state());
  };
  return std::any_of(r->accesses(), r->accesses() + r->access_count, names_h);
}

// A runtime cannot wait for what another one has to run.
[[nodiscard]] bool used_elsewhere(weft_handle& h, const detail::engine_base* here) noexcept {
  const detail::handle_state& s = h.state();
  if (s.engine == nullptr || s.engine == here) return false;
  return access::outstanding(detail::peek(s.word), s.registered) != 0 || s.group_kind == detail::kind_reduce;
}

[[nodiscard]] memory_placement placement_of(std::uint32_t kind, std::uint64_t value) {
  require(value == 0 || kind == WEFT_ON_NODE || kind == WEFT_BLOCK_CYCLIC, "weft_place_memory",
          "value is not 0, and only WEFT_ON_NODE and WEFT_BLOCK_CYCLIC have one");
  switch (kind) {
  case WEFT_FIRST_TOUCH: return memory_placement::first_touch();
  case WEFT_ON_NODE:
    require(value <= UINT32_MAX, "weft_place_memory", "there is no such node");
    return memory_placement::on_node(static_cast<std::uint32_t>(value));
  case WEFT_INTERLEAVED: return memory_placement::interleaved();
  case WEFT_BLOCKED: return memory_placement::blocked();
  case WEFT_BLOCK_CYCLIC: return memory_placement::block_cyclic(value);
  default: throw error("weft: weft_place_memory: placement is " + std::to_string(kind) + "; see enum weft_placement");
  }
}

// weft::runtime keeps its engine to itself and hands it to whatever builds the records of a body type; so this is a
// body type whose builder only looks.
struct engine_wanted {
  detail::engine_base* engine = nullptr;
};

}  // namespace
}  // namespace weft::c

template <> struct weft::detail::builder<weft::c::engine_wanted&> {
  static void submit(engine_base& e, c::engine_wanted& w) noexcept { w.engine = &e; }
};

weft_runtime::weft_runtime(const weft::options& opt) : rt(opt), modelled(std::strcmp(rt.machine(), "host") != 0) {
  weft::c::engine_wanted w;
  rt.submit(w);
  engine = w.engine;
}

namespace weft::c {
namespace {

[[nodiscard]] weft::options translated(const weft_options& o) {
  weft::options opt;
  opt.workers = o.workers;
  opt.machine = o.machine;
  opt.policy = o.policy;
  opt.model.schedule = o.schedule;
  if (o.seed != 0) opt.seed = o.seed;
  if (o.window != 0) opt.window = o.window;
  if (o.stack_kib != 0) opt.stack_kib = o.stack_kib;
  opt.paused = o.paused != 0;
  opt.pin = o.no_pin == 0;
  opt.trace = o.trace;
  opt.counters = o.counters;
  if (o.trace_mib != 0) opt.trace_mib = o.trace_mib;
  opt.creation = o.creation;
  opt.creator = o.creator;
  opt.model.core = o.core;
  opt.model.mode = o.mode;
  opt.model.body = o.body;
  if (o.body_scale != 0) opt.model.body_scale = o.body_scale;
  return opt;
}

template <weft::choices (*All)() noexcept> const weft_choice* list(std::size_t* count, const char* function) {
  static const std::vector<weft_choice> copy = [] {
    std::vector<weft_choice> names;
    for (const weft::choice& c : All()) names.push_back({c.name, c.what});
    return names;
  }();
  require(count != nullptr, function, "count is NULL");
  *count = copy.size();
  return copy.data();
}

}  // namespace
}  // namespace weft::c

using namespace weft::c;

// --- the functions of weft.h, in its order

const char* weft_last_error(void) { return last_error(); }

int weft_fail(const char* message) {
  return guarded([=] { fail_running_task(message); });
}

weft_runtime* weft_runtime_create(const weft_options* options) {
  return answer<weft_runtime*>(nullptr, [=] {
    if (options == nullptr) return new weft_runtime({});
    return new weft_runtime(translated(known_part(options, "weft_options")));
  });
}

int weft_runtime_destroy(weft_runtime* rt) {
  if (rt == nullptr) return WEFT_OK;
  const int allowed = guarded([=] {
    const weft::detail::worker* w = weft::detail::self_out_of_line();
    require(rt->maker == std::this_thread::get_id(), "weft_runtime_destroy",
            "called by another thread than the one that made the runtime");
    require(w == nullptr || w->engine != rt->engine || w->current == nullptr, "weft_runtime_destroy",
            "called by a task of this runtime");
  });
  if (allowed != WEFT_OK) return allowed;
  const int waited = weft_wait(rt);
  delete rt;
  return waited;
}

std::uint32_t weft_runtime_workers(const weft_runtime* rt) {
  return answer(0u, [=] { return given(rt, "weft_runtime_workers").rt.workers(); });
}
const char* weft_runtime_machine(const weft_runtime* rt) {
  return answer<const char*>(nullptr, [=] { return given(rt, "weft_runtime_machine").rt.machine(); });
}
const char* weft_runtime_policy(const weft_runtime* rt) {
  return answer<const char*>(nullptr, [=] { return given(rt, "weft_runtime_policy").rt.policy(); });
}
std::uint64_t weft_runtime_seed(const weft_runtime* rt) {
  return answer<std::uint64_t>(0, [=] { return given(rt, "weft_runtime_seed").rt.seed(); });
}
double weft_now_ns(const weft_runtime* rt) {
  return answer(-1.0, [=] { return callable(rt, "weft_now_ns").rt.now_ns(); });
}

int weft_write_trace(weft_runtime* rt) {
  return guarded([=] { callable(rt, "weft_write_trace").rt.write_trace(); });
}
const char* weft_runtime_trace_path(const weft_runtime* rt) {
  return answer<const char*>(nullptr, [=] { return given(rt, "weft_runtime_trace_path").rt.trace_path(); });
}

int weft_statistics(const weft_runtime* rt, weft_counts* counts) {
  return guarded([=] {
    const weft::runtime::counts c = callable(rt, "weft_statistics").rt.statistics();
    const std::size_t size = given(counts, "weft_statistics").size;
    require(size >= sizeof(std::size_t) && size <= 4096, "weft_statistics", "counts->size must be sizeof(weft_counts)");
    const weft_counts known = {size,          c.tasks,        c.steals,
                               c.sleeps,      c.suspends,     c.pushed,
                               c.refused,     c.transfers,    c.cached_bytes,
                               c.local_bytes, c.remote_bytes, c.energy.modelled ? c.energy.total() : -1};
    std::memset(counts, 0, size);
    std::memcpy(counts, &known, std::min(size, sizeof known));
  });
}

weft_handle* weft_handle_create(void* data) {
  return answer<weft_handle*>(nullptr, [=] { return new weft_handle(nature::plain, data); });
}

weft_handle* weft_reduction_create(void* data, const weft_reduction* reduction) {
  return answer<weft_handle*>(nullptr, [=] {
    const weft_reduction& r = known_part(reduction, "weft_reduction");
    require(data != nullptr, "weft_reduction_create", "data is NULL; a reduction adds to a datum");
    require(r.merge != nullptr, "weft_reduction_create", "merge is NULL");
    require(r.buffer_bytes != 0, "weft_reduction_create", "buffer_bytes is 0");
    return new reduction_handle(data, r);
  });
}

weft_handle* weft_resource_create(std::uint32_t units) {
  return answer<weft_handle*>(nullptr, [=] {
    require(units != 0, "weft_resource_create", "units is 0; no task could ever use it");
    return new weft_handle(nature::resource, nullptr, units);
  });
}

int weft_handle_destroy(weft_handle* h) {
  return guarded([=] {
    if (h == nullptr) return;
    require(!running_task_uses(*h), "weft_handle_destroy", "called by a task that uses the handle");
    h->kind == nature::reduction ? delete static_cast<reduction_handle*>(h) : delete h;
  });
}

int weft_handle_set_name(weft_handle* h, const char* name) {
  return guarded([=] {
    weft_handle& named = given(h, "weft_handle_set_name");
    named.text = name != nullptr ? name : "";
    named.name(name != nullptr ? named.text.c_str() : nullptr);
  });
}
int weft_handle_set_bytes(weft_handle* h, uint64_t bytes) {
  return guarded([=] { given(h, "weft_handle_set_bytes").bytes(bytes); });
}
int weft_place_memory(const void* begin, uint64_t bytes, uint32_t placement, uint64_t value) {
  return guarded([=] { weft::place_memory(begin, bytes, placement_of(placement, value)); });
}
int weft_handle_lies_at(weft_handle* h, const void* begin, uint64_t bytes) {
  return guarded([=] { given(h, "weft_handle_lies_at").lies_at(begin, bytes); });
}
const char* weft_handle_name(const weft_handle* h) {
  return answer<const char*>(nullptr, [=] { return given(h, "weft_handle_name").name(); });
}
void* weft_handle_data(const weft_handle* h) {
  return answer<void*>(nullptr, [=] { return given(h, "weft_handle_data").data; });
}
std::uint64_t weft_handle_version(const weft_handle* h) {
  return answer<std::uint64_t>(0, [=] { return given(h, "weft_handle_version").version(); });
}

int weft_handle_idle(const weft_handle* h) {
  return answer<int>(0, [=] { return const_cast<weft_handle&>(given(h, "weft_handle_idle")).idle() ? 1 : 0; });
}

int weft_submit(weft_runtime* rt, const weft_task* task) {
  return guarded([=] { submit_task(*callable(rt, "weft_submit").engine, known_part(task, "weft_task")); });
}

int weft_wait(weft_runtime* rt) {
  return guarded([=] { callable(rt, "weft_wait").rt.wait(); });
}

int weft_wait_handle(weft_runtime* rt, weft_handle* h) {
  return guarded([=] {
    weft_runtime& r = callable(rt, "weft_wait_handle");
    require(!used_elsewhere(given(h, "weft_wait_handle"), r.engine), "weft_wait_handle",
            "the handle is in use by another runtime; wait for it there");
    r.rt.wait(*h);
  });
}

int weft_pause(weft_runtime* rt) {
  return guarded([=] { callable(rt, "weft_pause").rt.pause(); });
}
int weft_start(weft_runtime* rt) {
  return guarded([=] { callable(rt, "weft_start").rt.start(); });
}

int weft_worker_id(void) { return weft::worker_id(); }

void* weft_workspace(std::size_t bytes) {
  return answer<void*>(nullptr, [=] { return weft::workspace(bytes); });
}

void weft_charge(double nanoseconds) { weft::charge(nanoseconds); }

const char* weft_version(void) { return weft::version(); }
std::uint32_t weft_usable_cpus(void) { return weft::usable_cpus(); }
const char* weft_usable_cpus_reason(void) {
  return answer<const char*>("", [] { return weft::usable_cpus_reason(); });
}

const weft_choice* weft_machines(std::size_t* count) {
  return answer<const weft_choice*>(nullptr, [=] { return list<weft::machines>(count, "weft_machines"); });
}
const weft_choice* weft_policies(std::size_t* count) {
  return answer<const weft_choice*>(nullptr, [=] { return list<weft::policies>(count, "weft_policies"); });
}

const char* weft_intern(const char* text) {
  return answer<const char*>(nullptr, [=] {
    static std::mutex guard;
    static auto* const all = new std::set<std::string, std::less<>>;  // never destroyed: reports may come late
    const std::string_view wanted = &given(text, "weft_intern");
    const std::lock_guard hold(guard);
    return all->emplace(wanted).first->c_str();
  });
}
