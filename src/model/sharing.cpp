#include "model/sharing.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"

namespace weft::model {
namespace {

// Sums of up to some hundred rates are exact to about this; two rates nearer than this are one, so that rounding moves
// nobody's end.
constexpr double rounding = 1e-12;

bool same(double a, double b) { return a == b || std::abs(a - b) <= rounding * std::max(a, b); }

constexpr auto higher = [](const auto& a, const auto& b) {
  return a.rate != b.rate ? a.rate > b.rate : a.resource > b.resource;
};

}  // namespace

bool sharing::resource::full() const noexcept { return load >= capacity * (1 - rounding); }

std::uint32_t sharing::add_resource(double bytes_per_ns) {
  WEFT_ASSERT(bytes_per_ns > 0);
  resources_.emplace_back().capacity = bytes_per_ns;
  return static_cast<std::uint32_t>(resources_.size() - 1);
}

std::uint64_t sharing::start(unsigned f, double bytes, double cap, std::span<const demand> demands,
                             std::uint64_t now_ps, std::vector<change>& changed) {
  flow& x = flows_[f];
  WEFT_ASSERT(!x.active && bytes > 0 && cap > 0 && !demands.empty());
  x.active = true;
  x.cap = cap;
  x.left = bytes;
  x.rate = 0;
  x.since_ps = x.end_ps = now_ps;
  x.demands.assign(demands.begin(), demands.end());
  bool fits = true;
  for (const demand& d : x.demands) {
    const resource& r = resources_[d.resource];
    account(d.resource, now_ps);
    fits = fits && r.load + d.part * cap <= r.capacity;
  }
  enter(f);
  if (fits)
    settle(f, cap, now_ps);
  else
    share_again(f, now_ps, changed);
  return x.end_ps;
}

void sharing::stop(unsigned f, std::uint64_t now_ps, std::vector<change>& changed) {
  flow& x = flows_[f];
  WEFT_ASSERT(x.active && now_ps >= x.since_ps);
  bool was_full = false;
  for (const demand& d : x.demands) {
    account(d.resource, now_ps);
    was_full = was_full || resources_[d.resource].full();
  }
  leave(f);
  x.active = false;
  if (was_full) share_again(f, now_ps, changed);
}

void sharing::enter(unsigned f) {
  flow& x = flows_[f];
  x.seats.clear();
  for (std::uint32_t i = 0; i < x.demands.size(); ++i) {
    std::vector<user>& users = resources_[x.demands[i].resource].users;
    x.seats.push_back(static_cast<std::uint32_t>(users.size()));
    users.push_back({f, i});
  }
}

void sharing::leave(unsigned f) {
  const flow& x = flows_[f];
  for (std::size_t i = 0; i < x.demands.size(); ++i) {
    resource& r = resources_[x.demands[i].resource];
    const user last = r.users.back();
    r.users[x.seats[i]] = last;
    flows_[last.flow].seats[last.demand] = x.seats[i];
    r.users.pop_back();
    r.load = r.users.empty() ? 0 : std::max(0.0, r.load - x.demands[i].part * x.rate);
  }
}

// Books the time since the last change of a resource.
void sharing::account(std::uint32_t r, std::uint64_t now_ps) {
  resource& x = resources_[r];
  x.times = times(r, now_ps);
  x.since_ps = now_ps;
}

sharing::use_of_time sharing::times(std::uint32_t r, std::uint64_t now_ps) const noexcept {
  const resource& x = resources_[r];
  WEFT_ASSERT(now_ps >= x.since_ps);
  use_of_time all = x.times;
  if (!x.users.empty()) all.busy_ps += now_ps - x.since_ps;
  if (x.full()) all.full_ps += now_ps - x.since_ps;
  return all;
}

void sharing::visit(std::uint32_t r) {
  if (resources_[r].mark == mark_) return;
  resources_[r].mark = mark_;
  reached_.push_back(r);
}

// Everything that shares a resource with the change, or with something that does.
void sharing::reach(std::span<const demand> from) {
  ++mark_;
  reached_.clear();
  reached_flows_.clear();
  for (const demand& d : from) visit(d.resource);
  for (std::size_t i = 0; i < reached_.size(); ++i)
    for (const user& u : resources_[reached_[i]].users) {
      flow& x = flows_[u.flow];
      if (x.mark == mark_) continue;
      x.mark = mark_;
      reached_flows_.push_back(u.flow);
      for (const demand& d : x.demands) visit(d.resource);
    }
  std::sort(reached_flows_.begin(), reached_flows_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return flows_[a].cap != flows_[b].cap ? flows_[a].cap < flows_[b].cap : a < b;
  });
}

