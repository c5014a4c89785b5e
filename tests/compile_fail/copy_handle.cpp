// A handle's address is its identity: it is neither copied nor moved.
// expect: deleted
#include <weft/weft.hpp>

int main() {
  weft::handle<int> a{1};
#ifdef BAD
  weft::handle<int> b = a;
#else
  weft::handle<int&> b{a.unguarded()};
#endif
  static_cast<void>(b);
}
