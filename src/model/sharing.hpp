// Flows of data that share resources - memory controllers, links between nodes - max-min fairly: no flow can go faster
// unless one that is as slow or slower goes slower still. The allocation is found by filling (Bertsekas, Gallager: Data
// Networks, 6.5.2): all rates rise together until one meets its own cap or fills a resource, which fixes those in it.
// SimGrid's linear max-min solver does the same.
// A flow may pass several resources with parts of its bytes: half of an interleaved array comes from each of two
// controllers, both at half the flow's rate.
// Invariant after every call: each flow is at its cap or passes a full resource where no flow is faster than it.
// What a start or a stop cannot reach - no resource in common, directly or through others - keeps its rate and end to
// the bit. A start that fits into what is free, and a stop that leaves no full resource, move nobody and cost
// O(demands).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace weft::model {

// A body's end that has moved.
struct change {
  unsigned core;
  std::uint64_t end_ps;
};

class sharing {
 public:
  struct demand {
    std::uint32_t resource;
    double part;  // of the flow's bytes, above 0 and at most 1
  };

  explicit sharing(std::size_t flows) : flows_(flows) {}

  // One flow more; returns its number.
  unsigned add_flow() {
    flows_.emplace_back();
    return static_cast<unsigned>(flows_.size() - 1);
  }
  // Cost: rare, while setting up. Needs a rate above 0: what has no limit is no resource.
  std::uint32_t add_resource(double bytes_per_ns);

  // Flow `f` has so many bytes to move from now on, at most at `cap` bytes per ns (infinity: no cap), through at least
  // one resource, each named once. Returns when it ends if nothing changes; others whose end moves go to `changed`.
  std::uint64_t start(unsigned f, double bytes, double cap, std::span<const demand> demands, std::uint64_t now_ps,
                      std::vector<change>& changed);
  // Flow `f` is over, whether or not all of its bytes have moved.
  void stop(unsigned f, std::uint64_t now_ps, std::vector<change>& changed);

  [[nodiscard]] bool active(unsigned f) const noexcept { return flows_[f].active; }
  [[nodiscard]] double rate(unsigned f) const noexcept { return flows_[f].rate; }
  [[nodiscard]] std::uint64_t end_ps(unsigned f) const noexcept { return flows_[f].end_ps; }

  struct use_of_time {
    std::uint64_t busy_ps = 0;  // with at least one flow
    std::uint64_t full_ps = 0;  // with no rate to give away
  };
  [[nodiscard]] use_of_time times(std::uint32_t resource, std::uint64_t now_ps) const noexcept;

 private:
  struct flow {
    bool active = false;
    bool fixed = false;  // in the filling that goes on
    std::uint64_t mark = 0;
    double cap = 0, rate = 0, left = 0;  // bytes left at since_ps
    double filled = 0;                   // the rate that the filling gave
    std::uint64_t since_ps = 0, end_ps = 0;
    std::vector<demand> demands;
    std::vector<std::uint32_t> seats;  // demands[i] is number seats[i] in its resource's list of users
  };
  struct user {
    std::uint32_t flow, demand;
  };
  struct resource {
    double capacity = 0, load = 0;
    std::uint64_t mark = 0;
    bool binds = false;            // the rates of all who pass it are open
    double fixed = 0, weight = 0;  // in the filling: of fixed flows, and of those that still rise
    std::uint32_t rising = 0;
    std::vector<user> users;
    std::uint64_t since_ps = 0;
    use_of_time times;
    [[nodiscard]] bool full() const noexcept;
  };
  struct level {
    double rate;
    std::uint32_t resource;
  };

  void enter(unsigned f);
  void leave(unsigned f);
  void account(std::uint32_t r, std::uint64_t now_ps);
  void begin_reach();
  void reach(std::uint32_t f);
  void reach_binding();
  void fill();
  [[nodiscard]] bool next_full(double water, level& out);
  void fix(std::uint32_t f, double rate);
  void settle(std::uint32_t f, double rate, std::uint64_t now_ps);
  void share_again(std::uint32_t cause, std::uint64_t now_ps, std::vector<change>& changed);

  std::vector<flow> flows_;
  std::vector<resource> resources_;
  std::uint64_t mark_ = 0;
  std::vector<std::uint32_t> reached_;  // flows whose rate is open in this change, by cap
  std::vector<std::uint32_t> touched_;  // resources that they pass
  std::vector<std::uint32_t> binding_;  // resources still to be reached
  std::vector<level> heap_;             // lower bounds of the rate at which each resource is full
};

}  // namespace weft::model
