// The out-of-line half of weft/graph.hpp: recording, and a run as a task. A run itself: src/sched/admit/graphs.hpp.
#include "weft/graph.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>

#include "access/reduction.hpp"
#include "access/registration.hpp"
#include "base/assert.hpp"
#include "sched/admit/any_engine.hpp"
#include "sched/replay/graph_state.hpp"
#include "weft/error.hpp"
#include "weft/finish.hpp"
#include "weft/runtime.hpp"

namespace weft {

using detail::graph_node;
using detail::graph_state;

namespace detail {

namespace {

constexpr std::size_t line_bytes = sizeof(graph_state::line);
constexpr std::size_t chunk_lines_first = 64;
constexpr std::size_t chunk_lines_max = graph_state::chunk_alignment / line_bytes;

// Large ones in huge pages, where the system has some: a run of a large graph goes through all of it.
[[nodiscard]] graph_state::chunk new_chunk(std::size_t lines) {
  const std::size_t bytes = lines * line_bytes;
  const bool is_large = bytes >= graph_state::chunk_alignment;
  const std::size_t alignment = is_large ? graph_state::chunk_alignment : line_bytes;
  void* const memory = ::operator new(bytes, std::align_val_t{alignment});
  if (is_large) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
  return {std::unique_ptr<graph_state::line, graph_state::free_lines>(static_cast<graph_state::line*>(memory),
                                                                      graph_state::free_lines{alignment}),
          lines, 0};
}

// Behind the last node, so that nodes lie in the order in which they were recorded.
[[nodiscard]] void* room_for(graph_state& g, std::size_t bytes) {
  const std::size_t lines = (bytes + line_bytes - 1) / line_bytes;
  if (g.chunks.empty() || g.chunks.back().lines - g.chunks.back().used < lines) {
    const std::size_t before = g.chunks.empty() ? chunk_lines_first / 2 : g.chunks.back().lines;
    const std::size_t wanted = std::max(lines, std::min(2 * before, chunk_lines_max));
    g.chunks.push_back(new_chunk(wanted));
  }
  graph_state::chunk& c = g.chunks.back();
  void* const at = c.memory.get() + c.used;
  c.used += lines;
  g.last_lines = lines;
  return at;
}

// Its record's first half ends a cache line.
[[nodiscard]] record& new_node(graph_state& g, std::size_t bytes, std::size_t closure_bytes) {
  constexpr std::size_t half = 32;
  const std::size_t least = node_closure_bytes(closure_bytes) + graph_node::before_task;
  const std::size_t before = (least + half + line_bytes - 1) / line_bytes * line_bytes - half;
  auto* const at = static_cast<std::byte*>(room_for(g, before + bytes)) + before - graph_node::before_task;
  return (new (at) graph_node{})->task;
}

// Each access of r that is a handle's first keeps the handle's slot where its version goes later.
[[nodiscard]] std::uint32_t slot_of(const access& a) noexcept { return static_cast<std::uint32_t>(a.required); }

// r has its accesses, and those have their slots.
void keep(graph_state& g, record& r, void (*destroy)(record& r)) {
  weft::access::dependences& order = *g.order;
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    access& a = r.accesses()[i];
    if (!weft::access::is_repeated(a)) a.required = order.access(slot_of(a), weft::access::group_of(a));
  }
  r.order = order.add();
  WEFT_ASSERT(r.order == g.nodes.size());
  r.kind = record_kind::node;
  transition(r, record_state::filling, record_state::blocked);
  r.size_class = kept_record;
  r.parent = &g.root;
  r.exclusives = 0;  // what is exclusive is an edge
  r.plain = !r.urgent && r.pin == record::unpinned;
  g.nodes.push_back({&graph_node::of(r), destroy, r.cost_ps, r.near, r.urgent, r.subtasks});
}

// A node of the library's own: no body that takes time, and at most one access.
[[nodiscard]] record& own_node(graph_state& g, void (*invoke)(record&, errand), const char* name,
                               std::uint32_t accesses) {
  const std::size_t bytes = sizeof(record) + accesses * sizeof(detail::access);
  record& r = new_node(g, bytes, 1);
  prepare(r, invoke, bytes, accesses, 0, true);
  r.name = name;
  r.cost_ps = record::charged_bit;
  return r;
}

void add_apply(graph_state& g, std::uint32_t slot) {
  record& r = own_node(
      g,
      [](record& self, errand what) {
        handle_state& of = weft::access::handle_of(self.accesses()[0]);
        if (what != errand::destroy) weft::access::reduction_of(of)(of);
      },
      "apply reduction", 1);
  handle_state* const h = g.order->slots()[slot].handle;
  r.accesses()[0] = {reinterpret_cast<std::uintptr_t>(h) | kind_bits(kind_write), slot};
  keep(g, r, nullptr);
}

void add_join(graph_state& g, std::uint32_t slot) {
  record& r = own_node(
      g, [](record&, errand) {}, "join", 0);
  const std::uint32_t number = g.order->join(slot);
  r.order = number;
  r.kind = record_kind::node;
  transition(r, record_state::filling, record_state::blocked);
  r.size_class = kept_record;
  r.parent = &g.root;
  g.nodes.push_back({&graph_node::of(r), nullptr, r.cost_ps, r.near, r.urgent, r.subtasks});
}

// In the order in which they are locked, so that no run has to sort them.
void sort_uses(graph_state& g) {
  std::sort(g.uses.begin(), g.uses.end(),
            [](const graph_state::use& a, const graph_state::use& b) { return comes_before(*a.handle, *b.handle); });
}

// The slot of access i of r; or if r has named the handle before, i is marked as a repetition. Returns whether
// something of the library's own must come before r.
[[nodiscard]] bool look_up(graph_state& g, record& r, std::uint32_t i) {
  access& a = r.accesses()[i];
  const handle_state& h = weft::access::handle_of(a);
  const std::uint32_t slot = g.order->slot_of(weft::access::handle_of(a));
  if (!g.order->name(slot)) [[likely]] {
    a.required = slot;
    const std::uint8_t group = weft::access::group_of(a);
    return g.order->must_apply_first(slot, group) || g.order->needs_join(slot, group);
  }
  std::uint32_t first = 0;
  while (&weft::access::handle_of(r.accesses()[first]) != &h) ++first;
  weft::access::repeat(r.accesses()[first], a);
  return false;
}

// Returns whether something of the library's own must come before r. Errors: weft::error.
[[nodiscard]] bool check(graph_state& g, record& r) {
  const unsigned workers =
      g.engine != nullptr ? static_cast<sched::any_engine*>(g.engine)->workers() : record::unpinned;
  if (r.pin != record::unpinned && r.pin >= workers)
    throw error("weft: a task of a graph is pinned to worker " + std::to_string(r.pin) +
                ", but there are only workers " + "0 to " + std::to_string(workers - 1));
  g.order->begin();
  bool is_behind_more = false;
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    is_behind_more |= look_up(g, r, i);
    const handle_state& h = weft::access::handle_of(r.accesses()[i]);
    if (g.engine == nullptr && weft::access::kind_of(r.accesses()[i]) == kind_reduce)
      throw error("weft: a graph without a runtime cannot reduce on " + weft::access::name_of(h) +
                  "; add to it, or give the graph a runtime");
    if (is_made_since(h, g.runs.state()))
      throw error("weft: a graph cannot hold handle " + weft::access::name_of(h) +
                  ": it was made while the graph is recorded, and may be gone when it runs; make it before");
  }
  return is_behind_more;
}

// What must be applied, and where many would wait for many a join.
void add_before(graph_state& g, record& r) {
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    const access& a = r.accesses()[i];
    if (weft::access::is_repeated(a)) continue;
    const std::uint32_t slot = slot_of(a);
    if (g.order->must_apply_first(slot, weft::access::group_of(a))) add_apply(g, slot);
    if (g.order->needs_join(slot, weft::access::group_of(a))) add_join(g, slot);
  }
}

}  // namespace

