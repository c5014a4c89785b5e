// What stands before the body must be a clause.
// expect in 5: every argument before the body must be a clause
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
#ifdef BAD
  rt.submit(3, [] {});
#else
  rt.submit(weft::priority(1), [] {});
#endif
}
