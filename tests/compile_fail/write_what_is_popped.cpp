// A body that writes elements which others may see.
// expect: std::span<const T> for pop
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::stream<int> s;
  rt.submit(weft::push(s, 1), [](std::span<int> out) { out[0] = 1; });
#ifdef BAD
  rt.submit(weft::pop(s, 1), [](std::span<int> in) { in[0] = 2; });
#else
  rt.submit(weft::pop(s, 1), [](std::span<const int>) {});
#endif
  rt.wait();
}