record* graph_recording::allocate(std::size_t bytes, std::size_t closure_bytes) {
  return &new_node(of, bytes, closure_bytes);
}

void graph_recording::discard(record*) noexcept {
  WEFT_ASSERT(!of.chunks.empty() && of.last_lines != 0);
  of.chunks.back().used -= of.last_lines;
  of.last_lines = 0;
}

std::uint8_t graph_recording::near(const near_clause* hints, std::size_t count) noexcept {
  return of.engine != nullptr ? of.engine->near(hints, count) : std::uint8_t{0};
}

void graph_recording::add(record* r, void (*destroy)(record& r)) {
  bool is_behind_more = false;
  try {
    is_behind_more = check(of, *r);
  } catch (...) {
    if (destroy != nullptr) destroy(*r);
    discard(r);
    throw;
  }
  if (is_behind_more) add_before(of, *r);
  keep(of, *r, destroy);
}

void invoke_graph(record& r, errand what) {
  graph_state& g = **static_cast<graph_state**>(r.closure());
  if (what != errand::destroy) g.engine->run_graph(r, g);
}

}  // namespace detail

void runtime::submit(graph& g) { g.submit(); }

detail::engine_base* graph::engine_of(runtime& rt) noexcept { return rt.engine_; }

static graph_state* make_state() {
  auto made = std::make_unique<graph_state>();
  made->order = std::make_unique<access::dependences>();
  return made.release();
}

