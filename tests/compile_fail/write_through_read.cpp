// A body may not write what it declared as read: it gets const T&.
// expect: the body must take the data
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> a{1};
#ifdef BAD
  rt.submit(weft::read(a), [](int& x) { x = 2; });
#else
  rt.submit(weft::write(a), [](int& x) { x = 2; });
#endif
}
