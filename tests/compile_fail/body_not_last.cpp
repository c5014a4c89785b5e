// The body comes after its clauses.
// expect in 5: submit needs a body, and it comes last
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> a{1};
#ifdef BAD
  rt.submit([](const int&) {}, weft::read(a));
#else
  rt.submit(weft::read(a), [](const int&) {});
#endif
}
