// One number that is made by a chain of tasks, children, a finish and a reduction, again and again. It was right
// everywhere when this folder began; what comes here later fails where this does not.
// Run: 40
// Long: 4000
// Machines: host virtual random
// Workers: 2 1 4 16
#include <string>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

unsigned chain_of(unsigned from, unsigned length) {
  for (unsigned i = 0; i < length; ++i) from = from * 3 + i;
  return from;
}

unsigned once(weft::runtime& rt, unsigned from) {
  weft::handle<unsigned> value{from};
  for (unsigned i = 0; i < 10; ++i) rt.submit(weft::write(value), [i](unsigned& x) { x = x * 3 + i; });
  unsigned a = 0, b = 0, c = 0;
  rt.submit(weft::read(value), [&](unsigned x) {
    rt.submit([&, x] { a = x; });
    rt.submit([&, x] { b = x; });
    rt.wait();
    weft::finish([&, x] { weft::async([&, x] { c = a + b + x; }); });
  });
  rt.wait();
  weft::reduction<unsigned> sum{c};
  for (unsigned i = 1; i <= 10; ++i) rt.submit(weft::reduce(sum), [i](unsigned& part) { part += i; });
  return rt.get(sum);
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = amount(argument(argc, argv, 1, 40));
  weft::runtime rt;
  for (unsigned i = 0; i < static_cast<unsigned>(rounds); ++i) {
    const unsigned right = 3 * chain_of(i, 10) + 55, got = once(rt, i);
    require(got == right, "round " + std::to_string(i) + ": " + std::to_string(got) + ", not " + std::to_string(right));
  }
}
