// Where data lie, as programs say it: what handles and ranges remember, what is refused, and on a modelled machine of
// four nodes the bytes that come from where, computed by hand.
#include "weft/memory_placement.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weft/weft.hpp"

namespace weft {
namespace {

using where = memory_placement;
using detail::data_layout;

constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20;

data_layout layout_of(handle<void>& h) { return detail::layout_of(h.state()); }

template <class Call> std::string refused(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

// Four nodes of eight cores: worker 8 k is on node k.
struct machine {
  runtime rt{{.machine = "epyc-7551-32"}};
  runtime::counts before = rt.statistics();

  void read_on(int node, handle<void>& h) {
    rt.submit(read(h), pin(8 * node), cost(0), [] {});
    rt.wait();
  }
  // Bytes that came from the own node and from others since the last time.
  std::pair<std::uint64_t, std::uint64_t> moved() {
    const runtime::counts now = rt.statistics();
    const runtime::counts old = std::exchange(before, now);
    return {now.local_bytes - old.local_bytes, now.remote_bytes - old.remote_bytes};
  }
};

using bytes = std::pair<std::uint64_t, std::uint64_t>;

}  // namespace

TEST_CASE("memory placement: a handle remembers it, beside its bytes and its name, and the last word holds") {
  handle<void> h;
  CHECK(layout_of(h) == data_layout{});
  h.bytes(1000, where::interleaved());
  CHECK(h.bytes() == 1000);
  CHECK(layout_of(h) == data_layout{where::interleaved(), 0, 1000});
  h.name("field");
  CHECK(layout_of(h) == data_layout{where::interleaved(), 0, 1000});
  h.bytes(2000, where::block_cyclic(64));
  CHECK(h.name() == std::string("field"));
  CHECK(layout_of(h) == data_layout{where::block_cyclic(64), 0, 2000});
  h.bytes(10, where::on_node(3));
  CHECK(layout_of(h) == data_layout{where::on_node(3), 0, 10});
  CHECK(detail::home_of(h.state()) == 3);
  h.bytes(10);
  CHECK(layout_of(h) == data_layout{});
  CHECK(detail::home_of(h.state()) == detail::no_home);
  h.bytes(0, where::blocked());
  CHECK(layout_of(h) == data_layout{});
  CHECK(h.name() == std::string("field"));
}

TEST_CASE("memory placement: a handle lies in the range that covers it, as that was when it said so") {
  const std::vector<char> field(1000);
  const char* const at = field.data();
  handle<void> h;
  h.lies_at(at + 100, 50);
  CHECK(layout_of(h) == data_layout{});
  place_memory(at, 400, where::blocked());
  place_memory(at + 400, 600, where::on_node(2));
  h.lies_at(at + 100, 50);
  CHECK(h.bytes() == 50);
  CHECK(layout_of(h) == data_layout{where::blocked(), 100, 400});
  h.lies_at(at + 399, 1);
  CHECK(layout_of(h) == data_layout{where::blocked(), 399, 400});
  h.lies_at(at + 400, 600);
  CHECK(layout_of(h) == data_layout{where::on_node(2), 0, 600});
  CHECK(refused([&] { h.lies_at(at + 399, 2); }).find("only partly") != std::string::npos);
  CHECK(refused([&] { h.lies_at(at + 999, 2); }).find("only partly") != std::string::npos);
  CHECK(layout_of(h) == data_layout{where::on_node(2), 0, 600});
  // A range that overlaps others takes their place; first touch takes back.
  place_memory(at + 300, 200, where::interleaved());
  h.lies_at(at, 100);
  CHECK(layout_of(h) == data_layout{});
  CHECK(refused([&] { h.lies_at(at + 299, 2); }).find("only partly") != std::string::npos);
  h.lies_at(at + 310, 10);
  CHECK(layout_of(h) == data_layout{where::interleaved(), 10, 200});
  place_memory(at, 1000, where::first_touch());
  h.lies_at(at + 310, 10);
  CHECK(layout_of(h) == data_layout{});
  CHECK(h.bytes() == 10);
}

TEST_CASE("memory placement: what cannot be meant is refused in words, and nothing changes") {
  handle<void> h;
  h.bytes(7, where::interleaved());
  const char c = 0;
  CHECK(refused([&] { h.bytes(1, where::block_cyclic(0)); }) ==
        "weft: block_cyclic(0) places nothing; a block has at least one byte");
  CHECK(refused([&] { h.bytes(1, where::on_node(65535)); }) ==
        "weft: data cannot lie on memory node 65535; nodes go to 65534");
  CHECK(refused([&] { h.bytes((std::uint64_t{1} << 40) + 1, where::blocked()); }).find("2^40") != std::string::npos);
  CHECK(refused([&] { place_memory(&c, 1, where::block_cyclic(0)); }).find("block_cyclic(0)") != std::string::npos);
  CHECK(refused([&] { place_memory(nullptr, 1, where::blocked()); }).find("no range") != std::string::npos);
  CHECK(refused([&] { place_memory(&c, 0, where::blocked()); }).find("no range") != std::string::npos);
  CHECK(refused([&] { place_memory(&c, ~std::uint64_t{0}, where::blocked()); }).find("no range") != std::string::npos);
  CHECK(layout_of(h) == data_layout{where::interleaved(), 0, 7});
}

TEST_CASE("memory placement: real machines accept it and the program runs") {
  runtime rt({.workers = 2});
  handle<int> h{1};
  h.bytes(64, where::on_node(70));
  rt.submit(write(h), [](int& x) { x = 2; });
  CHECK(rt.get(h) == 2);
}

TEST_CASE("memory placement: bytes by kind on four nodes, one datum read on node 1") {
  const auto read = [](const where& how) {
    machine m;
    handle<void> h;
    h.bytes(mib, how);
    m.read_on(1, h);
    return m.moved();
  };
  CHECK(read(where::first_touch()) == bytes{mib, 0});
  CHECK(read(where::on_node(1)) == bytes{mib, 0});
  CHECK(read(where::on_node(3)) == bytes{0, mib});
  CHECK(read(where::on_node(5)) == bytes{mib, 0});  // counted round
  CHECK(read(where::interleaved()) == bytes{mib / 4, 3 * mib / 4});
  CHECK(read(where::blocked()) == bytes{mib / 4, 3 * mib / 4});
  // Blocks of 384 KiB on nodes 0, 1 and 2, which has the 256 KiB that are left.
  CHECK(read(where::block_cyclic(384 * kib)) == bytes{384 * kib, 640 * kib});
}

TEST_CASE("memory placement: bytes by kind on four nodes, an array whose parts are read on their nodes") {
  const std::unique_ptr<char[]> field(new char[mib]);  // never written: pages that nobody has
  // Part i of `parts` on node i % 4; returns what came from there and from elsewhere.
  const auto read = [&](const where& how, unsigned parts) {
    place_memory(field.get(), mib, how);
    machine m;
    std::vector<handle<void>> h(parts);
    for (unsigned i = 0; i < parts; ++i) {
      h[i].lies_at(field.get() + i * (mib / parts), mib / parts);
      m.read_on(static_cast<int>(i % 4), h[i]);
    }
    place_memory(field.get(), mib, where::first_touch());
    return m.moved();
  };
  CHECK(read(where::first_touch(), 4) == bytes{mib, 0});
  CHECK(read(where::blocked(), 4) == bytes{mib, 0});
  CHECK(read(where::interleaved(), 4) == bytes{mib / 4, 3 * mib / 4});
  CHECK(read(where::block_cyclic(64 * kib), 4) == bytes{mib / 4, 3 * mib / 4});
  CHECK(read(where::on_node(2), 4) == bytes{mib / 4, 3 * mib / 4});
  CHECK(read(where::blocked(), 16) == bytes{mib / 4, 3 * mib / 4});
  CHECK(read(where::block_cyclic(64 * kib), 16) == bytes{mib, 0});
  CHECK(read(where::interleaved(), 64) == bytes{mib, 0});  // a chunk each
  // Two blocks of 512 KiB: parts 0 to 7 are on node 0, the rest on node 1, and every fourth of these is read there.
  CHECK(read(where::block_cyclic(512 * kib), 16) == bytes{mib / 4, 3 * mib / 4});
  CHECK(read(where::block_cyclic(256 * kib), 4) == bytes{mib, 0});
}

TEST_CASE("memory placement: interleaving beats first touch by one thread where bandwidth bounds") {
  const auto ns = [](const where& how) {
    runtime rt({.machine = "epyc-7551-32"});
    std::vector<handle<void>> h(32);
    for (handle<void>& x : h) {
      x.bytes(4 * mib, how);
      rt.submit(write(x), pin(0), cost(0), [] {});
    }
    rt.wait();
    const double began = rt.now_ns();
    for (int i = 0; i < 32; ++i) rt.submit(read(h[static_cast<std::size_t>(i)]), pin(i), cost(0), [] {});
    rt.wait();
    return rt.now_ns() - began;
  };
  const double one_node = ns(where::first_touch()), spread = ns(where::interleaved());
  // 128 MiB from one controller of 42.6 bytes per ns, less what lies in its cores' caches; or from four.
  CHECK(one_node > 120.0 * mib / 42.6);
  CHECK(spread < one_node / 1.5);
}

}  // namespace weft
