// The body takes one parameter per access clause that carries data; name and cost carry none.
// expect: the body must take the data
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> a{1};
  weft::handle<int> b{2};
#ifdef BAD
  rt.submit(weft::read(a), weft::named("sum"), weft::write(b), [](int& y) { y += 1; });
#else
  rt.submit(weft::read(a), weft::named("sum"), weft::write(b), [](const int& x, int& y) { y += x; });
#endif
}
