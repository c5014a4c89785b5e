// Events: tasks that only start something, and are done when it has happened. A disk of the modelled machine takes a
// quarter of a millisecond per page; one worker starts all reads, and parses meanwhile what has arrived.
#include <weft/weft.hpp>

#include <cstdio>
#include <deque>
#include <vector>

int main() {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  constexpr int pages = 4;
  std::vector<weft::handle<int>> page(pages);
  std::deque<weft::event> arrived(pages);
  weft::handle<int> sum{0};

  for (int i = 0; i < pages; ++i) {
    rt.submit(weft::write(page[static_cast<std::size_t>(i)]), weft::completes(arrived[static_cast<std::size_t>(i)]),
              weft::named("read"), weft::cost(1000), [i, &e = arrived[static_cast<std::size_t>(i)]](int& p) {
                p = 10 * i;                           // what the disk will have written by then
                e.fulfil_after(250'000.0 * (i + 1));  // the disk reads one page after the other; this body returns
              });
    rt.submit(weft::read(page[static_cast<std::size_t>(i)]), weft::add(sum), weft::named("parse"), weft::cost(50'000),
              [](const int& p, int& s) { s += p; });
  }
  std::printf("sum %d", rt.get(sum));
  std::printf(" after %.1f ms: the disk's time, and the last page's parsing\n", rt.now_ns() / 1e6);

  weft::event never("an answer");
  rt.submit(weft::named("ask"), weft::completes(never), [] {});
  try {
    rt.wait();
  } catch (const weft::error& e) {
    std::printf("%s\n", e.what());
  }
  never.fulfil();
  rt.wait();
}
