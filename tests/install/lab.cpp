// A section that one asks how parallel it is: the oracle is in the library weft_lab.
#include <cstdint>
#include <cstdio>

#include <weft/weft.hpp>
#ifndef WITHOUT_LAB
#include <weft/lab/oracle.hpp>
#endif

namespace {
void visit(weft::ordered_context& x, std::uint64_t, int* sum) { x.store(*sum, x.load(*sum) + 21); }
}  // namespace

int main() try {
  weft::runtime rt;
  weft::ordered q(rt, {.executor = "oracle"});
  alignas(8) int sum = 0;
  q.at(0, visit, &sum);
  q.at(1, visit, &sum);
  q.run();
  std::printf("%d\n", sum);
#ifndef WITHOUT_LAB
  if (weft::oracle_of(q).tasks != 2) return 1;
#endif
  return 0;
} catch (const weft::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
