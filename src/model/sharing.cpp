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
  begin_reach();
  for (const demand& d : x.demands) {
    const resource& r = resources_[d.resource];
    account(d.resource, now_ps);
    if (r.load + d.part * cap > r.capacity) binding_.push_back(d.resource);
  }
  enter(f);
  if (binding_.empty())
    settle(f, cap, now_ps);
  else
    share_again(f, now_ps, changed);
  return x.end_ps;
}

void sharing::stop(unsigned f, std::uint64_t now_ps, std::vector<change>& changed) {
  flow& x = flows_[f];
  WEFT_ASSERT(x.active && now_ps >= x.since_ps);
  begin_reach();
  for (const demand& d : x.demands) {
    account(d.resource, now_ps);
    if (resources_[d.resource].full()) binding_.push_back(d.resource);
  }
  leave(f);
  x.active = false;
  if (!binding_.empty()) share_again(f, now_ps, changed);
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

void sharing::begin_reach() {
  ++mark_;
  binding_.clear();
  touched_.clear();
  reached_.clear();
}

// The flow's rate is open; so is, if the resource is full, that of everybody there.
void sharing::reach(std::uint32_t f) {
  if (flows_[f].mark == mark_) return;
  flows_[f].mark = mark_;
  reached_.push_back(f);
  for (const demand& d : flows_[f].demands) {
    resource& r = resources_[d.resource];
    if (r.mark == mark_) continue;
    r.mark = mark_;
    r.binds = false;
    touched_.push_back(d.resource);
    if (r.full()) binding_.push_back(d.resource);
  }
}

// Opens the rates of all who pass the resources in binding_, and what follows from that.
void sharing::reach_binding() {
  while (!binding_.empty()) {
    const std::uint32_t at = binding_.back();
    binding_.pop_back();
    resource& r = resources_[at];
    if (r.mark != mark_) {
      r.mark = mark_;
      r.binds = false;
      touched_.push_back(at);
    }
    if (r.binds) continue;
    r.binds = true;
    for (const user& u : r.users) reach(u.flow);
  }
  std::sort(reached_.begin(), reached_.end(), [this](std::uint32_t a, std::uint32_t b) {
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
  for (const std::uint32_t at : touched_) {
    resource& r = resources_[at];
    r.fixed = r.weight = 0;
    r.rising = 0;
    if (r.binds) continue;
    for (const user& u : r.users)
      if (flows_[u.flow].mark != mark_) r.fixed += flows_[u.flow].demands[u.demand].part * flows_[u.flow].rate;
  }
  for (const std::uint32_t f : reached_) {
    flows_[f].fixed = false;
    for (const demand& d : flows_[f].demands) {
      resources_[d.resource].weight += d.part;
      ++resources_[d.resource].rising;
    }
  }
  heap_.clear();
  for (const std::uint32_t at : touched_) {
    const resource& r = resources_[at];
    if (r.rising != 0) heap_.push_back({(r.capacity - r.fixed) / r.weight, at});
  }
  std::make_heap(heap_.begin(), heap_.end(), higher);
  double water = 0;
  level next{};
  for (const std::uint32_t f : reached_) {
    while (!flows_[f].fixed && next_full(water, next) && next.rate < flows_[f].cap) {
      water = next.rate;
      for (const user& u : resources_[next.resource].users)
        if (flows_[u.flow].mark == mark_ && !flows_[u.flow].fixed) fix(u.flow, water);
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

// Flow `cause` has come or gone. Only full resources carry its influence: who passes none of those keeps a reason for
// its rate - its cap, or a full resource of which nobody's rate is open. So first the rates are found with all others
// as they are; a resource that is full then and was not before opens the rates of those who pass it, too, and once
// more.
void sharing::share_again(std::uint32_t cause, std::uint64_t now_ps, std::vector<change>& changed) {
  while (!binding_.empty()) {
    reach_binding();
    fill();
    for (const std::uint32_t at : touched_) {
      const resource& r = resources_[at];
      if (!r.binds && r.fixed >= r.capacity * (1 - rounding)) binding_.push_back(at);
    }
  }
  for (const std::uint32_t r : touched_) account(r, now_ps);
  for (const std::uint32_t f : reached_) {
    const std::uint64_t before = flows_[f].end_ps;
    if (same(flows_[f].filled, flows_[f].rate)) continue;
    settle(f, flows_[f].filled, now_ps);
    if (f != cause && flows_[f].end_ps != before) changed.push_back({f, flows_[f].end_ps});
  }
  // Loads are summed anew, so that no rounding piles up over a long run.
  for (const std::uint32_t at : touched_) {
    resource& r = resources_[at];
    r.load = 0;
    for (const user& u : r.users) r.load += flows_[u.flow].demands[u.demand].part * flows_[u.flow].rate;
  }
}

}  // namespace weft::model
