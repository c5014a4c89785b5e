#include <doctest/doctest.h>

#include <string>

#include "model/machine_file.hpp"
#include "model/machine_text.hpp"
#include "weft/error.hpp"

namespace weft::model {
namespace {

const std::string head =
    "summary = \"a machine\"\n[sources]\nlab = { text = \"measured\", date = \"2026\" }\n[topology]\nhwloc = \"PU:2\"\n"
    "from = \"lab\"\n[network]\nfrom = \"lab\"\n";
const std::string two = "nodes = { count = 2 }\nlatency = { us = 1 }\nlink = { GBps = 10 }\n";

network_costs parsed(const std::string& more) { return parse_machine(head + more, "m.toml", "m", "m").model.network; }
std::string refusal(const std::string& more) {
  try {
    static_cast<void>(parsed(more));
  } catch (const error& e) {
    return std::string(e.what()).substr(std::string("weft: m.toml:").size());
  }
  return "accepted";
}
bool says(const std::string& more, const char* part) {
  const std::string text = refusal(more);
  if (text.find(part) == std::string::npos) MESSAGE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("[network]: a change of one key leaves the others, also of a list") {
  const auto changed = [](const char* change) {
    return parse_machine(head + two, "m.toml", "m", "m", change).model.network;
  };
  const network_costs c = changed("network.nodes.count = 4; network.shape = 'torus'; network.sides = [2, 2]");
  CHECK(c.nodes == 4);
  CHECK(c.shape == network_costs::form::torus);
  CHECK(c.latency_ps == 1'000'000);
  CHECK(changed("network.latency.ns = 5").latency_ps == 5'000);
  try {
    static_cast<void>(changed("network.shape = 'torus'; network.sides = [0, 2]"));
    CHECK(false);
  } catch (const error& e) {
    CHECK(std::string(e.what()).find("sides") != std::string::npos);
  }
}

TEST_CASE("[network]: all keys") {
  const network_costs c = parsed(
      "nodes = { count = 12 }\nshape = \"fat-tree\"\nper_leaf = { count = 4 }\nspines = { count = 2 }\n"
      "latency = { us = 1.5 }\nhop = { ns = 100 }\nsend = { ns = 300 }\nreceive = { ns = 400 }\ngap = { ns = 5 }\n"
      "link = { GBps = 25 }\ntrunk = { GBps = 12.5 }\neager = { KiB = 8 }\nnotice = { us = 25 }\n");
  CHECK(c.nodes == 12);
  CHECK(c.shape == network_costs::form::fat_tree);
  CHECK(c.per_leaf == 4);
  CHECK(c.spines == 2);
  CHECK(c.latency_ps == 1'500'000);
  CHECK(c.hop_ps == 100'000);
  CHECK(c.send_ps == 300'000);
  CHECK(c.receive_ps == 400'000);
  CHECK(c.gap_ps == 5'000);
  CHECK(c.link_bytes_per_ns == 25);
  CHECK(c.trunk_bytes_per_ns == 12.5);
  CHECK(c.eager_bytes == 8192);
  CHECK(c.notice_ps == 25'000'000);
}

TEST_CASE("[network]: what is not said is 0, and a trunk is a link") {
  const network_costs c = parsed(two);
  CHECK(c.shape == network_costs::form::one_switch);
  CHECK(c.send_ps + c.receive_ps + c.gap_ps + c.hop_ps + c.eager_bytes + c.notice_ps == 0);
  CHECK(c.trunk_bytes_per_ns == 10);
  CHECK(load_machine("virtual").network.nodes == 0);
  CHECK(
      load_machine("virtual", "network.nodes.count = 3; network.latency.us = 1; network.link.GBps = 1").network.nodes ==
      3);
}

TEST_CASE("[network]: what is wrong is said with its key") {
  CHECK(says("latency = { us = 1 }\nlink = { GBps = 1 }\n", "network: the key nodes is missing"));
  CHECK(says("nodes = { count = 2 }\nlink = { GBps = 1 }\n", "network: the key latency is missing"));
  CHECK(says("nodes = { count = 2 }\nlatency = { us = 1 }\n", "network: the key link is missing"));
  CHECK(says("nodes = { count = 2 }\nlatency = { us = 0 }\nlink = { GBps = 1 }\n", "network.latency: "));
  CHECK(says("nodes = { count = 2 }\nlatency = { us = 1 }\nlink = { GBps = 0 }\n", "network.link: over a link that"));
  CHECK(says("nodes = { count = 2000 }\nlatency = { us = 1 }\nlink = { GBps = 1 }\n", "network.nodes: "));
  CHECK(says(two + "shape = \"ring\"\n", "network.shape: it must be \"switch\","));
  CHECK(says(two + "speed = { x = 1 }\n", "network.speed"));
  CHECK(says(two + "trunk = { GBps = 1 }\n", "network.trunk: with one switch"));
  CHECK(says(two + "hop = { ns = 1 }\n", "network.hop: with one switch"));
  CHECK(says(two + "sides = [2]\n", "network.sides: it says nothing about this shape"));
  CHECK(says(two + "shape = \"fat-tree\"\nspines = { count = 1 }\n", "network: the key per_leaf is missing"));
  CHECK(says(two + "shape = \"torus\"\n", "network.sides: a torus needs"));
  CHECK(says(two + "shape = \"torus\"\nsides = [3]\n", "network.sides: their product must be the 2 nodes"));
  CHECK(says(two + "shape = \"torus\"\nsides = [0, 2]\n", "network.sides: "));
  CHECK(
      says(two + "shape = \"dragonfly\"\ngroups = { count = 2 }\nrouters = { count = 2 }\nper_router = { count = 1 }\n",
           "network.groups: groups x routers x per_router must be the 2 nodes"));
  CHECK(says("nodes = { count = 2, from = \"nobody\" }\nlatency = { us = 1 }\nlink = { GBps = 1 }\n", "nobody"));
}

}  // namespace weft::model
