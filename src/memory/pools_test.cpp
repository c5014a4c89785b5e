// Pools of plain address space for 1 and 24 nodes, and of a source that refuses, and whose pages lie where a test says.
// Real nodes are asked by tests/numa.
#include "memory/pools.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "sanitized.hpp"

namespace weft::memory {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

std::size_t rounded(std::size_t bytes) {
  if (bytes > 2 * mib) return (bytes + 65'535) / 65'536 * 65'536;
  std::size_t r = 64;
  while (r < bytes) r *= 2;
  return r;
}

struct block {
  unsigned char* at;
  std::size_t bytes;
  unsigned char sign;
};

// The first and the last 4 KiB of it, of a small one all.
void mark(block& b, unsigned char sign) {
  b.sign = sign;
  const std::size_t n = std::min(b.bytes, 4 * kib);
  std::memset(b.at, sign, n);
  std::memset(b.at + b.bytes - n, sign, n);
}
bool is_marked(const block& b) {
  const std::size_t n = std::min(b.bytes, 4 * kib);
  const auto right = [&](unsigned char c) { return c == b.sign; };
  return std::all_of(b.at, b.at + n, right) && std::all_of(b.at + b.bytes - n, b.at + b.bytes, right);
}
block taken(pools& p, std::size_t bytes, unsigned node, unsigned char sign) {
  block b{static_cast<unsigned char*>(p.take(bytes, node)), bytes, sign};
  mark(b, sign);
  return b;
}

// Address space that refuses when a test says so, and whose pages lie where it says.
class told final : public page_source {
 public:
  std::uint64_t left = ~std::uint64_t{0};  // bytes
  mutable detail::cell<std::uint64_t> asked;
  std::map<const void*, unsigned> lies;  // of a block's first byte; others were never touched
  std::vector<std::pair<std::byte*, std::uint64_t>> forgotten;

  void* take(std::uint64_t bytes, unsigned node) noexcept override {
    if (bytes > left) return nullptr;
    void* const p = space_.take(bytes, node);
    if (p != nullptr) left -= bytes;
    return p;
  }
  void give_back(void* begin, std::uint64_t bytes) noexcept override {
    left += bytes;
    space_.give_back(begin, bytes);
  }
  void forget(void* begin, std::uint64_t bytes) noexcept override {
    forgotten.emplace_back(static_cast<std::byte*>(begin), bytes);
    lies.erase(begin);
  }
  bool tells() const noexcept override { return true; }
  std::optional<unsigned> node_of(const void* p) const noexcept override {
    base::shared(asked).fetch_add(1, base::relaxed);
    const auto found = lies.find(p);
    return found == lies.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  address_space space_;
};

// Whether the process has the address at all.
bool is_mapped(const void* p) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  unsigned char in_memory = 0;
  return ::mincore(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) / page * page), 1, &in_memory) == 0;
}

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("pools: blocks of all sizes are aligned and apart, and the counts are exact") {
  address_space source;
  pools p(1, source);
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 1; bytes <= 4 * mib; bytes += bytes < 600 ? 1 : bytes / 5) sizes.push_back(bytes);
  for (std::size_t bytes = 64; bytes <= 4 * mib; bytes *= 2)
    for (const std::size_t n : {bytes - 1, bytes, bytes + 1}) sizes.push_back(n);
  std::vector<block> all;
  std::size_t in_use = 0, peak = 0;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t bytes : sizes) {
      all.push_back(taken(p, bytes, 0, static_cast<unsigned char>(all.size() % 251)));
      const auto address = reinterpret_cast<std::uintptr_t>(all.back().at);
      CHECK(address % std::min(rounded(bytes), 2 * mib) == 0);
      in_use += rounded(bytes);
      peak = std::max(peak, in_use);
    }
    CHECK(p.counts().all.in_use == in_use);
    CHECK(p.counts().all.peak == peak);
    CHECK(p.counts().all.held >= in_use);
    CHECK(std::all_of(all.begin(), all.end(), is_marked));
    for (std::size_t i = round; i < all.size(); ++i) {  // all but one a round
      p.give_back(all[i].at, all[i].bytes);
      in_use -= rounded(all[i].bytes);
    }
    all.resize(round);
    CHECK(p.counts().node[0].in_use == in_use);
    CHECK(p.counts().node[0].peak == peak);
  }
}

