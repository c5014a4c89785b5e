// What bodies say they move (weft/data_use.hpp): on a modelled machine of four nodes the bytes that come from where, as
// with handles; the times; and that addresses do not matter. Real machines do nothing with it.
#include "weft/data_use.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/weft.hpp"

using where = weft::memory_placement;

namespace {

constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20;

// A mebibyte that is never touched, from the given byte of its memory on.
struct field {
  explicit field(const where& how, std::size_t from = 0) : memory(new char[mib + from]), begin(memory.get() + from) {
    weft::place_memory(begin, mib, how);
  }
  ~field() { weft::place_memory(begin, mib, where::first_touch()); }
  field(const field&) = delete;
  field& operator=(const field&) = delete;
  std::unique_ptr<char[]> memory;
  char* begin;
};

struct bytes {
  std::uint64_t local, remote, cached;
  [[nodiscard]] bool operator==(const bytes&) const = default;
};
bytes moved(weft::runtime& rt) {
  const weft::runtime::counts c = rt.statistics();
  return {c.local_bytes, c.remote_bytes, c.cached_bytes};
}

// Part i of `parts` on worker 8 (i % 4), which is on node i % 4.
bytes read_parts(const where& how, unsigned parts) {
  const field f(how);
  weft::runtime rt({.machine = "epyc-7551-32"});
  for (unsigned i = 0; i < parts; ++i) {
    rt.submit(weft::pin(8 * static_cast<int>(i % 4)),
              [&f, i, parts] { weft::charge(0, weft::loads(f.begin + i * (mib / parts), mib / parts)); });
    rt.wait();
  }
  return moved(rt);
}

std::string refused(const weft::data_use& use) {
  weft::runtime rt({.workers = 2, .machine = "epyc-7551-32"});
  rt.submit([&] { weft::charge(10, use); });
  try {
    rt.wait();
  } catch (const weft::error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("data use: bytes come from where the range lies, whichever part a body names") {
  CHECK(read_parts(where::first_touch(), 4) == bytes{mib, 0, 0});
  CHECK(read_parts(where::blocked(), 4) == bytes{mib, 0, 0});
  CHECK(read_parts(where::interleaved(), 4) == bytes{mib / 4, 3 * mib / 4, 0});
  CHECK(read_parts(where::on_node(2), 4) == bytes{mib / 4, 3 * mib / 4, 0});
  CHECK(read_parts(where::block_cyclic(64 * kib), 16) == bytes{mib, 0, 0});
  CHECK(read_parts(where::block_cyclic(512 * kib), 16) == bytes{mib / 4, 3 * mib / 4, 0});
}

TEST_CASE("data use: parts that overlap share what is in the cache") {
  const field f(where::on_node(0));
  weft::runtime rt({.machine = "epyc-7551-32"});
  rt.submit(weft::pin(0), [&] {
    weft::charge(0, weft::loads(f.begin, 64 * kib));
    weft::charge(0, weft::updates(f.begin + 32 * kib, 64 * kib));
  });
  rt.wait();
  CHECK(moved(rt) == bytes{96 * kib, 0, 32 * kib});
}

TEST_CASE("data use: a body takes as long as one whose handle is of those bytes, with its computing in step") {
  const field f(where::on_node(1));
  const auto takes = [&](bool by_handle, double computing) {
    weft::runtime rt({.machine = "epyc-7551-32"});
    weft::handle<void> h;
    h.lies_at(f.begin, mib);
    if (by_handle)
      rt.submit(weft::write(h), weft::pin(1), weft::cost(computing), [] {});
    else
      rt.submit(weft::write(h), weft::pin(1), weft::cost(0),
                [&, computing] { weft::charge(computing, weft::updates(f.begin, mib)); });
    if (!by_handle) h.bytes(0);
    rt.wait();
    return rt.now_ns();
  };
  for (const double computing : {0.0, 20'000.0, 2'000'000.0}) {
    const double handle = takes(true, computing), said = takes(false, computing);
    INFO(computing << " ns: " << handle << " with a handle, " << said << " said");
    CHECK(said > handle - 50);
    CHECK(said < handle + 50);
  }
}

TEST_CASE("data use: in forks and asyncs, at any address, the same times in each run") {
  const auto run = [](std::size_t from, const char* policy) {
    const field f(where::blocked(), from);
    weft::runtime rt({.machine = "epyc-7551-32", .policy = policy});
    std::vector<int> seen(32);
    weft::finish([&] {
      for (unsigned i = 0; i < 32; ++i)
        weft::async(weft::near(f.begin + i * 32 * kib, 32 * kib), [&f, &seen, i] {
          const auto part = [&](unsigned half) {
            weft::charge(500, weft::loads(f.begin + i * 32 * kib + half * 16 * kib, 16 * kib));
            ++seen[i];
          };
          weft::fork_join([&] { part(0); }, [&] { part(1); });
        });
    });
    CHECK(seen == std::vector<int>(32, 2));
    const bytes b = moved(rt);
    CHECK(b.local + b.remote + b.cached == mib);
    return std::pair(rt.now_ns(), b.local);
  };
  for (const char* policy : {"local", "near", "pufferfish"}) {
    const auto once = run(0, policy);
    CHECK(run(0, policy) == once);
    CHECK(run(24, policy) == once);
    CHECK(run(40'008, policy) == once);
    if (policy == std::string("pufferfish")) CHECK(once.second == mib);
  }
}

TEST_CASE("data use: what lies in no range is refused in words, on modelled machines") {
  const field f(where::interleaved());
  const std::string words = "lie in no range of memory that was placed";
  const char elsewhere[64] = {};
  CHECK(refused(weft::loads(elsewhere, 64)).find(words) != std::string::npos);
  CHECK(refused(weft::loads(f.begin + mib - 1, 2)).find(words) != std::string::npos);
  CHECK(refused(weft::stores(f.begin + mib - 1, 1)).empty());
  CHECK(refused(weft::stores(elsewhere, 0)).empty());
}

TEST_CASE("data use: nothing where a body moves nothing: on real machines, outside of bodies, by measured times") {
  const char elsewhere[64] = {};
  weft::charge(1, weft::loads(elsewhere, 64));
  for (const weft::options& o :
       {weft::options{.workers = 2}, weft::options{.machine = "virtual", .model = {.body = "measured"}},
        weft::options{.machine = "virtual", .model = {.schedule = "random"}}}) {
    weft::runtime rt(o);
    weft::charge(1, weft::loads(elsewhere, 64));
    rt.submit([&] { weft::charge(10, weft::loads(elsewhere, 64), weft::stores(elsewhere, 8)); });
    rt.wait();
    CHECK(rt.statistics().local_bytes == 0);
  }
}
