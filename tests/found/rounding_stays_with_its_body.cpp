// A body that rounds upward waits. The stack on which its worker went on was made with that mode and kept it:
// unrelated tasks rounded upward, then and for the rest of the run. Right: what a body sets is its own. Other tasks
// compute as the program did when it made the runtime - also those that the worker runs next, and children that the
// body calls while it waits - and the body finds its mode again when it goes on.
// Machines: host virtual random
// Workers: 1 2 4
#include <string>
#include <weft/weft.hpp>

#include <atomic>
#include <cfenv>

#include "found.hpp"

namespace {

std::atomic<int> upward{0}, lost{0};

void look() {
  if (std::fegetround() != FE_TONEAREST) ++upward;
}

void waits_for_a_handle(weft::runtime& rt) {
  weft::handle<int> h(0);
  rt.submit(weft::priority(1), [&] {
    std::fesetround(FE_UPWARD);
    rt.wait(h);
    if (std::fegetround() != FE_UPWARD) ++lost;
    std::fesetround(FE_TONEAREST);
  });
  for (int i = 0; i < 10; ++i) rt.submit(weft::write(h), [](int&) { look(); });
  rt.wait();
  for (int i = 0; i < 20; ++i) {
    rt.submit([&rt] {
      weft::handle<int> k(0);
      rt.submit(weft::write(k), [](int&) {});
      rt.submit(&look);
      rt.wait(k);
      weft::yield();
    });
    rt.submit(&look);
    rt.wait();
  }
}

void waits_for_children(weft::runtime& rt) {
  for (int i = 0; i < 20; ++i)
    rt.submit([&rt] {
      std::fesetround(FE_DOWNWARD);
      for (int k = 0; k < 3; ++k) rt.submit(&look);
      rt.submit([] { std::fesetround(FE_UPWARD); });  // and leaves it so
      rt.wait();
      if (std::fegetround() != FE_DOWNWARD) ++lost;
      std::fesetround(FE_TONEAREST);
    });
  rt.wait();
}

void leaves_it_behind(weft::runtime& rt) {
  weft::handle<int> chain(0);
  for (int i = 0; i < 50; ++i) {
    rt.submit([] { std::fesetround(FE_UPWARD); });
    rt.submit(&look);
    rt.submit(weft::write(chain), [](int&) { std::fesetround(FE_TOWARDZERO); });
    rt.submit(weft::write(chain), [](int&) { look(); });
  }
  rt.wait();
  look();
}

}  // namespace

int main() {
  weft::runtime rt;
  for (int round = 0; round < 3; ++round) {
    waits_for_a_handle(rt);
    waits_for_children(rt);
    leaves_it_behind(rt);
  }
  require(upward == 0, std::to_string(upward) + " tasks rounded as others had set it");
  require(lost == 0, std::to_string(lost) + " bodies had lost what they set when they went on");
}
