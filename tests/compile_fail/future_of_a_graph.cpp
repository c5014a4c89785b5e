// A node of a graph runs again and again, and a future has one value.
// expect: a graph runs again and a future has one value
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::graph g(rt, [](weft::recorder& r) {
#ifdef BAD
    r.submit(weft::returns(), [] { return 1; });
#else
    r.submit([] {});
#endif
  });
}
