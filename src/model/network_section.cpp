#include "model/network_section.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace weft::model {

namespace {

using form = network_costs::form;

constexpr unsigned nodes_max = 1024;  // a route of each to each other is looked for, and each is a runtime

void take_number(const section& s, std::string_view key, quantity q, std::uint64_t& into) {
  if (const auto x = s.number(key, q)) into = static_cast<std::uint64_t>(std::llround(*x));
}
void require(const section& s, std::string_view key, const std::string& why) {
  if (!s.has(key)) s.fail("", "the key " + std::string(key) + " is missing" + why);
}
[[nodiscard]] unsigned count(const section& s, std::string_view key, const std::string& why) {
  require(s, key, why);
  const double n = s.number(key, quantity::count).value_or(1);
  if (n > nodes_max) s.fail(key, "it must be at most " + std::to_string(nodes_max));
  return static_cast<unsigned>(n);
}

// Whether a key that only some shapes have stands where it means something.
void refuse_others(const section& s, form shape) {
  const std::pair<const char*, form> all[] = {{"per_leaf", form::fat_tree},    {"spines", form::fat_tree},
                                              {"groups", form::dragonfly},     {"routers", form::dragonfly},
                                              {"per_router", form::dragonfly}, {"sides", form::torus}};
  for (const auto& [key, of] : all)
    if (of != shape && s.has(key)) s.fail(key, "it says nothing about this shape");
  if (shape == form::one_switch && s.has("trunk"))
    s.fail("trunk", "with one switch there are no links between switches");
  if (shape == form::one_switch && s.has("hop")) s.fail("hop", "with one switch no message passes a second one");
}

void read_torus(const section& s, network_costs& c) {
  const auto sides = s.counts("sides");
  if (!sides || sides->empty()) s.fail("sides", "a torus needs a list of its sides, as [4, 4, 2]");
  std::uint64_t product = 1;
  for (const unsigned side : *sides) {
    if (side == 0) s.fail("sides", "a side has at least 1 node");
    product *= side;
    if (product > nodes_max) break;
  }
  if (product != c.nodes)
    s.fail("sides", "their product must be the " + std::to_string(c.nodes) + " nodes of the network");
  c.sides = *sides;
}

void read_shape(const section& s, network_costs& c) {
  const std::string shape = s.text("shape").value_or("switch");
  if (shape == "switch")
    c.shape = form::one_switch;
  else if (shape == "fat-tree")
    c.shape = form::fat_tree;
  else if (shape == "dragonfly")
    c.shape = form::dragonfly;
  else if (shape == "torus")
    c.shape = form::torus;
  else
    s.fail("shape", "it must be \"switch\", \"fat-tree\", \"dragonfly\" or \"torus\"");
  refuse_others(s, c.shape);
  if (c.shape == form::fat_tree) {
    c.per_leaf = count(s, "per_leaf", ": how many nodes are at a leaf switch");
    c.spines = count(s, "spines", ": how many switches are above the leaves");
  }
  if (c.shape == form::dragonfly) {
    c.groups = count(s, "groups", ": how many groups of routers there are");
    c.routers = count(s, "routers", ": how many routers a group has");
    c.per_router = count(s, "per_router", ": how many nodes are at a router");
    if (std::uint64_t{c.groups} * c.routers * c.per_router != c.nodes)
      s.fail("groups",
             "groups x routers x per_router must be the " + std::to_string(c.nodes) + " nodes of the network");
  }
  if (c.shape == form::torus) read_torus(s, c);
}

}  // namespace

network_costs read_network(const section& top) {
  network_costs c;
  const auto s = top.inside("network");
  if (!s) return c;
  s->only({"nodes", "shape", "per_leaf", "spines", "groups", "routers", "per_router", "sides", "latency", "hop", "send",
           "receive", "gap", "link", "trunk", "eager", "notice"});
  c.nodes = count(*s, "nodes", ": how many there are of this machine");
  read_shape(*s, c);
  require(*s, "latency", "");
  take_number(*s, "latency", quantity::time, c.latency_ps);
  if (c.latency_ps == 0)
    s->fail("latency", "nodes that hear of each other at once cannot be modelled; it must be at least 1 ps");
  take_number(*s, "hop", quantity::time, c.hop_ps);
  take_number(*s, "send", quantity::time, c.send_ps);
  take_number(*s, "receive", quantity::time, c.receive_ps);
  take_number(*s, "gap", quantity::time, c.gap_ps);
  take_number(*s, "notice", quantity::time, c.notice_ps);
  take_number(*s, "eager", quantity::bytes, c.eager_bytes);
  require(*s, "link", ": what a node's link carries in each direction");
  for (const auto& [key, into] : {std::pair{"link", &c.link_bytes_per_ns}, std::pair{"trunk", &c.trunk_bytes_per_ns}}) {
    if (const auto x = s->number(key, quantity::rate)) *into = *x;
    if (s->has(key) && *into <= 0) s->fail(key, "over a link that carries nothing no message would ever come");
  }
  if (c.trunk_bytes_per_ns == 0) c.trunk_bytes_per_ns = c.link_bytes_per_ns;
  return c;
}

}  // namespace weft::model
