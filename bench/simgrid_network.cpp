// The network model beside SimGrid's, for the same messages on the same links: how far apart arrivals are. SimGrid's
// CM02 has latency first and shares links max-min, too, with no factors for TCP here. A figure, no test: needs
// libsimgrid-dev (cmake --build build/release --target bench_simgrid_network).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "base/random.hpp"
#include "model/network.hpp"

namespace {

namespace sg = simgrid::s4u;
using weft::model::fabric;
using weft::model::network;
using weft::model::network_costs;

struct message {
  unsigned from, to;
  std::uint64_t bytes, at_ps;
};
struct pattern {
  const char* name;
  network_costs costs;
  std::vector<message> all;
};

constexpr double ps_of_a_second = 1e12;

std::vector<double> ours(const pattern& p) {
  network n(p.costs);
  for (std::size_t i = 0; i < p.all.size(); ++i)
    static_cast<void>(n.send(i, p.all[i].from, p.all[i].to, p.all[i].bytes, p.all[i].at_ps));
  std::vector<network::arrival> come;
  n.advance(network::never, come);
  std::vector<double> at(p.all.size());
  for (const network::arrival& a : come) at[a.message] = static_cast<double>(a.at_ps) / ps_of_a_second;
  return at;
}

// The fabric's links and ways as a zone of SimGrid: a message's latency is on the first link that it passes, and a
// switch beyond the first adds a link of its own, on which only latency is.
std::vector<sg::Host*> platform(const pattern& p) {
  const fabric f(p.costs);
  const unsigned n = p.costs.nodes;
  auto* const zone = sg::create_full_zone("zone");
  std::vector<sg::Host*> hosts;
  std::vector<sg::Link*> links;
  for (unsigned i = 0; i < n; ++i) hosts.push_back(zone->create_host("node" + std::to_string(i), 1e9)->seal());
  for (std::uint32_t l = 0; l < f.links(); ++l)
    links.push_back(zone->create_link("link" + std::to_string(l), f.bytes_per_ns(l) * 1e9)->set_latency(0)->seal());
  constexpr double no_limit = 1e15;
  for (unsigned a = 0; a < n; ++a)
    for (unsigned b = 0; b < n; ++b) {
      if (a == b) continue;
      fabric::way w;
      f.find(a, b, w);
      const double latency = static_cast<double>(f.latency_ps(w)) / ps_of_a_second;
      const std::string name = "way" + std::to_string(a) + "-" + std::to_string(b);
      std::vector<sg::LinkInRoute> route{
          sg::LinkInRoute(zone->create_link(name, no_limit)->set_latency(latency)->seal())};
      for (const std::uint32_t l : w.links) route.emplace_back(links[l]);
      zone->add_route(hosts[a]->get_netpoint(), hosts[b]->get_netpoint(), nullptr, nullptr, route, false);
    }
  zone->seal();
  return hosts;
}

std::vector<double> theirs(const pattern& p) {
  const std::vector<sg::Host*> hosts = platform(p);
  std::vector<double> at(p.all.size());
  for (std::size_t i = 0; i < p.all.size(); ++i) {
    const message& m = p.all[i];
    auto* const box = sg::Mailbox::by_name(std::to_string(i));
    const double begin = static_cast<double>(m.at_ps) / ps_of_a_second;
    sg::Actor::create("send", hosts[m.from], [box, begin, bytes = m.bytes] {
      sg::this_actor::sleep_until(begin);
      box->put(new char, bytes);
    });
    sg::Actor::create("receive", hosts[m.to], [box, begin, &at, i] {
      sg::this_actor::sleep_until(begin);
      delete box->get<char>();
      at[i] = sg::Engine::get_clock();
    });
  }
  sg::Engine::get_instance()->run();
  return at;
}

network_costs one_switch(unsigned nodes) {
  network_costs c;
  c.nodes = nodes;
  c.latency_ps = 600'000;
  c.hop_ps = 130'000;
  c.link_bytes_per_ns = c.trunk_bytes_per_ns = 25;
  return c;
}
network_costs tree() {
  network_costs c = one_switch(16);
  c.shape = network_costs::form::fat_tree;
  c.per_leaf = 4;
  c.spines = 2;
  return c;
}
network_costs torus() {
  network_costs c = one_switch(16);
  c.shape = network_costs::form::torus;
  c.sides = {4, 4};
  return c;
}
network_costs dragonfly() {
  network_costs c = one_switch(16);
  c.shape = network_costs::form::dragonfly;
  c.groups = c.routers = 4;
  c.per_router = 1;
  return c;
}

pattern all_to_all(const char* name, const network_costs& c) {
  pattern p{name, c, {}};
  for (unsigned a = 0; a < c.nodes; ++a)
    for (unsigned b = 0; b < c.nodes; ++b)
      if (a != b) p.all.push_back({a, b, 100'000, 0});
  return p;
}

// Tiles of 128 KiB to the ranks that need them, a column each 30 us: owners are (i n + j) mod ranks.
pattern cholesky(const network_costs& c) {
  constexpr unsigned n = 21;
  constexpr std::uint64_t tile_bytes = 128 << 10, column_ps = 30'000'000;
  pattern p{"Cholesky, 128 KiB, switch", c, {}};
  const auto owner = [&](unsigned i, unsigned j) { return (i * n + j) % c.nodes; };
  for (unsigned k = 0; k < n; ++k)
    for (unsigned i = k; i < n; ++i) {
      std::vector<bool> sent(c.nodes);
      const auto needs = [&](unsigned to) {
        if (to == owner(i, k) || sent[to]) return;
        sent[to] = true;
        p.all.push_back({owner(i, k), to, tile_bytes, k * column_ps});
      };
      for (unsigned j = k + 1; j <= i; ++j) needs(owner(i, j));
      for (unsigned r = i; r < n; ++r) needs(owner(r, i));
    }
  return p;
}

std::vector<pattern> patterns() {
  std::vector<pattern> all;
  pattern ring{"ring, 1 MB, switch", one_switch(16), {}}, halo{"halo, 64 KiB, torus", torus(), {}},
      cast{"broadcast, flat, 1 MB, switch", one_switch(16), {}}, some{"random, fat tree", tree(), {}},
      more{"random, dragonfly", dragonfly(), {}};
  for (unsigned i = 0; i < 16; ++i) ring.all.push_back({i, (i + 1) % 16, 1'000'000, 0});
  for (unsigned i = 0; i < 16; ++i)
    for (const unsigned to : {(i / 4 * 4) + (i + 1) % 4, (i / 4 * 4) + (i + 3) % 4, (i + 4) % 16, (i + 12) % 16})
      halo.all.push_back({i, to, 65536, 0});
  for (unsigned i = 1; i < 16; ++i) cast.all.push_back({0, i, 1'000'000, 0});
  weft::base::random draw(3);
  for (pattern* p : {&some, &more})
    for (int i = 0; i < 500; ++i) {
      const unsigned from = draw.below(16);
      p->all.push_back(
          {from, (from + 1 + draw.below(15)) % 16, 1 + draw.below(1'000'000), draw.below(2'000'000) * 1000ull});
    }
  all.insert(all.end(),
             {ring, halo, cast, cholesky(one_switch(16)), all_to_all("all to all, switch", one_switch(16)),
              all_to_all("all to all, fat tree", tree()), all_to_all("all to all, torus", torus()), some, more});
  // SimGrid gives a flow the less of a link the longer its latency is, as TCP does. Without that:
  for (const std::size_t i : {6, 7, 8}) {
    all.push_back(all[i]);
    all.back().costs.hop_ps = 0;
    all.back().name = i == 6   ? "all to all, torus, hop = 0"
                      : i == 7 ? "random, fat tree, hop = 0"
                               : "random, dragonfly, hop = 0";
  }
  return all;
}

}  // namespace

// Without an argument all patterns, each in a process of its own, for SimGrid has one platform in a life.
int main(int count, char** values) {
  const std::vector<pattern> all = patterns();
  if (count == 1) {
    std::printf("%-30s %8s %12s %12s %9s %9s\n", "pattern", "messages", "ours, us", "SimGrid, us", "apart", "furthest");
    std::fflush(stdout);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (std::system((std::string(values[0]) + " " + std::to_string(i)).c_str()) != 0) return 1;
    return 0;
  }
  sg::Engine e(&count, values);
  for (const char* key : {"network/model:CM02", "network/TCP-gamma:0", "network/latency-factor:1",
                          "network/bandwidth-factor:1", "network/weight-S:0", "network/crosstraffic:0"})
    sg::Engine::set_config(key);
  const pattern& p = all.at(std::stoul(values[1]));
  const std::vector<double> a = ours(p), b = theirs(p);
  double furthest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double begin = static_cast<double>(p.all[i].at_ps) / ps_of_a_second;
    furthest = std::max(furthest, std::abs(a[i] - b[i]) / (b[i] - begin));
  }
  const double last = *std::ranges::max_element(a), theirs_last = *std::ranges::max_element(b);
  std::printf("%-30s %8zu %12.2f %12.2f %8.3f%% %8.3f%%\n", p.name, a.size(), last * 1e6, theirs_last * 1e6,
              100 * std::abs(last - theirs_last) / theirs_last, 100 * furthest);
  return 0;
}
