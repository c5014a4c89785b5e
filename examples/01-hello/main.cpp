// A runtime, some tasks, a wait. Run it as it is on your cores; with WEFT_MACHINE=virtual the same program runs on a
// modelled machine, and prints the same on every computer.
#include <weft/weft.hpp>

#include <cstdio>

int main() {
  weft::runtime rt;
  int squares[5] = {};
  for (int i = 0; i < 5; ++i) rt.submit([&squares, i] { squares[i] = i * i; });
  rt.wait();
  for (int i = 0; i < 5; ++i) std::printf("%d squared is %d\n", i, squares[i]);
  std::printf("%llu tasks ran on machine '%s'\n", static_cast<unsigned long long>(rt.statistics().tasks), rt.machine());
}