graph::graph(detail::engine_base* engine) : state_(make_state()) {
  state_->engine = engine;
  state_->runs.name("runs of a graph");
  detail::record& root = state_->root;
  root.kind = detail::record_kind::scope;
  begin(root, detail::record_state::running);
  root.size_class = detail::kept_record;
  root.pin = detail::record::unpinned;
}

graph::~graph() {
  state_->runs.state().drain();
  for (const graph_state::about& a : state_->nodes)
    if (a.destroy != nullptr) a.destroy(a.node->task);
  delete state_;
}

// What is written by reduces at the end is applied by a node if the graph does anything else with it, else by whoever
// comes next.
void graph::seal() {
  graph_state& g = *state_;
  for (std::uint32_t i = 0; i < g.order->slots().size(); ++i)
    if (const access::dependences::slot& s = g.order->slots()[i]; s.mixed && s.group == detail::kind_reduce)
      detail::add_apply(g, i);
  const access::dependences& order = *g.order;
  const std::uint32_t n = order.tasks();
  WEFT_ASSERT(n == g.nodes.size());
  std::vector<std::uint32_t> count(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    graph_node& x = *g.nodes[i].node;
    x.predecessors = static_cast<std::uint32_t>(order.end(i) - order.begin(i));
    detail::poke(x.missing, x.predecessors);
    if (x.predecessors == 0) g.roots.push_back(&x);
    for (const std::uint32_t* p = order.begin(i); p != order.end(i); ++p) ++count[*p];
  }
  g.edges = std::make_unique_for_overwrite<graph_node*[]>(order.edges());
  g.edge_count = order.edges();
  std::vector<graph_node**> next(n);
  graph_node** from = g.edges.get();
  for (std::uint32_t i = 0; i < n; ++i) {
    g.nodes[i].node->successors = count[i] != 0 ? from : nullptr;
    next[i] = from;
    from += count[i];
    g.sinks += count[i] == 0 ? 1 : 0;
  }
  for (std::uint32_t i = 0; i < n; ++i)
    for (const std::uint32_t* p = order.begin(i); p != order.end(i); ++p) *next[*p]++ = g.nodes[i].node;
  for (std::uint32_t i = 0; i < n; ++i)
    if (count[i] != 0) {
      graph_node*& last = next[i][-1];
      last = reinterpret_cast<graph_node*>(reinterpret_cast<std::uintptr_t>(last) | 1);
    }
  for (const access::dependences::slot& s : order.slots()) {
    if (s.accesses == 0) continue;  // named only by what could not be recorded
    const bool as_it_is = !s.mixed && s.group < detail::group_user;
    g.uses.push_back({s.handle, as_it_is ? s.group : detail::kind_write, s.reduces, s.accesses});
  }
  g.uses.push_back({&g.runs.state(), detail::kind_write, false, 1});
  detail::sort_uses(g);
  g.order.reset();
}

