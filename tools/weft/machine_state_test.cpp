// A busy program that is not ours must be seen; our own work must not be taken for one.
#include "machine_state.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace weft::tool {

TEST_CASE("machine state: another program that uses a core is seen, and no more once it is known to be ours") {
  const load_watch watch;
  const pid_t other = fork();
  REQUIRE(other >= 0);
  if (other == 0)
    for (;;) asm volatile("");
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const load_watch::load during = watch.so_far();
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);  // from here on its time counts as a child's
  const load_watch::load after = watch.so_far();
  if (!during.known) return;  // no /proc/stat here: the tool says so
  CHECK(during.others > 0.2);
  CHECK(after.others < during.others);
}

TEST_CASE("machine state: date and facts") {
  CHECK(date_and_time().size() == std::string("2026-11-20T12:00:00Z").size());
  CHECK(machine_facts()["usable_cpus"].get<unsigned>() >= 1);
}

}  // namespace weft::tool
