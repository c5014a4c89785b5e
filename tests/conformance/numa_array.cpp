// Arrays on memory nodes, on this computer and on a modelled one with four: homes to the byte, tasks at the node of
// their block, fills, and what is refused.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

using where = weft::memory_placement;
constexpr const char* four_nodes = "epyc-7551-32";  // workers 8 k to 8 k + 7 at node k
constexpr std::size_t chunk = 16 << 10, mib = 1 << 20;

template <class Call> std::string refused(const Call& call) {
  try {
    call();
  } catch (const weft::error& e) {
    return e.what();
  }
  return "";
}

// The node that a chunk of a modelled machine's 4 is on, by counting blocks.
unsigned counted(const where& how, std::size_t whole, std::size_t at) {
  std::size_t block = chunk;
  if (how.how() == where::kind::on_node) return how.node() % 4;
  if (how.how() == where::kind::blocked) block = (whole + 3) / 4;
  if (how.how() == where::kind::block_cyclic) block = how.block_bytes();
  unsigned node = 0;
  for (std::size_t end = block; end <= at; end += block) node = (node + 1) % 4;
  return node;
}

}  // namespace

TEST_CASE("numa_array: homes on four modelled nodes, by the array, by the bytes that tasks move, and by count") {
  for (const where& how : {where::blocked(), where::interleaved(), where::on_node(2), where::on_node(7),
                           where::block_cyclic(3 * chunk), where::block_cyclic(100'000)}) {
    weft::runtime rt({.machine = four_nodes});
    weft::numa_array<char> a(mib, how);
    CHECK(weft::memory_nodes() == 4);
    std::vector<weft::handle<void>> parts(a.size() / chunk);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const unsigned home = counted(how, a.size(), i * chunk);
      INFO("layout " << static_cast<int>(how.how()) << ", chunk " << i);
      CHECK(a.node_of(i * chunk) == home);
      CHECK(a.node_of(i * chunk + chunk - 1) == home);
      parts[i].lies_at(a.data() + i * chunk, chunk);
      const auto before = rt.statistics();
      rt.submit(weft::read(parts[i]), weft::pin(static_cast<int>(8 * home)), weft::cost(0), [] {});
      rt.wait();
      const auto after = rt.statistics();
      CHECK(after.local_bytes - before.local_bytes == chunk);
      CHECK(after.remote_bytes == before.remote_bytes);
    }
  }
}

TEST_CASE("numa_array: elements have homes where they begin, whatever their size") {
  struct three {
    double x, y, z;
  };
  weft::runtime rt({.machine = four_nodes});
  const weft::numa_array<three> a(100'000, where::blocked());  // 2.4 MB in blocks of 600,000 bytes
  for (std::size_t i = 0; i < a.size(); i += 7) {
    const std::size_t at = i * sizeof(three) / chunk * chunk;
    REQUIRE(a.node_of(i) == at / 600'000);
  }
}

TEST_CASE("numa_array: tasks run at the node of their block; with ranges, pointers, and after a move") {
  for (const char* policy : {"pufferfish", "hpt"}) {
    weft::runtime rt({.workers = 32, .machine = four_nodes, .policy = policy});
    weft::numa_array<double> made(400 * 2048, where::blocked());
    const weft::numa_array<double> a(std::move(made));
    int elsewhere = 0;
    for (const bool by_pointer : {false, true}) {
      for (std::size_t n = 0; n < 400; ++n) {
        const std::size_t from = n * 101 % 400 * 2048, to = from + 2048;
        const auto hint = by_pointer ? weft::near(&a[from], 2048 * sizeof(double)) : weft::near(a, from, to);
        rt.submit(hint, weft::cost(1e4), [&a, &elsewhere, from] {
          elsewhere += static_cast<unsigned>(weft::worker_id()) / 8 != *a.node_of(from);
        });
      }
      rt.wait();
    }
    INFO(policy);
    CHECK(elsewhere == 0);
  }
}

TEST_CASE("numa_array: the same virtual time wherever the array lies in memory") {
  const auto ns = [](std::size_t holes) {
    std::vector<weft::numa_array<char>> others;
    for (std::size_t i = 0; i < holes; ++i) others.emplace_back((i + 1) * 12'345, where::interleaved());
    weft::runtime rt({.machine = four_nodes, .policy = "pufferfish"});
    weft::numa_array<std::int64_t> a(mib, where::block_cyclic(mib));
    a.fill(1);
    std::vector<weft::handle<void>> parts(64);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].lies_at(&a[i * (mib / 64)], mib / 64 * sizeof a[0]);
      rt.submit(weft::write(parts[i]), weft::near(parts[i]), [] {});
    }
    rt.wait();
    return rt.now_ns();
  };
  const double first = ns(0);
  CHECK(first > 0);
  for (const std::size_t holes : {1u, 7u, 20u}) CHECK(ns(holes) == first);
}

TEST_CASE("numa_array: fill writes every element once, on every machine, from inside and outside of tasks") {
  struct counted_value {
    int x = 7;
  };
  static_assert(std::is_trivially_copyable_v<counted_value>);
  for (const char* machine : {"host", "virtual", four_nodes})
    for (const char* policy : {"local", "near", "pufferfish", "hpt"})
      for (const where& how :
           {where::first_touch(), where::blocked(), where::interleaved(), where::block_cyclic(8192)}) {
        INFO(std::string(machine) << ' ' << policy << ' ' << static_cast<int>(how.how()));
        const deadline limit("numa_array: fill");
        weft::runtime rt({.workers = 4, .machine = machine, .policy = policy});
        weft::numa_array<counted_value> a(300'001, how);
        const auto all_are = [&a](int x) {
          for (const counted_value& v : a)
            if (v.x != x) return false;
          return true;
        };
        CHECK(all_are(0));
        a.fill();
        CHECK(all_are(7));
        rt.submit([&a] { a.fill({9}); });
        rt.wait();
        CHECK(all_are(9));
        a.fill(a[300'000]);
        CHECK(all_are(9));
      }
  weft::numa_array<int> alone(100'000);
  alone.fill(3);  // without a runtime: a loop
  CHECK(alone[0] + alone[99'999] == 6);
}

TEST_CASE("numa_array: a fill is tasks of 64 KiB, by halves; of less than two of these it is none") {
  weft::runtime rt({.workers = 32, .machine = four_nodes, .policy = "pufferfish"});
  weft::numa_array<std::int64_t> a(mib / 2, where::blocked()), small(16'383, where::blocked());
  small.fill();
  CHECK(rt.statistics().tasks == 0);
  a.fill();
  CHECK(rt.statistics().tasks == 2 + 4 + 8 + 16 + 32 + 64);  // 4 MiB
}

TEST_CASE("numa_array: local memory is at the caller's node") {
  CHECK(where::local().node() < weft::memory_nodes());
  weft::runtime rt({.machine = four_nodes});
  CHECK(where::local() == where::on_node(0));
  for (int worker = 0; worker < 32; ++worker)
    rt.submit(weft::pin(worker), [worker] {
      const weft::numa_array<int> mine(10, where::local());
      CHECK(mine.node_of(3) == static_cast<unsigned>(worker) / 8);
    });
  rt.wait();
}

TEST_CASE("numa_array: no elements, no array, and where that has gone which was moved") {
  const weft::numa_array<int> nothing(0, where::interleaved());
  CHECK(nothing.data() == nullptr);
  CHECK((nothing.empty() && nothing.begin() == nothing.end() && nothing.span().empty()));
  CHECK(weft::near(nothing, 0, 10).bytes == 0);
  weft::numa_array<int> none, a(1000, where::on_node(3));
  none.fill();
  int* const at = a.data();
  none = std::move(a);
  CHECK((none.data() == at && none.size() == 1000 && none.placement() == where::on_node(3)));
  CHECK(weft::near(none, 10, 20).bytes == 40);
  CHECK(weft::near(none, 990, 2000).bytes == 40);  // as far as it goes
  CHECK(weft::near(none, 20, 10).bytes == 0);
  CHECK(weft::near(none, 5000, 6000).bytes == 0);
  // What an array has told of its addresses goes with it.
  const void* where_it_was = at;
  { const weft::numa_array<int> last(std::move(none)); }
  CHECK(weft::near(where_it_was, 40).layout == weft::detail::data_layout{});
}

TEST_CASE("numa_array: what cannot be is refused in words, and nothing is left of it") {
  using array = weft::numa_array<double>;
  CHECK(refused([] { const array a(~std::size_t{0} / 4); }).find("larger than any memory") != std::string::npos);
  CHECK(refused([] { const array a(std::size_t{1} << 58); }).find("no memory for an array of") != std::string::npos);
  CHECK(refused([] { const array a(10, where::block_cyclic(0)); }).find("block_cyclic(0)") != std::string::npos);
  CHECK(refused([] { const array a(0, where::block_cyclic(0)); }).find("block_cyclic(0)") != std::string::npos);
  CHECK(refused([] { const array a(10, where::on_node(65535)); }).find("memory node 65535") != std::string::npos);
}

TEST_CASE("numa_array: this computer, whatever it has: a node for each element, and where its page is") {
  const unsigned nodes = weft::memory_nodes();
  for (const bool huge : {false, true})
    for (const where& how : {where::blocked(), where::interleaved(), where::on_node(5), where::block_cyclic(10'000)}) {
      weft::numa_array<int> a(3'000'000, how, {.huge_pages = huge});
      a.fill(1);
      for (std::size_t i = 0; i < a.size(); i += 1009) {
        REQUIRE(*a.node_of(i) < nodes);
        if (const auto lies = weft::node_of(&a[i]); lies && nodes == 1) REQUIRE(*lies == 0);
      }
    }
  const weft::numa_array<int> untouched(10, where::first_touch());
  CHECK(!untouched.node_of(0));
  CHECK(!weft::node_of(&untouched[0]));
}
