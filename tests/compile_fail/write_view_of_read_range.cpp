// A body may not ask for a writable view of a range that it declared as read.
// expect: the body must take the data
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> blocks[3];
#ifdef BAD
  rt.submit(weft::read(blocks), [](weft::view<int> all) { all[0] = 2; });
#else
  rt.submit(weft::read(blocks), [](weft::view<const int> all) { static_cast<void>(all[0]); });
#endif
}
