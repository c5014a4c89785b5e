// Wrong on purpose, so that found.py shows that it notices: tests/found.py --self-test.
#include <csignal>
#include <weft/weft.hpp>

#include "../found.hpp"

int main(int argc, char** argv) {
  const std::string how = word(argc, argv, 1, "");
  weft::runtime rt;
  int sum = 0;
  for (int i = 1; i <= 4; ++i) rt.submit([] {});
  rt.submit([&] { sum = 10; });
  rt.wait();
  require(how != "value" || sum == 11, "the sum is " + std::to_string(sum));
  require(how != "decoupled" || rt.creator() < 0, "creation is decoupled");
  require(how != "central" || std::string(rt.policy()) != "central", "the policy is central");
  require(how != "seed" || rt.seed() != 3, "the seed is 3");
  if (how == "crash") std::raise(SIGSEGV);
  while (how == "hang") static_cast<void>(std::getchar());  // an empty loop may be left out
  return how == "status" ? 7 : 0;
}
