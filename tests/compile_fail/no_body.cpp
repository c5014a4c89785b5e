// A task without a body.
// expect in 5: submit needs a body, and it comes last
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> a{1};
#ifdef BAD
  rt.submit(weft::read(a));
#else
  rt.submit(weft::read(a), [](const int&) {});
#endif
}
