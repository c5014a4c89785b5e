// What a user's first program does: two tasks in order, and the result.
#include <cstdio>

#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::handle<int> a{20};
  rt.submit(weft::write(a), [](int& x) { x += 1; });
  rt.submit(weft::write(a), [](int& x) { x *= 2; });
  std::printf("%d\n", rt.get(a));
  return rt.get(a) == 42 ? 0 : 1;
}
