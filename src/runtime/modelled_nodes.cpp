#include "weft/modelled_nodes.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "machine/virtual/joint_time.hpp"
#include "model/machine_file.hpp"
#include "model/network.hpp"
#include "runtime/instantiated.hpp"
#include "runtime/options.hpp"
#include "runtime/schedule.hpp"
#include "runtime/variables.hpp"
#include "weft/error.hpp"

namespace weft {

using machine::joint_time;
using machine::virtual_machine;

namespace {

[[nodiscard]] const char* or_variable(const char* change) {
  if (change == nullptr) change = value_of_variable("model.change");
  return change != nullptr ? change : "";
}

model::network_costs costs_of(const char* machine, const char* change) {
  if (machine == nullptr || std::string_view(machine) == "host")
    throw error("weft: the nodes of a modelled cluster are a machine that is modelled: name one with a [network], as "
                "cluster-2x4");
  const model::network_costs c = model::load_machine(machine, change).network;
  if (c.nodes == 0)
    throw error("weft: machine " + std::string(machine) +
                " is one node: its file has no [network], which page 22 of the guide describes");
  return c;
}

}  // namespace

struct modelled_nodes::inside final : joint_time::between {
  inside(const char* machine, unsigned asked, const char* changes)
      : name(machine), change(changes), costs(costs_of(machine, changes)), network(costs),
        size(asked == 0 ? costs.nodes : asked), time(size, network.lookahead_ps(), *this), machines(size) {}

  [[nodiscard]] std::uint64_t next_ps() override { return network.next_ps(); }
  void advance(std::uint64_t until_ps) override {
    come.clear();
    network.advance(until_ps, come);
    for (const model::network::arrival& a : come) to->arrived(a.message, a.at_ps);
  }

  [[nodiscard]] bool stalled() override { return to->stalled(); }

  const std::string name, change;
  const model::network_costs costs;
  model::network network;
  const unsigned size;
  joint_time time;
  std::vector<virtual_machine*> machines;
  std::vector<model::network::arrival> come;
  receiver* to = nullptr;
};

modelled_nodes::modelled_nodes(const char* machine, unsigned nodes, const char* change) {
  const char* const changes = or_variable(change);
  const unsigned most = costs_of(machine, changes).nodes;
  if (nodes > most)
    throw error("weft: machine " + std::string(machine) + " has " + std::to_string(most) + " nodes, and " +
                std::to_string(nodes) + " are asked for");
  inside_ = new inside(machine, nodes, changes);
}
modelled_nodes::~modelled_nodes() { delete inside_; }

unsigned modelled_nodes::size() const noexcept { return inside_->size; }
const char* modelled_nodes::machine() const noexcept { return inside_->name.c_str(); }
modelled_nodes::costs modelled_nodes::of_a_message() const noexcept {
  return {inside_->costs.send_ps, inside_->costs.receive_ps, inside_->costs.eager_bytes};
}
std::uint64_t modelled_nodes::latency_ps(unsigned from, unsigned to) const {
  return inside_->network.latency_ps(from, to);
}

void modelled_nodes::run(void (*program)(void* with, unsigned node), void* with, receiver& to) {
  inside_->to = &to;
  const default_machine before =
      std::exchange(default_machine_here(), {inside_->name.c_str(), inside_->change.c_str()});
  inside_->time.run(program, with);
  default_machine_here() = before;
}

void modelled_nodes::join(unsigned node, runtime& rt) {
  auto* const e =
      dynamic_cast<sched::engine<virtual_machine>*>(&static_cast<sched::any_engine&>(detail::engine_of(rt)));
  if (e == nullptr)
    throw error("weft: the runtime of a node of a modelled cluster is on real cores, which have another time; leave "
                "options::machine out, or name a modelled one");
  if (e->the_machine().is_random())
    throw error("weft: a node of a modelled cluster goes by time; model.schedule is to be left out");
  inside_->machines[node] = &e->the_machine();
  inside_->time.join(node, e->the_machine(), e->events().hears, inside_->costs.notice_ps);
}

void modelled_nodes::leave(unsigned node) noexcept { inside_->time.leave(node); }
std::uint64_t modelled_nodes::now_ps(unsigned node) const noexcept { return inside_->machines[node]->now_ps(); }
void modelled_nodes::spend_ps(unsigned node, std::uint64_t ps) noexcept { inside_->machines[node]->spend(ps); }
std::uint64_t modelled_nodes::send(std::uint64_t message, unsigned from, unsigned to, std::uint64_t bytes,
                                   std::uint64_t at_ps) {
  return inside_->network.send(message, from, to, bytes, std::max(at_ps, inside_->time.window_ps()));
}
void modelled_nodes::look(unsigned node, std::uint64_t at_ps) noexcept { inside_->time.message_at(node, at_ps); }

modelled_nodes::links modelled_nodes::busiest() const noexcept {
  links l;
  for (std::uint32_t i = 0; i < inside_->network.links(); ++i) {
    const std::uint64_t full = inside_->network.times(i).full_ps;
    if (full > l.full_ps_most) l = {full, i};
  }
  return l;
}

}  // namespace weft
