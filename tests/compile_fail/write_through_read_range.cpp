// A body may not write through the view of a range that it declared as read: the view gives const T&.
// expect: assignment of read-only location|cannot assign to return value
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> blocks[3];
#ifdef BAD
  rt.submit(weft::read(blocks), [](auto all) { all[0] = 2; });
#else
  rt.submit(weft::write(blocks), [](auto all) { all[0] = 2; });
#endif
}
