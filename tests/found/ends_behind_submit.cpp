// A runtime that ended while another thread was at the end of a submission whose task had run, or in a wait of its own
// that nothing would end, was used after it was gone. The runtime's end waits for the one and ends the other.
// Run: 300
// Long: 20000
// Machines: host
// Workers: 2 4 8
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

// The thread may be behind its task, and not back yet.
void ends_behind_a_submission() {
  auto rt = std::make_unique<weft::runtime>();
  std::atomic<bool> ran{false};
  std::thread outside([&, to = rt.get()] { to->submit([&] { ran = true; }); });
  while (!ran) std::this_thread::yield();
  rt.reset();
  outside.join();
}

// Nobody submits what brings that version.
void ends_a_wait() {
  auto rt = std::make_unique<weft::runtime>();
  weft::handle<int> h(0);
  std::atomic<bool> told{false}, begins{false};
  rt->submit(weft::write(h), [](int&) {});
  std::thread outside([&, to = rt.get()] {
    begins = true;
    try {
      to->wait(h, 1000);
    } catch (const weft::error&) {
      told = true;
    }
  });
  while (!begins) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // as a rule it waits by now
  rt.reset();
  outside.join();
  require(told, "a wait that nothing would end was not ended");
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = amount(argument(argc, argv, 1, 300));
  for (long i = 0; i < rounds; ++i) ends_behind_a_submission();
  for (int i = 0; i < 3; ++i) ends_a_wait();
}
