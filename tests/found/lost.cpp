// Bodies that submit more plain tasks than a deque's word can count. What did not fit stayed private to a reserve that
// went away: wait() threw that no task can run any more, while tasks were ready. All run.
// Run: 3 70000
// Run: 1 140000
// Long: 3 200000
// Machines: host
// Workers: 2 1 4
// Times: 3
#include <atomic>
#include <string>
#include <weft/weft.hpp>

#include "found.hpp"

int main(int argc, char** argv) {
  const long submitters = argument(argc, argv, 1, 3), each = argument(argc, argv, 2, 200'000);
  weft::runtime rt;
  std::atomic<long> ran{0};
  for (long k = 0; k < submitters; ++k)
    rt.submit([&] {
      for (long i = 0; i < each; ++i) rt.submit([&] { ran.fetch_add(1, std::memory_order_relaxed); });
    });
  try {
    rt.wait();
  } catch (const weft::error& e) {
    require(false, e.what());
  }
  require(ran == submitters * each, std::to_string(ran) + " of " + std::to_string(submitters * each) + " ran");
}
