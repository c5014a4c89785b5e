// What stands before the body must be a clause; a handle alone does not say how it is used.
// expect in 5: a handle alone does not say how the body uses it
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> a{1};
#ifdef BAD
  rt.submit(a, [](const int&) {});
#else
  rt.submit(weft::read(a), [](const int&) {});
#endif
}
