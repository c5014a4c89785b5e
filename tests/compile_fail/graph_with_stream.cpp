// A graph whose node would pop the same elements in each run.
// expect: a graph runs again and the elements of a stream are matched once
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::stream<int> s;
  weft::handle<int> a{1};
  weft::graph g(rt, [&](weft::recorder& r) {
#ifdef BAD
    r.submit(weft::push(s, 1), [](std::span<int>) {});
#else
    r.submit(weft::write(a), [](int& x) { ++x; });
#endif
  });
  g.run();
}
