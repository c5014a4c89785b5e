// std::exit(7) in a body of a runtime of static storage: its destructor waited for the body that it was called from,
// and the program ended with 134. Right: the status that the program asked for.
// Run: own
// Run: nested
// Run: beside
// Status: 7
// Workers: 2 1
// Creation: inline
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "found.hpp"

namespace {
// Bodies that each submit the next, beside the one that ends the program: when the runtime is gone none begins any
// more.
std::atomic<long> begun = 0;
struct onlooker {
  bool looks = false;
  ~onlooker() {
    for (int i = 0; looks && i < 50; ++i) {
      const long before = begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (begun == before) return;
    }
    if (looks) std::_Exit(1);
  }
} last;
void another() {
  ++begun;
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  weft::async([] { another(); });
}

weft::runtime& common() {
  static weft::runtime rt;
  return rt;
}
}  // namespace

int main(int argc, char** argv) {
  const std::string how = word(argc, argv, 1, "own");
  if (how == "own") common().submit([] { std::exit(7); });
  if (how == "nested")
    common().submit([] {
      weft::runtime other({.workers = 1});
      other.submit([] { std::exit(7); });
      other.wait();
    });
  if (how == "beside") {
    last.looks = true;
    common().submit([] { another(); });
    common().submit([] {
      const long before = begun;
      const bool others = common().workers() > 1 && common().machine() == std::string("host");
      while (others && begun < before + 10) std::this_thread::yield();  // elsewhere, so it goes on
      std::exit(7);
    });
  }
  common().wait();
  return 1;
}
