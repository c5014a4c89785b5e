#include "model/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "base/assert.hpp"
#include "memory/home.hpp"

namespace weft::model {
namespace {

constexpr double line_bytes = 64;

std::size_t nodes_of(const machine& m) {
  std::size_t nodes = std::max<std::size_t>(1, m.apart.size());
  for (const core& c : m.cores) nodes = std::max<std::size_t>(nodes, c.at.node + std::size_t{1});
  return nodes;
}

// Of a machine that says nothing about its nodes, all others are equally far.
machine with_distances(machine m) {
  const std::size_t nodes = nodes_of(m);
  if (m.apart.empty()) {
    m.apart.assign(nodes, std::vector<unsigned>(nodes, 1));
    for (std::size_t n = 0; n < nodes; ++n) m.apart[n][n] = 0;
  }
  WEFT_ASSERT(m.apart.size() == nodes);
  return m;
}

// A file names as many classes as it has distances; a class beyond them is as far as the farthest.
template <class T> T at_or_last(const std::vector<T>& values, std::size_t i) {
  return values.empty() ? T{} : values[std::min(i, values.size() - 1)];
}

double ns(std::uint64_t ps) { return static_cast<double>(ps) / 1000; }

constexpr double longest_ns = 1e15;  // 11 days: what a machine file says is bounded, bytes times that is not

}  // namespace

memory::memory(const machine& m)
    : machine_(with_distances(m)), nodes_(nodes_of(m)), caches_(m), sharing_(m.cores.size()),
      computing_(m.cores.size()), controllers_(nodes_, none), links_(nodes_ * nodes_, none), bodies_(m.cores.size()),
      pages_(m.memory.pages, m.memory.chunk_bytes), paging_(m.cores.size()) {
  const memory_costs& costs = machine_.memory;
  WEFT_ASSERT(costs.chunk_bytes > 0 && costs.chunk_bytes <= std::numeric_limits<std::uint32_t>::max());
  std::size_t classes = 1;
  for (std::size_t a = 0; a < nodes_; ++a) {
    if (costs.controller_bytes_per_ns > 0) controllers_[a] = sharing_.add_resource(costs.controller_bytes_per_ns);
    for (std::size_t b = 0; b < nodes_; ++b) {
      classes = std::max(classes, class_of(a, b) + std::size_t{1});
      const double rate = a == b ? 0 : at_or_last(costs.link_bytes_per_ns, class_of(a, b));
      if (rate > 0) links_[a * nodes_ + b] = sharing_.add_resource(rate);
    }
  }
  find_units();
  if (costs.pages.migrate) page_lock_ = paging_.add_resource(1);  // ns of it in each ns
  sources_.level.resize(costs.caches.size());
  sources_.core.resize(3 + classes);
  sources_.far.resize(nodes_);
  sources_.read.resize(nodes_);
  sources_.written.resize(nodes_);
  moved_.level_bytes.resize(costs.caches.size());
  moved_.core_bytes.resize(3 + classes);
  moved_.memory_bytes.resize(classes);
  moved_.node_bytes.resize(nodes_);
}

void memory::find_units() {
  units_.assign(machine_.cores.size(), none);
  const auto all = static_cast<double>(machine_.cores.size());
  if (machine_.speed_when_busy < 1 && all > 1)
    whole_ = computing_.add_resource(std::max(1.0, all * machine_.speed_when_busy));
  if (machine_.speed_when_shared == 1) return;
  const std::vector<unsigned> together = cores_of_physical(machine_);
  std::vector<std::uint32_t> of(together.size(), none);
  for (std::size_t p = 0; p < together.size(); ++p)
    if (together[p] > 1) of[p] = computing_.add_resource(std::max(1.0, together[p] * machine_.speed_when_shared));
  for (std::size_t c = 0; c < units_.size(); ++c) units_[c] = of[machine_.cores[c].physical];
}

double memory::of_units(unsigned core, const char* task_name) const noexcept {
  if (!shares_computing(core)) return 0;
  if (task_name != nullptr)
    for (const task_speed& s : machine_.shared_speed_of)
      if (s.task == task_name) return s.speed < 1 ? machine_.speed_when_shared / s.speed : 0;
  return 1;
}

std::uint64_t memory::begin(unsigned core, std::span<const use> uses, std::uint64_t now_ps, std::uint64_t compute_ps,
                            std::vector<change>& changed, double of_units) {
  WEFT_ASSERT(core < bodies_.size() && !bodies_[core].active && of_units >= 0);
  body& b = bodies_[core];
  for (const use& u : uses)
    if (u.bytes != 0) move(core, u, now_ps);
  const std::size_t here = machine_.cores[core].at.node;
  const double moving_ns = std::min(price_alone(here), longest_ns);
  find_demands(here);
  book(here);
  clear();
  const std::uint64_t paging_ps = paging_now_.alone_ps;
  const double alone_ns = std::max(moving_ns, ns(compute_ps)) + ns(paging_ps);
  const std::uint64_t alone_ps =
      std::max(compute_ps, static_cast<std::uint64_t>(std::llround(moving_ns * 1000))) + paging_ps;
  b = {true, now_ps, compute_ps, paging_ps, alone_ps, now_ps + alone_ps, now_ps + compute_ps, now_ps};
  if (!demands_.empty()) {
    const double bytes = static_cast<double>(flow_bytes_);
    const double cap = alone_ns > 0 ? bytes / alone_ns : std::numeric_limits<double>::infinity();
    b.moved_ps = sharing_.start(core, bytes, cap, demands_, now_ps, moved_now_);
  }
  if (shares_computing(core) && compute_ps != 0 && of_units > 0) start_computing(core, now_ps, of_units, computed_now_);
  if (paging_now_.locked_ps != 0) start_paging(core, now_ps);
  paging_now_ = {};
  tell(changed);
  return b.end_ps();
}

void memory::start_paging(unsigned core, std::uint64_t now_ps) {
  body& b = bodies_[core];
  const sharing::demand whole{page_lock_, 1};
  const double locked_ns = ns(paging_now_.locked_ps);
  b.paged_ps = paging_.start(core, locked_ns, locked_ns / ns(b.alone_ps), {&whole, 1}, now_ps, paged_now_);
}

void memory::start_computing(unsigned core, std::uint64_t now_ps, double of_units, std::vector<change>& changed) {
  body& b = bodies_[core];
  std::array<sharing::demand, 2> through{};
  std::size_t n = 0;
  if (units_[core] != none) through[n++] = {units_[core], 1};
  if (whole_ != none)
    through[n++] = {whole_, std::min(1.0, 1 / of_units)};  // one core's part, whatever it needs of units
  const double busy_ns = ns(b.compute_ps) * of_units;
  const double cap = busy_ns / ns(b.alone_ps);  // in step with its data
  b.computed_ps = computing_.start(core, busy_ns, cap, {through.data(), n}, now_ps, changed);
}

// What has changed of any flow, as ends of bodies, each once.
void memory::tell(std::vector<change>& changed) {
  for (const change& c : moved_now_) bodies_[c.core].moved_ps = c.end_ps;
  for (const change& c : computed_now_) bodies_[c.core].computed_ps = c.end_ps;
  for (const change& c : paged_now_) bodies_[c.core].paged_ps = c.end_ps;
  const auto first = static_cast<std::ptrdiff_t>(changed.size());
  for (std::vector<change>* const flow : {&moved_now_, &computed_now_, &paged_now_}) {
    const auto before = static_cast<std::ptrdiff_t>(changed.size());  // of this flow nobody is told twice
    for (const change& c : *flow) {
      const auto told = [&c](const change& x) { return x.core == c.core; };
      if (std::none_of(changed.begin() + first, changed.begin() + before, told))
        changed.push_back({c.core, bodies_[c.core].end_ps()});
    }
    flow->clear();
  }
}

void memory::end(unsigned core, std::uint64_t now_ps, std::vector<change>& changed) {
  WEFT_ASSERT(core < bodies_.size());
  body& b = bodies_[core];
  WEFT_ASSERT(b.active && now_ps >= b.began_ps);
  const std::uint64_t took_ps = std::min(now_ps, b.end_ps()) - b.began_ps;
  const std::uint64_t alone_ps = std::min(took_ps, b.alone_ps);
  const std::uint64_t compute_ps = std::min(took_ps, b.compute_ps);
  moved_.bodies_ps += took_ps;
  moved_.computing_ps += compute_ps;
  const std::uint64_t paging_ps = std::min(alone_ps - compute_ps, b.paging_ps);
  moved_.latency_ps += alone_ps - compute_ps - paging_ps;
  moved_.paging_ps += paging_ps;
  const bool is_paging_last = b.paged_ps > std::max(b.moved_ps, b.computed_ps);
  (is_paging_last                ? moved_.paging_ps
   : b.moved_ps >= b.computed_ps ? moved_.bandwidth_ps
                                 : moved_.units_ps) += took_ps - alone_ps;
  b.active = false;
  if (sharing_.active(core)) sharing_.stop(core, now_ps, moved_now_);
  if (computing_.active(core)) computing_.stop(core, now_ps, computed_now_);
  if (paging_.active(core)) paging_.stop(core, now_ps, paged_now_);
  tell(changed);
}

void memory::forget(std::uint32_t region) {
  if (region >= regions_.size()) return;
  for (std::uint32_t at = regions_[region].first; at != none;) {
    caches_.drop(at);
    const std::uint32_t next = chunks_[at].next;
    chunks_[at].next = free_;
    free_ = at;
    at = next;
  }
  regions_[region] = {};
}

bytes_by_kind memory::kinds() const noexcept {
  bytes_by_kind k;
  for (unsigned level = 0; level < caches_.levels(); ++level)
    (caches_.is_shared(level) ? k.shared : k.own) += moved_.level_bytes[level];
  for (const std::uint64_t bytes : moved_.core_bytes) k.modified += bytes;
  for (std::size_t c = 0; c < moved_.memory_bytes.size(); ++c) (c == 0 ? k.local : k.remote) += moved_.memory_bytes[c];
  k.written_back = caches_.written_back();
  return k;
}

sharing::use_of_time memory::controller(unsigned node, std::uint64_t now_ps) const {
  return controllers_[node] == none ? sharing::use_of_time{} : sharing_.times(controllers_[node], now_ps);
}

std::uint32_t memory::home(std::uint32_t region) const noexcept {
  if (region >= regions_.size() || regions_[region].first == none) return none;
  const std::size_t node = home_of(chunks_[regions_[region].first]);
  for (std::uint32_t at = chunks_[regions_[region].first].next; at != none; at = chunks_[at].next)
    if (home_of(chunks_[at]) != node) return none;
  return static_cast<std::uint32_t>(node);
}

// --- where the bytes come from

void memory::move(unsigned core, const use& u, std::uint64_t now_ps) {
  const std::size_t here = machine_.cores[core].at.node;
  cover(u, here);
  std::uint64_t left = u.bytes;
  for (std::uint32_t at = regions_[u.region].first; left != 0; at = chunks_[at].next) {
    const chunk& c = chunks_[at];
    const std::uint64_t bytes = std::min<std::uint64_t>(left, c.bytes);
    const std::size_t home = home_of(c);
    if (c.page != none) {
      const page_migration::cost more = pages_.touch(c.page, here, now_ps);
      paging_now_.alone_ps += more.alone_ps, paging_now_.locked_ps += more.locked_ps;
    }
    count(core, u.writes, home, caches_.touch(core, at, c.bytes, u.writes), bytes);
    left -= bytes;
  }
}

// The region has chunks for all the bytes of the use. A last chunk that was not whole and grows is another piece of
// data to the caches, since they count what it occupies; it stays at home.
void memory::cover(const use& u, std::size_t here) {
  extent& r = region(u.region);
  if (u.bytes <= r.bytes) return;
  const std::uint64_t whole = machine_.memory.chunk_bytes;
  if (r.last != none) {
    chunk& c = chunks_[r.last];
    const std::uint64_t before = r.bytes - c.bytes;
    const auto bytes = static_cast<std::uint32_t>(std::min(whole, u.bytes - before));
    if (bytes != c.bytes) caches_.drop(r.last);
    c.bytes = bytes;
    r.bytes = before + bytes;
  }
  while (r.bytes < u.bytes) {
    const std::uint32_t at = new_chunk();
    const std::uint32_t page = r.range == 0 ? none : page_of_new(r, here);
    const std::size_t home = page == none ? home_of_new(u.region, r, here) : none;
    const std::uint64_t bytes = std::min(whole, u.bytes - r.bytes);
    chunks_[at] = {static_cast<std::uint32_t>(home), static_cast<std::uint32_t>(bytes), none, page};
    (r.last == none ? r.first : chunks_[r.last].next) = at;
    r.last = at;
    r.bytes += bytes;
  }
}

memory::extent& memory::region(std::uint32_t number) {
  if (number >= regions_.size()) regions_.resize(std::max<std::size_t>(number + std::size_t{1}, 2 * regions_.size()));
  return regions_[number];
}

void memory::place(std::uint32_t number, const detail::data_layout& layout, std::uint64_t range) {
  extent& r = region(number);
  WEFT_ASSERT(r.first == none && layout.whole > layout.offset);
  r.layout = static_cast<std::uint32_t>(layouts_.size());
  r.range = pages_.is_on() ? range : 0;
  layouts_.push_back(layout);
}

// Of the next chunk. A page is whole on one node, where its first byte belongs.
std::uint32_t memory::page_of_new(const extent& r, std::size_t here) {
  const detail::data_layout& l = layouts_[r.layout];
  const std::uint64_t at = l.offset + r.bytes, unit = pages_.unit_bytes();
  const std::uint32_t found = pages_.find(r.range, at);
  if (found != none) return found;
  const weft::memory::shape machine{static_cast<unsigned>(nodes_), unit};
  const bool spread = machine_.memory.placement == memory_costs::home::interleave;
  const std::size_t unsaid = spread ? at / unit % nodes_ : here;
  const std::size_t home = weft::memory::node_of_byte(l.how, l.whole, at / unit * unit, machine).value_or(unsaid);
  return pages_.make(r.range, at, home);
}

// Of the chunk that begins where the region ends so far.
std::size_t memory::home_of_new(std::uint32_t number, const extent& r, std::size_t here) const {
  const std::uint64_t chunk_bytes = machine_.memory.chunk_bytes;
  if (r.layout == none) {
    // By number of region and chunk, not by order of arrival: the schedule does not move data.
    const bool spread = machine_.memory.placement == memory_costs::home::interleave;
    return spread ? (number + r.bytes / chunk_bytes) % nodes_ : here;
  }
  const detail::data_layout& l = layouts_[r.layout];
  const weft::memory::shape machine{static_cast<unsigned>(nodes_), chunk_bytes};
  return weft::memory::node_of_byte(l.how, l.whole, l.offset + r.bytes, machine).value_or(here);
}

std::uint32_t memory::new_chunk() {
  if (free_ == none) {
    WEFT_ASSERT(chunks_.size() < none);
    chunks_.push_back({});
    return static_cast<std::uint32_t>(chunks_.size() - 1);
  }
  const std::uint32_t at = free_;
  free_ = chunks_[at].next;
  return at;
}

void memory::count(unsigned core, bool writes, std::size_t home, caches::source from, std::uint64_t bytes) {
  switch (from.where) {
  case caches::source::kind::level: sources_.level[from.number] += bytes; return;
  case caches::source::kind::memory: (writes ? sources_.written : sources_.read)[home] += bytes; return;
  case caches::source::kind::core: {
    const place::core& owner = machine_.cores[from.number].at;
    if (owner.node == machine_.cores[core].at.node)
      sources_.core[machine_.distance(core, from.number)] += bytes;
    else
      sources_.far[owner.node] += bytes;
  }
  }
}

// --- what that takes

double memory::line_ns(const std::vector<std::uint64_t>& costs_ps, std::size_t at) const {
  const double overlap = machine_.memory.lines_in_flight;
  return overlap > 0 ? ns(at_or_last(costs_ps, at)) / overlap : 0;
}

// Time to move the bytes as fast as one core can, from controllers and links that have no limit.
double memory::price_alone(std::size_t here) const {
  const memory_costs& costs = machine_.memory;
  const std::vector<std::uint64_t>& write_ps = costs.write_line_ps.empty() ? costs.read_line_ps : costs.write_line_ps;
  double sum = 0;
  const auto lines = [&sum](std::uint64_t bytes, double each_ns) {
    sum += static_cast<double>(bytes) / line_bytes * each_ns;
  };
  for (std::size_t level = 0; level < sources_.level.size(); ++level)
    if (costs.caches[level].bytes_per_ns > 0)
      sum += static_cast<double>(sources_.level[level]) / costs.caches[level].bytes_per_ns;
  for (std::size_t distance = 0; distance < sources_.core.size(); ++distance)
    if (sources_.core[distance] != 0) lines(sources_.core[distance], line_ns(machine_.lines.transfer_ps, distance));
  for (std::size_t node = 0; node < nodes_; ++node) {
    const unsigned apart = class_of(here, node);
    if (sources_.far[node] != 0) lines(sources_.far[node], line_ns(machine_.lines.transfer_ps, 3 + apart));
    if (sources_.read[node] != 0) lines(sources_.read[node], line_ns(costs.read_line_ps, apart));
    if (sources_.written[node] != 0) lines(sources_.written[node], line_ns(write_ps, apart));
  }
  return sum;
}

// What of it passes a controller or a link with a limit: flow_bytes_ in all, demands_ by resource.
void memory::find_demands(std::size_t here) {
  flow_bytes_ = 0;
  demands_.clear();
  const auto pass = [this](std::uint32_t resource, std::uint64_t bytes) {
    if (resource != none && bytes != 0) demands_.push_back({resource, static_cast<double>(bytes)});
  };
  for (std::size_t node = 0; node < nodes_; ++node) {
    const std::uint64_t stored = sources_.read[node] + sources_.written[node];
    const std::uint32_t way = link(node, here);
    pass(controllers_[node], stored);
    pass(way, stored + sources_.far[node]);
    if (way != none)
      flow_bytes_ += stored + sources_.far[node];
    else if (controllers_[node] != none)
      flow_bytes_ += stored;
  }
  for (sharing::demand& d : demands_) d.part /= static_cast<double>(flow_bytes_);
}

void memory::book(std::size_t here) {
  const auto add = [](std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
    std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
  };
  add(moved_.level_bytes, sources_.level);
  add(moved_.core_bytes, sources_.core);
  add(moved_.node_bytes, sources_.read);
  add(moved_.node_bytes, sources_.written);
  for (std::size_t node = 0; node < nodes_; ++node) {
    moved_.core_bytes[3 + class_of(here, node)] += sources_.far[node];
    moved_.memory_bytes[class_of(here, node)] += sources_.read[node] + sources_.written[node];
  }
}

void memory::clear() {
  for (std::vector<std::uint64_t>* tally :
       {&sources_.level, &sources_.core, &sources_.far, &sources_.read, &sources_.written})
    std::fill(tally->begin(), tally->end(), 0);
}

}  // namespace weft::model
