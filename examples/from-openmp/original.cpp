// OpenMP: how many primes there are below five million. What an iteration costs depends on its number.
#include <cstdio>

namespace {

bool is_prime(int n) {
  if (n % 2 == 0) return n == 2;
  for (int d = 3; d * d <= n; d += 2)
    if (n % d == 0) return false;
  return n > 1;
}

}  // namespace

int main() {
  long primes = 0;
#pragma omp parallel for schedule(dynamic, 512) reduction(+ : primes)
  for (int n = 0; n < 5'000'000; ++n) primes += is_prime(n);
  std::printf("%ld primes below five million\n", primes);
  return primes == 348'513 ? 0 : 1;
}
