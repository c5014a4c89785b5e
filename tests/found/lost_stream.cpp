// A producer and a consumer body, of more pushes and pops than a deque's word can count. The pushes that did not fit
// were never run, and the pops waited for them. All run.
// Run: 66000
// Run: 9000
// Machines: host
// Workers: 1 2
#include <atomic>
#include <span>
#include <string>
#include <weft/weft.hpp>

#include "found.hpp"

int main(int argc, char** argv) {
  const long blocks = argument(argc, argv, 1, 66'000);
  weft::runtime rt;
  weft::stream<long> s("s");
  std::atomic<long> pushed{0}, sum{0};
  rt.submit(weft::named("producer"), [&] {
    for (long b = 0; b < blocks; ++b)
      rt.submit(weft::push(s, 1), [&](std::span<long> out) {
        out[0] = 1;
        ++pushed;
      });
  });
  rt.submit(weft::named("consumer"), [&] {
    for (long b = 0; b < blocks; ++b) rt.submit(weft::pop(s, 1), [&](std::span<const long> in) { sum += in[0]; });
  });
  try {
    rt.wait();
  } catch (const weft::error& e) {
    require(false, e.what());
  }
  require(pushed == blocks && sum == blocks, std::to_string(pushed) + " pushed, " + std::to_string(sum) + " popped");
}
