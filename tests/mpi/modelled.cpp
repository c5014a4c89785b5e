// Ranks on modelled nodes: what messages take to the picosecond, that every run is the same, and that who waits for
// ever is told. The other cases of ranks run there, too (RANKS=modelled, several.hpp).
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/programs/cholesky.hpp"
#include "several.hpp"
#include "weft/modelled_nodes.hpp"
#include "weft/modelled_ranks.hpp"

namespace weft::testing {
namespace {

// Nothing takes time but messages.
const std::string only_messages =
    "runtime.submit.ns = 0; runtime.submit_access.ns = 0; runtime.run.ns = 0; runtime.run_access.ns = 0;"
    "runtime.advance.ns = 0; runtime.steal.ns = 0; runtime.request.ns = 0; runtime.relax.ps = 1;"
    "runtime.switch.ns = 0; runtime.sleep.ns = 0; runtime.waker.ns = 0; runtime.wake.ns = 0; runtime.body.ns = 0;"
    "lines.load.ns = 0; lines.store.ns = 0; lines.modify.ns = 0; lines.transfer.node.ns = [0]; lines.memory.ns = [0];"
    "memory.read_line.ns = [0];";
// A byte takes 100 ps.
const std::string two_nodes = "network.nodes.count = 2; network.latency.us = 1; network.link.GBps = 10;"
                              "network.send.ns = 300; network.receive.ns = 200; network.eager.KiB = 8;";

// Back and forth, so many times, until the last is here; in ps.
double ping_pong_ps(std::size_t bytes, int rounds, const std::string& network = two_nodes) {
  double ns = 0;
  const std::string change = only_messages + network;
  run_modelled_ranks({.machine = "virtual", .change = change.c_str()}, [&](transport& net) {
    runtime rt({.workers = 1});
    ranks w(rt, net);
    handle<std::vector<std::byte>> data(bytes);
    const int other = 1 - w.rank();
    for (int i = 0; i < 2 * rounds; ++i) {
      if (i % 2 == w.rank())
        rt.submit(read(data), w.send(data, other, 1));
      else
        rt.submit(write(data), w.receive(data, other, 1));
    }
    rt.wait();
    if (w.rank() == 0) ns = rt.now_ns();
  });
  return ns * 1000;
}

struct seen {
  std::uint64_t sum = 0;
  std::vector<double> ended;
  network_report network{};
  [[nodiscard]] bool operator==(const seen& o) const {
    return sum == o.sum && ended == o.ended && network.slow_ns == o.network.slow_ns &&
           network.longest_full_ns == o.network.longest_full_ns && network.messages == o.network.messages;
  }
};

seen factored(const char* machine, std::uint64_t seed, const char* mode = nullptr) {
  seen s;
  s.network = run_modelled_ranks({.machine = machine}, [&](transport& net) {
    runtime rt({.seed = seed, .model = {.mode = mode}});
    cluster w(rt, net);
    programs::tiled_matrix a(w, 9, 4);
    programs::fill(w, a);
    programs::cholesky(w, a);
    w.fence();
    s.sum = programs::checksum(w, a);
    w.fence();
    s.ended.push_back(rt.now_ns());
  });
  return s;
}

}  // namespace

TEST_CASE("modelled ranks: a small message takes send, latency, bytes and receive, exactly") {
  constexpr double overheads = 300'000 + 200'000, latency = 1'000'000;
  for (const std::size_t bytes : {1u, 8u, 1000u, 8192u})
    for (const int rounds : {1, 10})
      CHECK(ping_pong_ps(bytes, rounds) == 2 * rounds * (overheads + latency + static_cast<double>(bytes) * 100));
}

TEST_CASE("modelled ranks: a large one takes a question and an answer more") {
  constexpr double overheads = 300'000 + 200'000, latency = 1'000'000;
  for (const std::size_t bytes : {8193u, 100'000u})
    for (const int rounds : {1, 10})
      CHECK(ping_pong_ps(bytes, rounds) == 2 * rounds * (overheads + 3 * latency + static_cast<double>(bytes) * 100));
}

TEST_CASE("modelled ranks: a core that sleeps sees a message later") {
  // The receiver has searched for 25 us and sleeps; it is told 40 us after the message has come, and so is the sender.
  const double one_way = 300'000 + 40'000'000 + 200'000 + 800;
  const double ps = ping_pong_ps(8, 3,
                                 "network.nodes.count = 2; network.latency.us = 30; network.link.GBps = 10;"
                                 "network.send.ns = 300; network.receive.ns = 200; network.eager.KiB = 8;"
                                 "network.notice.us = 40;");
  CHECK(ps == 6 * (one_way + 30'000'000));
}

TEST_CASE("modelled ranks: every run is the same to the bit") {
  for (const char* machine : {"cluster-2x4", "cluster-16x64"})
    for (const std::uint64_t seed : {1, 5}) CHECK(factored(machine, seed) == factored(machine, seed));
  const seen coarse = factored("cluster-2x4", 1, "coarse");
  CHECK(coarse == factored("cluster-2x4", 1, "coarse"));
  CHECK(coarse.sum == factored("cluster-2x4", 1).sum);
}

TEST_CASE("modelled ranks: a message that nobody sends is found at once, and named") {
  std::vector<std::string> texts(2);
  run_modelled_ranks({.machine = "cluster-2x4"}, [&](transport& net) {
    runtime rt;
    ranks w(rt, net);
    handle<int> x;
    if (w.rank() == 0) rt.submit(write(x), named("waits"), w.receive(x, 1, 3));
    try {
      rt.wait();
    } catch (const error& e) {
      texts[static_cast<std::size_t>(w.rank())] = e.what();
    }
  });
  CHECK(texts[0] ==
        "weft: all ranks wait, and no message is on its way\n  rank 0 waits for one from rank 1 with tag 3");
  CHECK(texts[1].empty());
}

TEST_CASE("modelled ranks: ranks that wait for one another are all told") {
  std::vector<int> told;
  run_modelled_ranks({.machine = "cluster-16x64", .ranks = 3}, [&](transport& net) {
    runtime rt({.workers = 2});
    ranks w(rt, net);
    handle<int> x, y;
    rt.submit(write(x), w.receive(x, (w.rank() + 1) % 3, 1));
    rt.submit(read(x), write(y), [](const int&, int&) {});
    rt.submit(read(y), w.send(y, (w.rank() + 2) % 3, 1));
    try {
      rt.wait();
    } catch (const error& e) {
      CHECK(has(e.what(), "rank 2 waits for one from rank 0 with tag 1"));
      told.push_back(w.rank());
    }
  });
  CHECK(told == std::vector<int>{0, 1, 2});
}

TEST_CASE("modelled ranks: a rank that waits for what no rank brings is told, and so is who waits for it") {
  std::vector<std::string> texts(2);
  run_modelled_ranks({.machine = "cluster-2x4"}, [&](transport& net) {
    runtime rt({.workers = 2});
    handle<int> x;
    ranks w(rt, net);
    try {
      event nobodys("nobody's");
      if (w.rank() == 0) nobodys.wait();
      rt.submit(write(x), w.receive(x, 0, 1));
      rt.wait();
    } catch (const error& e) {
      texts[static_cast<std::size_t>(w.rank())] = e.what();
    }
  });
  CHECK(has(texts[0], "nobody's"));
  CHECK(has(texts[1], "rank 1 waits for one from rank 0 with tag 1"));
}

TEST_CASE("modelled ranks: nodes may be different machines, and a rank has all cores of its node") {
  std::vector<unsigned> workers;
  run_modelled_ranks({.machine = "cluster-2x4"}, [&](transport& net) {
    runtime rt({.machine = net.rank() == 0 ? nullptr : "epyc-7551-32"});
    cluster w(rt, net);
    cluster_handle<int> x(w, 0, 1), y(w, 1, 0);
    w.submit(read(x), write(y), [](const int& from, int& to) { to = from + 1; });
    CHECK(w.get(y) == 2);
    workers.push_back(rt.workers());
  });
  CHECK(workers.size() == 2);
  CHECK(workers[0] + workers[1] == 36);
}

TEST_CASE("modelled ranks: what cannot be is refused with words") {
  const auto nothing = [](transport&) {};
  const auto refuses = [&](const modelled_ranks& how, const char* text) {
    CHECK_THROWS_WITH_AS(run_modelled_ranks(how, nothing), doctest::Contains(text), error);
  };
  refuses({.machine = "epyc-7551-32"}, "has no [network]");
  refuses({.machine = "host"}, "name one with a [network]");
  refuses({.machine = "cluster-2x4", .ranks = 3}, "has 2 nodes, and 3 are asked for");
  refuses({.machine = "cluster-2x4", .ranks = -1}, "-1 ranks");
  refuses({.machine = "cluster-2x5"}, "did you mean cluster-2x4");
  CHECK_THROWS_WITH_AS(run_modelled_ranks({.machine = "cluster-2x4"},
                                          [](transport& net) {
                                            runtime rt({.workers = 1, .machine = "host"});
                                            cluster(rt, net);
                                          }),
                       doctest::Contains("is on real cores"), error);
  CHECK_THROWS_WITH_AS(run_modelled_ranks({.machine = "cluster-2x4"},
                                          [](transport& net) {
                                            runtime rt({.model = {.schedule = "random"}});
                                            cluster(rt, net);
                                          }),
                       doctest::Contains("goes by time"), error);
}

TEST_CASE("modelled ranks: the exception of a rank comes out, and others are told") {
  std::string other;
  CHECK_THROWS_WITH_AS(run_modelled_ranks({.machine = "cluster-2x4"},
                                          [&](transport& net) {
                                            runtime rt({.workers = 2});
                                            cluster w(rt, net);
                                            cluster_handle<int> x(w, 1, 0), y(w, 0, 0);
                                            if (w.rank() == 1) throw std::runtime_error("this rank gives up");
                                            w.submit(read(x), write(y), [](const int&, int&) {});
                                            try {
                                              w.fence();
                                            } catch (const error& e) {
                                              other = e.what();
                                            }
                                          }),
                       "this rank gives up", std::runtime_error);
  CHECK(has(other, "rank 1 has left its program by an exception"));
}

}  // namespace weft::testing
