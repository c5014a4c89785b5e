// A task that throws spoils what it would have written. Tasks that need that are skipped, others run, and the wait
// rethrows the exception that comes first in the order of submission - on every machine the same one.
#include <weft/weft.hpp>

#include <cstdio>
#include <stdexcept>

int main() {
  weft::runtime rt;
  weft::handle<int> config{0}, cache{0}, log{0};

  rt.submit(weft::write(config), weft::cost(9000), [](int&) { throw std::runtime_error("config.toml is missing"); });
  rt.submit(weft::read(config), weft::write(cache), [](const int&, int&) { std::puts("never printed"); });
  rt.submit(weft::write(log), [](int& lines) { lines = 3; });
  rt.submit([] { throw std::logic_error("this one is thrown earlier, but submitted later"); });
  try {
    rt.wait();
  } catch (const std::exception& e) {
    std::printf("caught: %s\n", e.what());
  }
  std::printf("the log has %d lines\n", rt.get(log));

  rt.submit(weft::write(config), [](int& x) { x = 42; });  // the wait has healed the handles
  rt.submit(weft::read(config), weft::write(cache), [](const int& x, int& y) { y = x; });
  std::printf("cache: %d\n", rt.get(cache));

  rt.submit([&rt] {  // inside a task, a wait catches what the children throw
    rt.submit([] { throw std::runtime_error("a child failed"); });
    try {
      rt.wait();
    } catch (const std::exception& e) {
      std::printf("caught in the parent: %s\n", e.what());
    }
  });
  rt.wait();
}
