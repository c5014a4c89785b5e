// A graph that would hold units of a resource between its runs.
// expect: a graph holds no units of a resource
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::resource disks(2);
  weft::handle<int> a{1};
  weft::graph g(rt, [&](weft::recorder& r) {
#ifdef BAD
    r.submit(weft::use(disks), weft::write(a), [](int& x) { ++x; });
#else
    r.submit(weft::write(a), [](int& x) { ++x; });
#endif
  });
  g.run();
}