// Its accesses: each advances the version by as many as nodes have.
void graph::submit() {
  graph_state& g = *state_;
  if (g.engine == nullptr) return run();
  detail::engine_base& e = *g.engine;
  std::uint32_t count = 0;
  unsigned exclusives = 0;
  for (const graph_state::use& u : g.uses) {
    count += u.accesses == 1 ? 1 : 2;
    exclusives += u.kind == detail::kind_add ? 1 : 0;
  }
  const std::size_t bytes = sizeof(detail::record) + count * sizeof(detail::access) + sizeof(graph_state*);
  detail::record* const r = detail::allocate(e, detail::self(), bytes);
  detail::prepare(*r, &detail::invoke_graph, bytes, count, static_cast<std::uint8_t>(std::min(exclusives, 2u)), false);
  r->subtasks = true;
  r->name = g.name;
  r->cost_ps = detail::record::charged_bit;
  detail::access* a = r->accesses();
  for (const graph_state::use& u : g.uses) {
    *a++ = {reinterpret_cast<std::uintptr_t>(u.handle) | detail::kind_bits(u.kind), 0};
    if (u.accesses != 1) {
      *a = access::amount_entry(a[-1], u.accesses);
      ++a;
    }
  }
  WEFT_ASSERT(a == r->accesses() + count);
  new (r->closure()) graph_state*(&g);
  e.enter(r);
}

void graph::run() {
  if (state_->engine == nullptr) {
    for (const graph_state::about& a : state_->nodes) a.node->task.invoke(a.node->task, detail::errand::call);
    return;
  }
  const detail::worker* const w = detail::self();
  try {
    if (w != nullptr && w->engine == state_->engine) {
      finish([this] { submit(); });
    } else {
      submit();
      state_->engine->wait_handle(state_->runs.state());
    }
  } catch (...) {
    state_->engine->heal(*state_);
    throw;
  }
}

void graph::rebind(detail::handle_state& recorded, detail::handle_state& now, bool is_reduction) {
  graph_state& g = *state_;
  if (&recorded == &now) return;
  if (!g.runs.idle()) try {
      g.engine->wait_handle(g.runs.state());
    } catch (...) {
      if (!g.runs.idle()) throw;  // else a run has failed, and a wait will tell
    }
  const auto used = [&](const detail::handle_state& h) {
    return std::find_if(g.uses.begin(), g.uses.end(), [&](const graph_state::use& u) { return u.handle == &h; });
  };
  const auto at = used(recorded);
  if (at == g.uses.end())
    throw error("weft: a graph is bound to handle " + access::name_of(now) + " in the place of " +
                access::name_of(recorded) + ", which it does not name");
  if (used(now) != g.uses.end())
    throw error("weft: a graph is bound to handle " + access::name_of(now) +
                ", which it uses already; its nodes would need another order");
  if (at->reduces && !is_reduction)
    throw error("weft: a graph reduces on " + access::name_of(recorded) + "; bind it as a reduction to another one");
  at->handle = &now;
  detail::sort_uses(g);
  for (const graph_state::about& x : g.nodes)
    for (std::uint32_t i = 0; i < x.node->task.access_count; ++i)
      if (detail::access& a = x.node->task.accesses()[i]; &access::handle_of(a) == &recorded)
        a.handle_and_kind = (a.handle_and_kind & ~detail::handle_address_mask) | reinterpret_cast<std::uintptr_t>(&now);
}

void graph::name(const char* text) noexcept { state_->name = text; }
std::size_t graph::nodes() const noexcept { return state_->nodes.size(); }
std::size_t graph::edges() const noexcept { return state_->edge_count; }
std::uint64_t graph::runs() const noexcept { return state_->runs.version(); }

}  // namespace weft
