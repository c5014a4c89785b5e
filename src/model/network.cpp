#include "model/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/assert.hpp"

namespace weft::model {

namespace {
constexpr auto last_first = [](const auto& a, const auto& b) { return a.later_than(b); };
}  // namespace

network::network(const network_costs& costs) : costs_(costs), fabric_(costs), sharing_(0), next_(costs.nodes) {
  for (std::uint32_t l = 0; l < fabric_.links(); ++l) static_cast<void>(sharing_.add_resource(fabric_.bytes_per_ns(l)));
}

std::uint64_t network::latency_ps(unsigned from, unsigned to) {
  fabric_.find(from, to, way_);
  return fabric_.latency_ps(way_);
}

std::uint64_t network::send(std::uint64_t message, unsigned from, unsigned to, std::uint64_t bytes,
                            std::uint64_t at_ps) {
  if (free_.empty()) {
    flights_.emplace_back();
    free_.push_back(sharing_.add_flow());
  }
  const std::uint32_t f = free_.back();
  free_.pop_back();
  flight& x = flights_[f];
  x.message = message;
  x.bytes = static_cast<double>(bytes);
  x.flows = false;
  fabric_.find(from, to, way_);
  x.links.clear();
  double slowest = std::numeric_limits<double>::infinity();
  for (const std::uint32_t l : way_.links) {
    x.links.push_back({l, 1});
    slowest = std::min(slowest, fabric_.bytes_per_ns(l));
  }
  x.from = from;
  const std::uint64_t flows = at_ps + fabric_.latency_ps(way_);
  WEFT_ASSERT(flows >= now_ps_);
  expect(f, flows);
  return flows + static_cast<std::uint64_t>(std::llround(x.bytes / slowest * 1000));
}

void network::expect(std::uint32_t f, std::uint64_t at_ps) {
  flights_[f].event = sequence_;
  events_.push_back({at_ps, sequence_++, f});
  std::push_heap(events_.begin(), events_.end(), last_first);
}

void network::drop_old() {
  while (!events_.empty() && flights_[events_.front().flight].event != events_.front().sequence) {
    std::pop_heap(events_.begin(), events_.end(), last_first);
    events_.pop_back();
  }
}

std::uint64_t network::next_ps() {
  drop_old();
  return events_.empty() ? never : events_.front().time;
}

void network::advance(std::uint64_t until_ps, std::vector<arrival>& out) {
  for (drop_old(); !events_.empty() && events_.front().time < until_ps; drop_old()) {
    const event e = events_.front();
    std::pop_heap(events_.begin(), events_.end(), last_first);
    events_.pop_back();
    WEFT_ASSERT(e.time >= now_ps_);
    now_ps_ = e.time;
    const flight& x = flights_[e.flight];
    if (x.flows)
      end(e.flight, out);
    else if (now_ps_ < next_[x.from])
      expect(e.flight, next_[x.from]);
    else
      begin(e.flight, out);
  }
}

// Its latency is over. What its node has sent less than a gap ago keeps it back here, where messages come in order of
// time.
void network::begin(std::uint32_t f, std::vector<arrival>& out) {
  flight& x = flights_[f];
  next_[x.from] = now_ps_ + costs_.gap_ps;
  if (x.bytes == 0) return end(f, out);
  x.flows = true;
  changed_.clear();
  expect(f, sharing_.start(f, x.bytes, std::numeric_limits<double>::infinity(), x.links, now_ps_, changed_));
  follow_changes();
}

void network::end(std::uint32_t f, std::vector<arrival>& out) {
  flight& x = flights_[f];
  out.push_back({now_ps_, x.message});
  x.event = never;
  if (std::exchange(x.flows, false)) {
    changed_.clear();
    sharing_.stop(f, now_ps_, changed_);
    follow_changes();
  }
  free_.push_back(f);
}

void network::follow_changes() {
  for (const change& c : changed_) expect(c.core, c.end_ps);
}

}  // namespace weft::model
