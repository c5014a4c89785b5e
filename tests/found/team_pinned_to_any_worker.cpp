// With decoupled creation a team that was pinned to the worker that creates ended in "internal error", in groups.cpp.
// Right: a team is led by the worker that its pin names, the one that creates among them.
// Machines: host virtual random
// Workers: 3 2 4 16
// Times: 3
#include <weft/weft.hpp>

#include <atomic>

#include "found.hpp"

int main() {
  weft::runtime rt;
  for (unsigned pin = 0; pin < rt.workers(); ++pin)
    for (unsigned width = 1; width <= rt.workers(); ++width) {
      std::atomic<unsigned> members{0}, wide{0};
      std::atomic<int> led_by{-1}, plain_at{-1};
      rt.submit(weft::pin(pin), [&] { plain_at = weft::worker_id(); });
      rt.submit(weft::team(width), weft::pin(pin), [&](weft::team_context& t) {
        if (t.rank() == 0) led_by = weft::worker_id();
        wide = t.width();
        t.barrier();
        ++members;
        rt.submit([&] { ++members; });
      });
      rt.wait();
      require(plain_at == static_cast<int>(pin), in_words("a task pinned to ", pin, " ran on ", plain_at.load()));
      require(led_by == static_cast<int>(pin), in_words("a team pinned to ", pin, " was led by ", led_by.load()));
      require(wide >= 1 && wide <= width && members == 2 * wide,
              in_words("a team of ", wide.load(), " for ", width, ": ", members.load(), " done"));
    }
}
