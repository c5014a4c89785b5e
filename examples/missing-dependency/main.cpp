// A missing dependency, on purpose: two tasks use `discount`, and neither says so. Most schedules hide it; on the
// modelled machine this program prints the same every time. `weft check` runs it under other schedules and names the
// two tasks (docs/guide/26-check.md).
#include <weft/weft.hpp>

#include <cstdio>

int main() {
  weft::runtime rt;
  weft::handle<int> price{10}, total{0}, sign{0};
  int discount = 0;  // should be a handle

  rt.submit(weft::named("sale begins"), weft::write(price), [&discount](int& p) {
    p = 12;
    discount = 2;
  });
  for (int amount : {1, 2, 3})
    rt.submit(weft::named("sell"), weft::read(price), weft::add(total),
              [&discount, amount](const int& p, int& t) { t += amount * (p - discount); });
  rt.submit(weft::named("sale ends"), weft::write(sign), [&discount](int& s) {
    s = 1;
    discount = 0;
  });
  rt.wait();
  std::printf("six pieces were sold for %d\n", total.unguarded());
}
