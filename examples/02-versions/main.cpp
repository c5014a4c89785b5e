// What tasks say about data orders them: reads wait for the write before them and run together, a write waits for all
// before it, adds come in any order but one at a time. Nobody draws a graph; each handle counts versions.
#include <weft/weft.hpp>

#include <cstdio>

int main() {
  weft::runtime rt;
  weft::handle<int> price{10};
  weft::handle<int> total{0};

  rt.submit(weft::write(price), [](int& p) { p += 2; });
  for (int amount : {1, 2, 3})  // together: they read the price and add to the total
    rt.submit(weft::read(price), weft::add(total), [amount](const int& p, int& t) { t += amount * p; });
  rt.submit(weft::write(price), [](int& p) { p = 100; });  // after all three have read
  rt.submit(weft::read(price), weft::read(total), [](const int& p, const int& t) {
    std::printf("the price is now %d, and six pieces at the old one cost %d\n", p, t);
  });
  rt.wait();
  std::printf("price: %llu accesses finished, total: %llu\n", static_cast<unsigned long long>(price.version()),
              static_cast<unsigned long long>(total.version()));
}
