// Whole programs on ranks: the same bits for any number of ranks, and as many messages as the graph needs.
#include <doctest/doctest.h>

#include <atomic>

#include "mpi/programs/cholesky.hpp"
#include "mpi/programs/stencil.hpp"
#include "quick.hpp"
#include "several.hpp"

namespace weft {
namespace {

using testing::on_ranks;

struct seen {
  std::uint64_t sum = 0;
  std::uint64_t messages = 0, bytes = 0;
};

seen factor(const thread_ranks& how, std::size_t n, std::size_t b = 4, unsigned workers = 1) {
  std::atomic<std::uint64_t> sum{0}, messages{0}, bytes{0}, received{0};
  on_ranks(
      how,
      [&](cluster& w) {
        programs::tiled_matrix a(w, n, b);
        programs::fill(w, a);
        programs::cholesky(w, a);
        w.fence();
        const cluster_counts c = w.counts();
        messages += c.messages_sent;
        bytes += c.bytes_sent;
        received += c.messages_received;
        const std::uint64_t mine = programs::checksum(w, a);
        if (w.rank() == 0) sum = mine;
        w.fence();
        CHECK(mine == programs::checksum(w, a));
      },
      workers);
  CHECK(received == messages);
  return {sum, messages, bytes};
}

seen diffuse(const thread_ranks& how, std::size_t blocks, int steps) {
  std::atomic<std::uint64_t> sum{0}, messages{0}, bytes{0};
  on_ranks(how, [&](cluster& w) {
    programs::stencil s(w, blocks, 3, 8);
    for (int i = 0; i < steps; ++i) s.step();
    w.fence();
    messages += w.counts().messages_sent;
    bytes += w.counts().bytes_sent;
    const std::uint64_t mine = s.checksum();
    if (w.rank() == 0) sum = mine;
  });
  return {sum, messages, bytes};
}

}  // namespace

TEST_CASE("ranks: a Cholesky factorisation moves the blocks that it needs, and no others") {
  CHECK(factor({.ranks = 2}, 4).messages == 6);
  CHECK(factor({.ranks = 2}, 8).messages == 28);
  const seen s = factor({.ranks = 3}, 8);
  CHECK(s.messages == 67);
  CHECK(s.bytes == 67 * 4 * 4 * sizeof(double));
  CHECK(factor({.ranks = 1}, 8).messages == 0);
}

TEST_CASE("ranks: a Cholesky factorisation has the same bits on any number of ranks") {
  const std::uint64_t alone = factor({.ranks = 1}, 6).sum;
  for (const int p : {2, 3, 4, 7}) CHECK(factor({.ranks = p}, 6).sum == alone);
  CHECK(factor({.ranks = 2}, 6, 4, 2).sum == alone);
}

TEST_CASE("ranks: a stencil sends two rows for each border between ranks, and has the same bits") {
  const seen alone = diffuse({.ranks = 1}, 8, 5);
  for (const int p : {2, 4, 7}) {
    const seen s = diffuse({.ranks = p}, 8, 5);
    CHECK(s.sum == alone.sum);
    CHECK(s.messages == 2 * 5 * static_cast<std::uint64_t>(p));  // a ring: the last rank borders on the first
    CHECK(s.bytes == s.messages * 8 * sizeof(double));
  }
}

TEST_CASE("ranks: messages that are late and pass one another change nothing, for each seed") {
  const seen factored = factor({.ranks = 1}, 4), diffused = diffuse({.ranks = 1}, 7, 3);
  const std::uint64_t seeds = few(500);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const int p = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 4 : 7;
    INFO("replay: seed " << seed);
    // Nothing is copied at once but what is small, and tags are few, so they are used again and again.
    const thread_ranks how{.ranks = p, .seed = seed, .eager_bytes = 0, .tag_limit = 31};
    CHECK(factor(how, 4).sum == factored.sum);
    CHECK(diffuse(how, 7, 3).sum == diffused.sum);
  }
}

TEST_CASE("ranks: blocks that are too large to be copied at once, with many seeds") {
  const seen alone = factor({.ranks = 1}, 4, 40);
  const std::uint64_t seeds = few(100);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("replay: seed " << seed);
    const seen s = factor({.ranks = 3, .seed = seed, .eager_bytes = seed % 2 == 0 ? 0u : 1u << 20}, 4, 40);
    CHECK(s.sum == alone.sum);
  }
}

TEST_CASE("ranks: the last word reaches everybody, whoever leaves first") {
  const std::uint64_t times = few(300);
  for (std::uint64_t i = 0; i < times; ++i)
    CHECK(factor({.ranks = 2}, 4).messages == 6);  // each ends twice: its own fence, and its cluster's
}

TEST_CASE("ranks: more ranks than tiles") {
  const seen s = factor({.ranks = 7}, 2), alone = factor({.ranks = 1}, 2);
  CHECK(s.sum == alone.sum);
  CHECK(s.messages == 2);
}

}  // namespace weft