// The rate at which a resource is full only rises while others are fixed below it. So an old value in the heap is a
// lower bound, and one look at the top brings it up to date: no resource is looked at for each flow that is fixed.
bool sharing::next_full(double water, level& out) {
  while (!heap_.empty()) {
    out = heap_.front();
    const resource& r = resources_[out.resource];
    const double now =
        r.rising == 0 ? 0 : std::max(water, (r.capacity - r.fixed) / std::max(r.weight, rounding * rounding));
    if (r.rising != 0 && now <= out.rate * (1 + rounding)) return true;
    std::pop_heap(heap_.begin(), heap_.end(), higher);
    heap_.pop_back();
    if (r.rising == 0) continue;
    heap_.push_back({now, out.resource});
    std::push_heap(heap_.begin(), heap_.end(), higher);
  }
  return false;
}

void sharing::fix(std::uint32_t f, double rate) {
  flow& x = flows_[f];
  x.fixed = true;
  x.filled = rate;
  for (const demand& d : x.demands) {
    resource& r = resources_[d.resource];
    r.fixed += d.part * rate;
    r.weight -= d.part;
    --r.rising;
  }
}

void sharing::fill() {
  for (const std::uint32_t r : reached_) resources_[r].fixed = resources_[r].weight = resources_[r].rising = 0;
  for (const std::uint32_t f : reached_flows_) {
    flows_[f].fixed = false;
    for (const demand& d : flows_[f].demands) {
      resources_[d.resource].weight += d.part;
      ++resources_[d.resource].rising;
    }
  }
  heap_.clear();
  for (const std::uint32_t r : reached_)
    if (resources_[r].rising != 0) heap_.push_back({resources_[r].capacity / resources_[r].weight, r});
  std::make_heap(heap_.begin(), heap_.end(), higher);
  double water = 0;
  level next{};
  for (const std::uint32_t f : reached_flows_) {
    while (!flows_[f].fixed && next_full(water, next) && next.rate < flows_[f].cap) {
      water = next.rate;
      for (const user& u : resources_[next.resource].users)
        if (!flows_[u.flow].fixed) fix(u.flow, water);
    }
    if (flows_[f].fixed) continue;
    water = flows_[f].cap;
    fix(f, water);
  }
}

// The flow goes at another rate from now on. One that is due, and only waits for its stop, stays due.
void sharing::settle(std::uint32_t f, double rate, std::uint64_t now_ps) {
  flow& x = flows_[f];
  WEFT_ASSERT(rate > 0 && now_ps >= x.since_ps);
  const bool due = x.rate > 0 && x.end_ps <= now_ps;
  x.left = std::max(0.0, x.left - x.rate * static_cast<double>(now_ps - x.since_ps) / 1000);
  for (const demand& d : x.demands) resources_[d.resource].load += d.part * (rate - x.rate);
  x.rate = rate;
  x.since_ps = now_ps;
  if (!due) x.end_ps = now_ps + static_cast<std::uint64_t>(std::llround(x.left / rate * 1000));
}

// Flow `cause` has come or gone.
void sharing::share_again(std::uint32_t cause, std::uint64_t now_ps, std::vector<change>& changed) {
  reach(flows_[cause].demands);
  fill();
  for (const std::uint32_t r : reached_) account(r, now_ps);
  for (const std::uint32_t f : reached_flows_) {
    const std::uint64_t before = flows_[f].end_ps;
    if (same(flows_[f].filled, flows_[f].rate)) continue;
    settle(f, flows_[f].filled, now_ps);
    if (f != cause && flows_[f].end_ps != before) changed.push_back({f, flows_[f].end_ps});
  }
  // Loads are summed anew, so that no rounding piles up over a long run.
  for (const std::uint32_t r : reached_) resources_[r].load = 0;
  for (const std::uint32_t f : reached_flows_)
    for (const demand& d : flows_[f].demands) resources_[d.resource].load += d.part * flows_[f].rate;
}

}  // namespace weft::model