TEST_CASE("pools: each of 24 nodes has its own chunks, and a block goes back to its node whoever gives it") {
  address_space source;
  pools p(24, source);
  std::set<std::uintptr_t> chunks[24];
  std::vector<void*> blocks[24];
  for (int i = 0; i < 100; ++i)
    for (unsigned n = 0; n < 24; ++n)
      for (const std::size_t bytes : {64 * kib, 64 * kib, 64 * kib}) {
        blocks[n].push_back(p.take(bytes, n));
        chunks[n].insert(reinterpret_cast<std::uintptr_t>(blocks[n].back()) / chunk_bytes);
        CHECK(p.node_of(blocks[n].back(), bytes) == n);
      }
  std::set<std::uintptr_t> all;
  std::size_t sum = 0;
  for (const auto& c : chunks) all.insert(c.begin(), c.end()), sum += c.size();
  CHECK(all.size() == sum);
  std::jthread([&] {
    for (auto& b : blocks)
      for (void* x : b) p.give_back(x, 64 * kib);
  }).join();
  const pool_counts c = p.counts();
  for (unsigned n = 0; n < 24; ++n) {
    CHECK(c.node[n].in_use == 0);
    CHECK(c.node[n].peak == 300 * 64 * kib);
    const void* const again = p.take(64 * kib, n);
    CHECK(chunks[n].contains(reinterpret_cast<std::uintptr_t>(again) / chunk_bytes));
  }
  CHECK(c.all.peak == 24 * 300 * 64 * kib);
  CHECK(c.strays == 0);
}

TEST_CASE("pools: threads take, hand over and give back, and nobody writes to another's block") {
  address_space source;
  pools p(3, source, {.whole_bytes_max = 4 * mib, .whole_ms_max = 1});
  constexpr unsigned threads = 4;
  std::mutex lock;
  std::vector<block> handed;
  std::array<bool, threads> right{};
  const auto work = [&](unsigned id) {
    base::random rng(id + 1);
    std::vector<block> mine;
    bool good = true;
    const auto end = [&](block b) {
      good = good && is_marked(b);
      p.give_back(b.at, b.bytes);
    };
    for (int i = 0; i < 6000; ++i) {
      const std::size_t most = std::size_t{1} << rng.below(i % 100 == 0 ? 23 : 17);
      mine.push_back(taken(p, 1 + rng.below(static_cast<std::uint32_t>(most)), rng.below(3),
                           static_cast<unsigned char>(rng.below(256))));
      while (mine.size() > 40) {
        std::swap(mine[rng.below(40)], mine.back());
        if (rng.below(2) == 0) {
          end(mine.back());
        } else {
          const std::lock_guard guard(lock);
          handed.push_back(mine.back());
        }
        mine.pop_back();
      }
      block other{};
      {
        const std::lock_guard guard(lock);
        if (handed.size() > 50) other = handed.front(), handed.erase(handed.begin());
      }
      if (other.at != nullptr) end(other);
    }
    for (const block& b : mine) end(b);
    right[id] = good;
  };
  {
    std::vector<std::jthread> all;
    for (unsigned id = 0; id < threads; ++id) all.emplace_back(work, id);
  }
  for (const block& b : handed) {
    CHECK(is_marked(b));
    p.give_back(b.at, b.bytes);
  }
  for (const bool good : right) CHECK(good);
  const pool_counts c = p.counts();
  CHECK(c.all.in_use == 0);
  CHECK(c.all.peak > 0);
  for (const auto& n : c.node) CHECK(n.in_use == 0);
}

TEST_CASE("pools: what threads that ended had at hand is there for the next ones") {
  address_space source;
  pools p(1, source);
  std::uint64_t held = 0;
  for (int i = 0; i < 200; ++i) {
    std::jthread([&] {
      std::vector<void*> some;
      for (int n = 0; n < 30; ++n) some.push_back(p.take(32 * kib, 0));
      for (void* b : some) p.give_back(b, 32 * kib);
    }).join();
    if (i == 0) held = p.counts().all.held;
  }
  CHECK(p.counts().all.held == held);
  CHECK(p.counts().all.in_use == 0);
}

