#include "model/machine_costs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "model/network_section.hpp"
#include "model/toml_section.hpp"

namespace weft::model {

namespace {

// Between two cores of a Zen 4 server, by weft's own measurement in 2026: what a machine costs that says nothing.
constexpr std::uint64_t transfer_default_ps = 167'000;
// Nobody measured this one; a round number of the right size for servers of these years.
constexpr std::uint64_t read_line_default_ps = 100'000;
// Scheduler state that no cache has lies in rows, and is fetched ahead: by weft calibrate on a Zen 5 server in 2026, 20
// ns where a line by itself takes 161 ns.
constexpr std::uint64_t fetched_ahead = 8;

constexpr std::uint64_t page_bytes_min = 4096;

constexpr unsigned inner = 1;
constexpr unsigned outer = 2;
constexpr unsigned node = 3;

std::uint64_t whole(double x) { return static_cast<std::uint64_t>(std::llround(x)); }

void take(const section& s, std::string_view key, quantity q, std::uint64_t& into) {
  if (const auto x = s.number(key, q)) into = whole(*x);
}

void take(const section& s, std::string_view key, quantity q, double& into) {
  if (const auto x = s.number(key, q)) into = *x;
}

std::string per_class(unsigned classes) {
  return classes == 1 ? "for the one memory node" : "for node distances 0 to " + std::to_string(classes - 1);
}

// A cost for each class of node distance, which may not get less with distance.
void take_by_class(const section& s, std::string_view key, unsigned classes, std::vector<std::uint64_t>& into) {
  const auto all = s.numbers(key, quantity::time, classes, per_class(classes));
  if (!all) return;
  for (std::size_t i = 1; i < all->size(); ++i)
    if ((*all)[i] < (*all)[i - 1])
      s.fail(key, "it gets less with distance: value " + std::to_string(i + 1) + " is below the one before");
  into.clear();
  for (const double x : *all) into.push_back(whole(x));
}

void read_transfer(const section& lines, machine& m) {
  const auto s = lines.inside("transfer");
  if (!s) return;
  s->only({"inner", "outer", "node"});
  auto& ps = m.lines.transfer_ps;
  std::vector<std::uint64_t> nodes;
  take_by_class(*s, "node", m.classes, nodes);
  if (nodes.empty()) nodes.assign(m.classes, transfer_default_ps);
  ps.assign({0, 0, 0});
  ps.insert(ps.end(), nodes.begin(), nodes.end());
  ps[outer] = ps[node];
  take(*s, "outer", quantity::time, ps[outer]);
  ps[inner] = ps[outer];
  take(*s, "inner", quantity::time, ps[inner]);
  if (ps[inner] > ps[outer])
    s->fail(s->has("outer") ? "outer" : "inner", "it gets less with distance: outer is below inner");
  if (ps[outer] > ps[node])
    s->fail(s->has("node") ? "node" : "outer", "it gets less with distance: node is below outer");
}

void read_lines(const section& top, machine& m) {
  const auto s = top.inside("lines");
  if (!s) return;
  s->only({"load", "store", "modify", "transfer", "memory", "kept", "invalidate", "probe"});
  take(*s, "load", quantity::time, m.lines.load_ps);
  take(*s, "store", quantity::time, m.lines.store_ps);
  take(*s, "modify", quantity::time, m.lines.modify_ps);
  read_transfer(*s, m);
  take_by_class(*s, "memory", m.classes, m.lines.memory_ps);
  if (const auto kept = s->number("kept", quantity::count)) m.lines.kept = static_cast<unsigned>(*kept);
  take(*s, "invalidate", quantity::time, m.lines.invalidate_ps);
  if (const auto probe = s->text("probe")) {
    if (*probe != "sharers" && *probe != "all") s->fail("probe", "it must be \"sharers\" or \"all\"");
    m.lines.probes_all = *probe == "all";
  }
}

void read_runtime(const section& top, machine& m) {
  const auto s = top.inside("runtime");
  if (!s) return;
  s->only({"submit", "submit_access", "run", "run_access", "advance", "steal", "request", "relax", "switch", "body",
           "sleep", "waker", "wake"});
  for (std::size_t i = 0; i < steps; ++i) take(*s, step_names[i], quantity::time, m.runtime.step_ps[i]);
  take(*s, "relax", quantity::time, m.runtime.relax_ps);
  // Every loop that waits or searches pauses, and every other step ends: with this one time gets on whatever else is 0.
  if (m.runtime.relax_ps == 0)
    s->fail("relax", "a waiting loop would take no time, so time would never advance; it must be at least 1 ps");
  take(*s, "switch", quantity::time, m.runtime.switch_ps);
  take(*s, "body", quantity::time, m.runtime.body_ps);
  take(*s, "sleep", quantity::time, m.runtime.sleep_ps);
  take(*s, "waker", quantity::time, m.runtime.waker_ps);
  take(*s, "wake", quantity::time, m.runtime.wake_ps);
}

cache read_cache(const section& s) {
  s.only({"shared_by", "size", "rate"});
  cache c;
  const auto who = s.text("shared_by");
  if (!who) s.fail("", "the key shared_by is missing");
  if (*who == "core")
    c.who = cache::shared_by::core;
  else if (*who == "inner")
    c.who = cache::shared_by::inner;
  else if (*who == "outer")
    c.who = cache::shared_by::outer;
  else
    s.fail("shared_by", "it must be \"core\", \"inner\" or \"outer\"");
  if (!s.has("size")) s.fail("", "the key size is missing");
  take(s, "size", quantity::bytes, c.bytes);
  if (c.bytes == 0) s.fail("size", "a cache of no size is none");
  take(s, "rate", quantity::rate, c.bytes_per_ns);
  return c;
}

void read_pages(const section& memory, machine& m) {
  const auto s = memory.inside("pages");
  if (!s) return;
  s->only({"size", "migrate", "scan", "scan_most", "fault", "move", "copy"});
  page_costs& p = m.memory.pages;
  take(*s, "size", quantity::bytes, p.bytes);
  if (s->has("size") && p.bytes < page_bytes_min) s->fail("size", "a page has at least 4 KiB");
  p.migrate = s->flag("migrate").value_or(false);
  take(*s, "scan", quantity::time, p.scan_ps);
  take(*s, "scan_most", quantity::time, p.scan_most_ps);
  take(*s, "fault", quantity::time, p.fault_ps);
  take(*s, "move", quantity::time, p.move_ps);
  take(*s, "copy", quantity::rate, p.copy_bytes_per_ns);
  p.scan_most_ps = std::max(p.scan_ps, p.scan_most_ps);
  if (!p.migrate) return;
  for (const char* key : {"size", "scan", "fault", "move", "copy"})
    if (!s->has(key)) s->fail("", std::string("pages that migrate need the key ") + key);
  if (p.scan_ps == 0) s->fail("scan", "a page would be looked at without end; it must be at least 1 ps");
}

void read_memory(const section& top, machine& m) {
  const auto s = top.inside("memory");
  if (!s) return;
  s->only({"caches", "chunk", "controller", "link", "read_line", "write_line", "lines_in_flight", "home", "pages"});
  for (const section& one : s->each("caches")) {
    const cache c = read_cache(one);
    if (!m.memory.caches.empty() && c.who < m.memory.caches.back().who)
      one.fail("shared_by", "caches stand nearest first: core, inner, outer");
    if (m.memory.caches.size() == 8) one.fail("", "there are more than 8 caches");
    m.memory.caches.push_back(c);
  }
  take(*s, "chunk", quantity::bytes, m.memory.chunk_bytes);
  constexpr std::uint64_t line_bytes = 64;
  if (m.memory.chunk_bytes < line_bytes) s->fail("chunk", "it must be at least a line of 64 bytes");
  take(*s, "controller", quantity::rate, m.memory.controller_bytes_per_ns);
  if (s->has("link") && m.classes == 1) s->fail("link", "there is one memory node, so there are no links");
  if (const auto link = s->numbers("link", quantity::rate, m.classes - 1,
                                   "for node distances 1 to " + std::to_string(m.classes - 1))) {
    m.memory.link_bytes_per_ns.assign(1, 0);
    m.memory.link_bytes_per_ns.insert(m.memory.link_bytes_per_ns.end(), link->begin(), link->end());
  }
  take_by_class(*s, "read_line", m.classes, m.memory.read_line_ps);
  take_by_class(*s, "write_line", m.classes, m.memory.write_line_ps);
  take(*s, "lines_in_flight", quantity::count, m.memory.lines_in_flight);
  const std::string home = s->text("home").value_or("first_touch");
  if (home != "first_touch" && home != "interleave") s->fail("home", "it must be \"first_touch\" or \"interleave\"");
  m.memory.placement = home == "first_touch" ? memory_costs::home::first_touch : memory_costs::home::interleave;
  read_pages(*s, m);
}

void read_energy(const section& top, machine& m) {
  const auto s = top.inside("energy");
  if (!s) return;
  s->only({"running", "searching", "asleep", "local", "remote"});
  const auto take_all = [&](std::string_view key, quantity q, double& into) {
    if (!s->has(key)) s->fail("", "the key " + std::string(key) + " is missing");
    take(*s, key, q, into);
  };
  take_all("running", quantity::power, m.energy.running_w);
  take_all("searching", quantity::power, m.energy.searching_w);
  take_all("asleep", quantity::power, m.energy.asleep_w);
  take_all("local", quantity::energy, m.energy.local_pj);
  take_all("remote", quantity::energy, m.energy.remote_pj);
  m.energy.known = true;
}

}  // namespace

void default_costs(machine& m) {
  if (m.lines.transfer_ps.empty()) {
    m.lines.transfer_ps.assign(node + m.classes, transfer_default_ps);
    m.lines.transfer_ps[0] = 0;
  }
  if (m.memory.read_line_ps.empty()) m.memory.read_line_ps.assign(m.classes, read_line_default_ps);
  if (m.lines.memory_ps.empty())
    for (const std::uint64_t alone : m.memory.read_line_ps) m.lines.memory_ps.push_back(alone / fetched_ahead);
  if (m.memory.write_line_ps.empty()) m.memory.write_line_ps = m.memory.read_line_ps;
  if (m.memory.link_bytes_per_ns.empty()) m.memory.link_bytes_per_ns.assign(m.classes, 0);
}

void read_costs(const section& top, machine& m) {
  read_lines(top, m);
  read_runtime(top, m);
  read_memory(top, m);
  read_energy(top, m);
  m.network = read_network(top);
  default_costs(m);
}

}  // namespace weft::model
