// With decoupled creation a wait threw "no task can run any more, but 0 are not done", now and then, beside somebody
// who sleeps and wakes on the same cores; what it waited for went on beside the program that had been told so. Plain
// tasks, tasks with children and a finish, in turns.
// Right: nothing is thrown, and each wait is over when its tasks are done.
// Run: 60
// Long: 4000
// Machines: host virtual random pct
// Workers: 3 2 4 8 16
// Times: 3
#include <string>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

void frame(weft::runtime& rt, const std::string& where) {
  int x = 0, y = 0;
  rt.submit([&] { ++x; });
  rt.submit([&] { ++y; });
  rt.wait();
  require(x == 1 && y == 1, where + ": two tasks");
  rt.submit([&] {
    rt.submit([&] { ++x; });
    rt.submit([&] { ++y; });
    rt.wait();
    require(x == 2 && y == 2, where + ": children");
  });
  rt.wait();
  weft::finish([&] {
    weft::async([&] { ++x; });
    weft::async([&] { ++y; });
  });
  require(x == 3 && y == 3, where + ": a finish");
}

}  // namespace

int main(int argc, char** argv) {
  const long frames = amount(argument(argc, argv, 1, 60));
  weft::runtime rt;
  for (long i = 0; i < frames; ++i) {
    const std::string where = "frame " + std::to_string(i);
    try {
      frame(rt, where);
    } catch (const weft::error& e) {
      require(false, where + ": " + e.what());
    }
  }
}
