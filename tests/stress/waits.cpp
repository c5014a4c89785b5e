// Nested waits under load: stacks are set aside on one thread and continue on another. Catches a thread-local read once
// and kept, a stack entered before it was left, a resumed stack on two workers, and waits that miss their end.
#include "base/random.hpp"
#include "programs.hpp"
#include "stress.hpp"

using namespace reference;

namespace {

// A random tree: every node waits for its children, for a handle of its own, or leaves both to the handle's end.
// Returns the number of nodes below and including this one.
std::uint64_t grow(weft::runtime& rt, std::uint64_t seed, unsigned depth, std::atomic<std::uint64_t>& moved) {
  weft::base::random rng(seed);
  const unsigned children = depth == 0 ? 0 : rng.below(5);
  const int started_on = weft::worker_id();
  weft::handle<std::uint64_t> below{std::uint64_t{1}};
  std::uint64_t sums[4] = {};
  for (unsigned i = 0; i < children; ++i) {
    const std::uint64_t child_seed = rng.next();
    rt.submit([&rt, &sums, &moved, i, child_seed, depth] { sums[i] = grow(rt, child_seed, depth - 1, moved); });
    rt.submit(weft::add(below), [](std::uint64_t& x) { ++x; });
    if (rng.below(3) == 0 && rt.get(below) != i + 2) return 0;  // a wrong total is noticed at the root
  }
  rt.wait();
  if (weft::worker_id() != started_on) ++moved;
  if (below.unguarded() != children + 1) return 0;
  return 1 + sums[0] + sums[1] + sums[2] + sums[3];
}

std::uint64_t count(std::uint64_t seed, unsigned depth) {
  weft::base::random rng(seed);
  const unsigned children = depth == 0 ? 0 : rng.below(5);
  std::uint64_t sum = 1;
  for (unsigned i = 0; i < children; ++i) {
    sum += count(rng.next(), depth - 1);
    static_cast<void>(rng.below(3));
  }
  return sum;
}

}  // namespace

int main() {
  std::atomic<std::uint64_t> moved{0};
  for (const weft::choice& policy : weft::policies())
    for (unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
      begin("waits: policy " + std::string(policy.name) + ", " + std::to_string(workers) + " workers");
      weft::runtime rt({.workers = workers, .machine = "host", .policy = policy.name, .stack_kib = 128});
      for (std::uint64_t seed = 1; seed <= amount(600); ++seed) {
        std::uint64_t nodes = 0;
        rt.submit([&] { nodes = grow(rt, seed, 6, moved); });
        rt.wait();
        require(nodes == count(seed, 6), "seed " + std::to_string(seed) + ": " + std::to_string(nodes) + " nodes of " +
                                             std::to_string(count(seed, 6)));
      }
      const std::string wrong = waits_for_children(rt, sanitized ? 10 : 16);
      require(wrong.empty(), wrong);
      require(waits_for_handles(rt, amount(5000)).empty(), "waits for handles");
    }
  std::printf("%llu bodies continued on another worker than they began on\n",
              static_cast<unsigned long long>(moved.load()));
}