TEST_CASE("pools: memory goes back to the system: beyond a bound at once, after a while, and when it is told to") {
  address_space source;
  const auto fill_and_empty = [](pools& p) {
    std::vector<void*> all;
    for (int i = 0; i < 100; ++i) std::memset(all.emplace_back(p.take(1 * mib, 0)), 1, 1 * mib);
    CHECK(p.counts().all.held >= 100 * mib);
    CHECK(p.counts().all.held <= 113 * mib);  // it grows by eighths
    for (void* b : all) p.give_back(b, 1 * mib);
    return all;
  };
  const auto mapped = [](const std::vector<void*>& all) { return std::count_if(all.begin(), all.end(), is_mapped); };
  {
    pools p(1, source, {.whole_bytes_max = 16 * mib, .whole_ms_max = 1u << 30});
    const std::vector<void*> all = fill_and_empty(p);
    CHECK(p.counts().all.held == 16 * mib);
    CHECK(mapped(all) == 16);
    p.trim();
    CHECK(p.counts().all.held == 0);
    CHECK(mapped(all) == 0);
  }
  pools p(1, source, {.whole_bytes_max = 1000 * mib, .whole_ms_max = 20});
  static_cast<void>(fill_and_empty(p));
  void* const one = p.take(64 * kib, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  p.give_back(p.take(64 * kib, 0), 64 * kib);  // anybody who comes by
  CHECK(p.counts().all.held == 2 * mib);
  p.give_back(one, 64 * kib);
}

TEST_CASE("pools: a chunk whose blocks came back is cut again for another class") {
  address_space source;
  pools p(1, source);
  for (std::size_t bytes = 64; bytes <= 2 * mib; bytes *= 2) {
    std::vector<void*> all;
    for (std::size_t n = 0; n < 2 * mib / bytes; ++n) all.push_back(p.take(bytes, 0));
    for (void* b : all) p.give_back(b, bytes);
    p.trim();
    CHECK(p.counts().all.held == 0);
  }
}

TEST_CASE("pools: who is refused hears of it, and nothing is lost") {
  told source;
  pools p(2, source);
  source.left = 8 * mib;
  std::vector<void*> all;
  for (const std::size_t bytes : {3 * kib, 128 * kib, 2 * mib, 3 * mib}) {
    bool refused = false;
    while (!refused) try {
        all.push_back(p.take(bytes, 1));
      } catch (const std::bad_alloc&) {
        refused = true;
      }
    CHECK(!all.empty());
    CHECK(p.counts().all.in_use == all.size() * rounded(bytes));
    for (void* b : all) p.give_back(b, bytes);
    all.clear();
    CHECK(p.counts().all.in_use == 0);
    p.give_back(p.take(bytes, 0), bytes);  // what node 1 does not need is given back for it
  }
  p.trim();
  CHECK(p.counts().all.held == 0);
  CHECK(source.left == 8 * mib);
  CHECK_THROWS_AS(static_cast<void>(p.take(~std::size_t{0}, 0)), std::bad_alloc);
}

TEST_CASE("pools: where the process may have no more addresses the same holds" * doctest::skip(sanitized)) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{pages * 4096 + 64 * mib, pages * 4096 + 64 * mib};
    address_space source;
    pools p(1, source);
    std::vector<void*> all;
    all.reserve(1000);
    bool refused = ::setrlimit(RLIMIT_AS, &limit) != 0;
    while (!refused && all.size() != 1000) try {
        all.push_back(p.take(1 * mib, 0));
      } catch (const std::bad_alloc&) {
        refused = true;
      }
    const bool some = all.size() > 30 && all.size() < 65 && p.counts().all.in_use == all.size() * mib;
    for (void* b : all) p.give_back(b, 1 * mib);
    std::memset(p.take(1 * mib, 0), 1, 1 * mib);
    ::_exit(refused && some && p.counts().all.in_use == 1 * mib ? 7 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
}

TEST_CASE("pools: 8 GiB for 24 modelled nodes that nobody touches are addresses only") {
  address_space source;
  pools p(24, source);
  std::vector<std::pair<void*, std::size_t>> all;
  const std::size_t before = resident_bytes();
  std::size_t sum = 0;
  for (unsigned i = 0; sum < 8192 * mib; ++i) {
    const std::size_t bytes = std::array{4 * kib, 64 * kib, 1 * mib, 2 * mib, 16 * mib}[i % 5];
    all.emplace_back(p.take(bytes, i % 24), bytes);
    sum += bytes;
  }
  CHECK(p.counts().all.in_use == sum);
  CHECK(resident_bytes() < before + 16 * mib);  // what there is to know of 8 GiB
  for (const auto& [b, bytes] : all) p.give_back(b, bytes);
  CHECK(p.counts().all.peak == sum);
  CHECK(resident_bytes() < before + 16 * mib);
}

TEST_CASE("pools: a block that lies elsewhere is asked once, and serves the node that has it") {
  told source;
  pools p(3, source);
  void* const big = p.take(128 * kib, 0);
  CHECK(p.node_of(big, 128 * kib) == 0);  // nobody touched it
  source.lies[big] = 2;
  CHECK(p.counts().node[0].in_use == 128 * kib);
  CHECK(p.node_of(big, 128 * kib) == 2);
  const std::uint64_t asked = detail::peek(source.asked);
  CHECK(p.node_of(big, 128 * kib) == 2);
  CHECK(p.counts().node[0].in_use == 0);
  CHECK(p.counts().node[2].in_use == 128 * kib);
  p.give_back(big, 128 * kib);
  CHECK(p.counts().all.in_use == 0);
  CHECK(p.counts().node[2].in_use == 0);
  CHECK(p.take(128 * kib, 0) != big);
  CHECK(p.take(128 * kib, 2) == big);
  p.give_back(big, 128 * kib);
  CHECK(detail::peek(source.asked) == asked);
  CHECK(p.counts().strays == 1);

  void* const small = p.take(8 * kib, 1);  // one that threads have at hand
  source.lies[small] = 0;
  p.give_back(small, 8 * kib);
  CHECK(p.take(8 * kib, 0) == small);
  CHECK(p.counts().node[0].in_use == (128 + 8) * kib);
  p.give_back(small, 8 * kib);

  void* const tiny = p.take(2 * kib, 1);  // smaller than a page
  source.lies[tiny] = 0;
  CHECK(p.node_of(tiny, 2 * kib) == 1);
  p.give_back(tiny, 2 * kib);

  void* const direct = p.take(5 * mib, 1);
  source.lies[direct] = 0;
  CHECK(p.node_of(direct, 5 * mib) == 0);
  p.give_back(direct, 5 * mib);
  CHECK(p.counts().strays == 3);

  p.trim();  // strays go home, with other pages
  CHECK(source.forgotten.size() == 2);
  CHECK(p.counts().node[1].held == 0);
  CHECK(p.counts().node[2].held == 0);
  CHECK(p.counts().all.held == 2 * mib);  // of the second block that was taken from node 0
}

TEST_CASE("pools: of several who ask at a time where a block lies all hear the same, and it counts once") {
  told source;
  pools p(2, source);
  std::vector<void*> blocks;
  for (int i = 0; i < 300; ++i) source.lies[blocks.emplace_back(p.take(4 * kib, 0))] = i % 2;
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([&] {
        for (std::size_t i = 0; i < blocks.size(); ++i)
          if (p.node_of(blocks[i], 4 * kib) != i % 2) std::abort();
      });
  }
  CHECK(p.counts().strays == 150);
  CHECK(p.counts().node[0].in_use == 150 * 4 * kib);
  CHECK(p.counts().node[1].in_use == 150 * 4 * kib);
  for (void* b : blocks) p.give_back(b, 4 * kib);
  CHECK(p.counts().all.in_use == 0);
  p.trim();
  CHECK(p.counts().all.held == 0);
}

}  // namespace weft::memory
