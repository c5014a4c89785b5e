// Disturbs whoever shares the cores, until its input ends: whoever started it is gone then, too.
//   disturb busy THREADS             threads that compute
//   disturb disturb THREADS MOST_US  threads that compute and sleep, for random times of at most so many microseconds
// The second puts others aside at any moment, for about as long as a thread sleeps between two tasks. That shows races
// between going to sleep and being woken, which a quiet machine and busy loops do not.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

namespace {

using clock_type = std::chrono::steady_clock;

void compute_until(clock_type::time_point end) {
  while (clock_type::now() < end) {
  }
}

[[noreturn]] void busy() {
  while (true) compute_until(clock_type::now() + std::chrono::seconds(1));
}

[[noreturn]] void spin_and_sleep(unsigned seed, unsigned most_us) {
  std::minstd_rand draw(seed);
  const auto some = [&] { return std::chrono::microseconds(draw() % most_us); };
  while (true) {
    compute_until(clock_type::now() + some());
    std::this_thread::sleep_for(some());
  }
}

unsigned number(const char* text) { return static_cast<unsigned>(std::strtoul(text, nullptr, 10)); }

}  // namespace

int main(int argc, char** argv) {
  const bool random = argc == 4 && std::strcmp(argv[1], "disturb") == 0;
  if (!random && (argc != 3 || std::strcmp(argv[1], "busy") != 0)) {
    std::fprintf(stderr, "usage: disturb busy THREADS | disturb disturb THREADS MOST_US\n");
    return 2;
  }
  const unsigned threads = number(argv[2]), most_us = random ? number(argv[3]) : 0;
  if (threads == 0 || (random && most_us == 0)) return 2;
  for (unsigned i = 1; i <= threads; ++i) {
    if (random)
      std::thread(spin_and_sleep, i, most_us).detach();
    else
      std::thread(busy).detach();
  }
  char ignored;
  while (::read(STDIN_FILENO, &ignored, 1) > 0) {
  }
  std::_Exit(0);
}
