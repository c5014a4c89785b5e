// Does what it is told on standard input, a word a line, and says when it is done: what top_test.py looks at.
//
//   run N     N tasks named "count", and waits for them
//   hold      a task named "holds" is in its body, until `release`
//   second    one more runtime; `over` ends the newest
//   fork      a child that sleeps; prints its number
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "weft/weft.hpp"

namespace {

void say(const char* what) {
  std::puts(what);
  std::fflush(stdout);
}

struct held {
  std::atomic<bool> in{false}, out{false};
  void start(weft::runtime& rt) {
    in = out = false;
    rt.submit(weft::named("holds"), [this] {
      in = true;
      in.notify_one();
      out.wait(false);
    });
    in.wait(false);
  }
  void end() {
    out = true;
    out.notify_one();
  }
};

void fork_child() {
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  std::printf("%d\n", static_cast<int>(child));
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::vector<std::unique_ptr<weft::runtime>> all;
  const auto make = [&] { all.push_back(std::make_unique<weft::runtime>(weft::options{.workers = 2})); };
  make();
  held body;
  say("ready");
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    long n = 0;
    if (std::sscanf(line, "run %ld", &n) == 1) {
      for (long i = 0; i < n; ++i) all.front()->submit(weft::named("count"), [] {});
      all.front()->wait();
    } else if (std::strcmp(line, "hold\n") == 0) {
      body.start(*all.front());
    } else if (std::strcmp(line, "release\n") == 0) {
      body.end();
      all.front()->wait();
    } else if (std::strcmp(line, "second\n") == 0) {
      make();
    } else if (std::strcmp(line, "over\n") == 0) {
      all.pop_back();
    } else if (std::strcmp(line, "fork\n") == 0) {
      fork_child();
      continue;
    } else {
      return 2;
    }
    say("done");
  }
}
