// A network, event by event: routers on a torus, each with four links and a queue before each. A body is a packet that
// comes to a router. It waits for the link it needs, or is dropped where too many wait already. Whoever sends next on
// the link depends on it, whatever time that is: there is no time within which events cannot reach each other. Check:
// what each link and each router has counted, and the number of events, as a plain event loop has them; no packet is
// lost. Packets that come at the same time come by their number, which is part of the timestamp, so that an executor
// that takes equal timestamps in any order has the same result.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <vector>

#include "../app.hpp"
#include "random.hpp"
#include "section.hpp"

namespace weft::apps {
namespace {

struct parameters {
  std::size_t side = 16;
  std::size_t packets = 20'000;
  std::size_t gap_ns = 20;
  std::size_t queue = 16;
  order::section_setting section;
};

constexpr std::uint64_t link_latency_ns = 500, link_bytes_per_ns = 4;
constexpr std::uint64_t event_instructions = 150;

struct packet {
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t bytes;
  std::uint64_t sent_at;
};

struct link {
  std::uint64_t free_at = 0;
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;
  std::uint64_t waited_ns = 0;
  friend bool operator==(const link&, const link&) = default;
};

struct router {
  std::array<link, 4> links;  // to east, west, south, north
  std::uint64_t delivered = 0;
  std::uint64_t travelled_ns = 0;
  friend bool operator==(const router&, const router&) = default;
};

struct hop {
  std::size_t link;
  std::uint64_t next;
};

// First along the row, then along the column, on the shorter way round.
hop next_hop(std::uint64_t at, std::uint64_t to, std::uint64_t side) {
  const std::uint64_t x = at % side, y = at / side, dx = (to % side + side - x) % side;
  const std::uint64_t dy = (to / side + side - y) % side;
  if (dx != 0) return 2 * dx <= side ? hop{0, y * side + (x + 1) % side} : hop{1, y * side + (x + side - 1) % side};
  return 2 * dy <= side ? hop{2, (y + 1) % side * side + x} : hop{3, (y + side - 1) % side * side + x};
}

struct network {
  router* routers;
  std::uint64_t count;  // of packets
  std::uint64_t side;
  std::uint64_t patience_ns;  // who would have to wait longer is dropped
};

std::uint64_t stamp(std::uint64_t time, std::uint64_t packet, std::uint64_t count) { return time * count + packet; }

void arrive(ordered_context& x, std::uint64_t stamped, const network* n, const packet* p, std::uint64_t at) {
  x.work(event_instructions);
  const std::uint64_t count = x.read(n->count), now = stamped / count;
  router& here = x.read(n->routers)[at];
  const packet what = x.read(*p);
  if (at == what.to) {
    x.store(here.delivered, x.load(here.delivered) + 1);
    x.store(here.travelled_ns, x.load(here.travelled_ns) + now - what.sent_at);
    return;
  }
  const hop next = next_hop(at, what.to, x.read(n->side));
  link& out = here.links[next.link];
  const std::uint64_t begin = std::max(now, x.load(out.free_at));
  if (begin - now > x.read(n->patience_ns)) return x.store(out.dropped, x.load(out.dropped) + 1);
  const std::uint64_t end = begin + what.bytes / link_bytes_per_ns;
  x.store(out.free_at, end);
  x.store(out.sent, x.load(out.sent) + 1);
  x.store(out.waited_ns, x.load(out.waited_ns) + begin - now);
  x.at(stamp(end + link_latency_ns, stamped % count, count), arrive, n, p, next.next);
}

std::vector<packet> make_packets(const parameters& p, std::uint64_t seed) {
  constexpr std::uint64_t bytes_min = 64, bytes_max = 1500;
  order::random_numbers random(seed);
  std::vector<packet> all(p.packets);
  std::uint64_t time = 0;
  for (packet& k : all) {
    time += random.below(2 * p.gap_ns + 1);
    k = {random.below(p.side * p.side), random.below(p.side * p.side), random.between(bytes_min, bytes_max), time};
  }
  return all;
}

// A plain event loop. Returns the number of events.
std::uint64_t simulate(const std::vector<packet>& packets, order::paged<router>& routers, std::uint64_t side,
                       std::uint64_t patience_ns) {
  using event = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // time, packet, router
  std::priority_queue<event, std::vector<event>, std::greater<>> queue;
  std::uint64_t number = packets.size();
  for (std::uint64_t i = 0; i < packets.size(); ++i) queue.emplace(packets[i].sent_at, i, packets[i].from);
  while (!queue.empty()) {
    const auto [now, which, at] = queue.top();
    queue.pop();
    const packet& p = packets[which];
    router& here = routers[at];
    if (at == p.to) {
      here.delivered += 1, here.travelled_ns += now - p.sent_at;
      continue;
    }
    const hop next = next_hop(at, p.to, side);
    link& out = here.links[next.link];
    if (out.free_at > now + patience_ns) {
      out.dropped += 1;
      continue;
    }
    if (out.free_at > now) out.waited_ns += out.free_at - now;
    out.free_at = std::max(out.free_at, now) + p.bytes / link_bytes_per_ns;
    out.sent += 1;
    queue.emplace(out.free_at + link_latency_ns, which, next.next);
    ++number;
  }
  return number;
}

result run(const parameters& p, const weft::options& opt) {
  require_memory("a network of " + std::to_string(p.side * p.side) + " routers",
                 static_cast<double>(p.side * p.side) * 400 + static_cast<double>(p.packets) * 250);
  runtime rt(opt);
  ordered q(rt, p.section.get());
  constexpr std::uint64_t mean_packet_ns = 195;
  const std::vector<packet> packets = make_packets(p, opt.seed);
  order::paged<router> routers(p.side * p.side), expected(routers);
  // Half of all timestamps, since packets are on their way after the last was sent.
  if (packets.back().sent_at > UINT64_MAX / 2 / packets.size())
    throw error("network: --packets " + std::to_string(p.packets) + " --gap " + std::to_string(p.gap_ns) +
                " take longer than can be counted; take less of one");
  alignas(order::page_bytes) const network n{routers.data(), packets.size(), p.side, p.queue * mean_packet_ns};
  for (std::size_t i = 0; i < packets.size(); ++i)
    q.at(stamp(packets[i].sent_at, i, n.count), arrive, &n, &packets[i], packets[i].from);
  result r;
  order::run_section(r, rt, q);
  std::uint64_t events = 0, delivered = 0, dropped = 0, travelled = 0;
  const double serial = order::host_seconds([&] { events = simulate(packets, expected, p.side, n.patience_ns); });
  for (const router& here : routers) {
    delivered += here.delivered, travelled += here.travelled_ns;
    for (const link& l : here.links) dropped += l.dropped;
  }
  r.add("packets", std::uint64_t{packets.size()});
  r.add("delivered", delivered);
  r.add("dropped", dropped);
  r.add("travelled_ns_mean",
        static_cast<double>(travelled) / static_cast<double>(std::max<std::uint64_t>(1, delivered)));
  r.add("events", events);
  r.add("reference_seconds", serial, "s");
  r.checks.push_back(order::as_serial("routers", routers, expected));
  r.checks.push_back({"each_packet_once", delivered + dropped == packets.size(),
                      std::to_string(delivered) + " delivered and " + std::to_string(dropped) + " dropped of " +
                          std::to_string(packets.size())});
  r.checks.push_back(order::each_call_once(q, events));
  return r;
}

}  // namespace

app network_app() {
  auto p = std::make_shared<parameters>();
  return {
      .name = "network",
      .summary = "event simulation of packets on a torus of routers, ordered by time",
      .example = "network --side 16 --packets 20000",
      .options = {{"side", "routers in a row and in a column", &p->side, 1, 10'000},
                  {"packets", "from and to random routers", &p->packets, 1, 100'000'000},
                  {"gap", "ns from packet to packet, in the mean", &p->gap_ns, 0, 1'000'000'000},
                  {"queue", "packets that may wait for a link, if they are of middle size", &p->queue, 0, 1'000'000},
                  p->section.executor_option()},
      .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
