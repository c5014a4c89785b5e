// As write_through_read, for a body that takes what comes.
// expect: read-only|const-qualified
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> a{1};
#ifdef BAD
  rt.submit(weft::read(a), [](auto& x) { x = 2; });
#else
  rt.submit(weft::write(a), [](auto& x) { x = 2; });
#endif
}
