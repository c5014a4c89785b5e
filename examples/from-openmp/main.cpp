// Coming from OpenMP: a loop with a reduction over irregular work, without a schedule. original.cpp is where it comes
// from.
#include <cstdio>
#include <weft/weft.hpp>

namespace {

bool is_prime(int n) {
  if (n % 2 == 0) return n == 2;
  for (int d = 3; d * d <= n; d += 2)
    if (n % d == 0) return false;
  return n > 1;
}

}  // namespace

int main() {
  weft::runtime rt;
  const long primes = weft::reduce(0, 5'000'000, 0L, is_prime);
  std::printf("%ld primes below five million\n", primes);
  return primes == 348'513 ? 0 : 1;
}
