// Fibers: where control goes, that a stack may move between threads, and that exceptions stay with the stack they were
// thrown on. Worth most under AddressSanitizer and ThreadSanitizer, which follow each switch.
#include "machine/fiber.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace weft::machine {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

// A fiber with a function for a body, and someone to leave for when that returns.
struct runner {
  std::function<void(runner&)> body;
  fiber* home = nullptr;
  fiber stack;

  explicit runner(std::function<void(runner&)> b)
      : body(std::move(b)), stack(
                                stack_bytes,
                                [](void* self) {
                                  runner& r = *static_cast<runner*>(self);
                                  r.body(r);
                                  r.stack.jump_out(*r.home);
                                },
                                this) {}

  // Who: the thread that `from` is the stack of.
  void enter(fiber& from, fiber::action* after = nullptr) {
    home = &from;
    from.jump(stack, after);
  }
  void leave(fiber::action* after = nullptr) { stack.jump(*home, after); }
};

}  // namespace

TEST_CASE("fiber: control goes back and forth, and each side keeps its variables") {
  fiber here;
  std::string log;
  runner r([&log](runner& self) {
    for (char c = 'a'; c <= 'c'; ++c) {
      log += c;
      self.leave();
    }
    log += 'd';
  });
  for (int i = 1; i <= 4; ++i) {
    r.enter(here);
    log += std::to_string(i);
  }
  CHECK(log == "a1b2c3d4");
}

TEST_CASE("fiber: one that was never entered is simply destroyed") {
  bool entered = false;
  {
    const runner r([&entered](runner&) { entered = true; });
  }
  CHECK(!entered);
}

TEST_CASE("fiber: many, entered round and round, and from one to the next") {
  constexpr std::size_t n = 500;
  fiber here;
  std::vector<std::unique_ptr<runner>> all;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    all.push_back(std::make_unique<runner>([&sum, i](runner& self) {
      char large[4096];
      for (std::size_t k = 0; k < sizeof large; ++k) large[k] = static_cast<char>(i + k);
      for (int round = 0; round < 3; ++round) {
        self.leave();
        for (std::size_t k = 0; k < sizeof large; ++k)
          if (large[k] != static_cast<char>(i + k)) return;  // another wrote on our stack
        sum += i;
      }
    }));
  for (int round = 0; round < 4; ++round)
    for (const auto& r : all) r->enter(here);
  CHECK(sum == 3 * n * (n - 1) / 2);

  std::size_t visited = 0;
  std::vector<std::unique_ptr<runner>> chain(n);
  for (std::size_t i = n; i-- > 0;)
    chain[i] = std::make_unique<runner>([&, i](runner& self) {
      ++visited;
      if (i + 1 < n) chain[i + 1]->enter(self.stack);
    });
  chain[0]->enter(here);
  CHECK(visited == n);
}

TEST_CASE("fiber: what follows a switch runs on the other stack, before anything else there") {
  struct note : fiber::action {
    std::string* log;
    const char* text;
    const void* ran_at = nullptr;
  };
  constexpr auto write = [](fiber::action& a) {
    note& n = static_cast<note&>(a);
    *n.log += n.text;
    n.ran_at = __builtin_frame_address(0);
  };
  fiber here;
  std::string log;
  note leaving{{write}, &log, "<"};
  note again{{write}, &log, ">"};
  note entering{{write}, &log, "!"};
  const char* inside = nullptr;
  runner r([&](runner& self) {
    inside = static_cast<const char*>(__builtin_frame_address(0));
    log += "a";
    self.leave(&leaving);
    log += "b";
  });
  r.enter(here, &entering);
  log += "1";
  r.enter(here, &again);
  log += "2";
  CHECK(log == "!a<1>b2");
  const auto distance = [](const void* a, const char* b) { return std::abs(static_cast<const char*>(a) - b); };
  CHECK(distance(entering.ran_at, inside) < static_cast<std::ptrdiff_t>(stack_bytes));
  CHECK(distance(again.ran_at, inside) < static_cast<std::ptrdiff_t>(stack_bytes));
  CHECK(distance(leaving.ran_at, inside) > static_cast<std::ptrdiff_t>(stack_bytes));
}

TEST_CASE("fiber: goes on on another thread than it began") {
  std::vector<std::thread::id> seen;
  runner r([&seen](runner& self) {
    for (int i = 0; i < 5; ++i) {
      seen.push_back(std::this_thread::get_id());
      self.leave();
    }
  });
  std::vector<std::thread::id> expected;
  for (int i = 0; i < 5; ++i) {
    std::thread t([&] {
      fiber here;
      r.enter(here);
    });
    expected.push_back(t.get_id());
    t.join();
  }
  CHECK(seen == expected);
  fiber here;
  r.enter(here);  // lets it end
}

TEST_CASE("fiber: two threads pass many fibers to and fro") {
  constexpr int fibers = 8;
  constexpr int rounds = 300;
  std::vector<std::unique_ptr<runner>> all;
  std::vector<int> counts(fibers);
  for (int i = 0; i < fibers; ++i)
    all.push_back(std::make_unique<runner>([&counts, i](runner& self) {
      for (int k = 0; k < rounds; ++k) {
        ++counts[static_cast<std::size_t>(i)];
        self.leave();
      }
    }));
  // A fiber may be entered by the other only when it is completely saved: that is what the action is for.
  struct hand_over : fiber::action {
    std::atomic<int>* turn;
    int next;
  };
  std::vector<std::atomic<int>> turns(fibers);
  const auto pass = [&](int me) {
    fiber here;
    for (int k = 0; k <= rounds; ++k) {
      for (std::size_t i = 0; i < fibers; ++i) {
        while (turns[i] != me) std::this_thread::yield();
        if ((k + me) % 2 == 0 && k != rounds) all[i]->enter(here);
        turns[i] = 1 - me;
      }
    }
  };
  std::thread other(pass, 1);
  pass(0);
  other.join();
  fiber here;
  for (const int n : counts) CHECK(n == rounds);
  for (const auto& r : all) r->enter(here);
}

TEST_CASE("fiber: throws and catches on its own stack") {
  fiber here;
  std::string caught;
  runner r([&caught](runner& self) {
    for (int i = 0; i < 3; ++i) {
      try {
        if (i == 1) self.leave();
        throw std::runtime_error("number " + std::to_string(i));
      } catch (const std::runtime_error& e) {
        caught += e.what();
        caught += ";";
      }
    }
  });
  r.enter(here);
  try {
    throw std::logic_error("outside");
  } catch (const std::logic_error&) {
    r.enter(here);
  }
  CHECK(caught == "number 0;number 1;number 2;");
}

namespace {

std::string current() {
  const std::exception_ptr e = std::current_exception();
  if (e == nullptr) return "none";
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return x.what();
  }
}

// Leaves inside its catch block, and says before and after what it handles.
std::function<void(runner&)> catches(const std::string& what, std::vector<std::string>& log) {
  return [&log, what](runner& self) {
    log.push_back(what + " begins with " + current());
    try {
      throw std::runtime_error(what);
    } catch (...) {
      self.leave();
      log.push_back(what + " handles " + current());
      try {
        throw;  // needs the right exception on top of what is being handled
      } catch (const std::runtime_error& e) {
        self.leave();
        log.push_back(what + " was rethrown as " + e.what());
      }
      log.push_back(what + " still handles " + current());
    }
    log.push_back(what + " ends with " + current());
  };
}

std::vector<std::string> story(const std::string& what) {
  return {what + " begins with none", what + " handles " + what, what + " was rethrown as " + what,
          what + " still handles " + what, what + " ends with none"};
}

}  // namespace

TEST_CASE("fiber: exceptions being handled on two fibers do not mix") {
  fiber here;
  std::vector<std::string> a_log;
  std::vector<std::string> b_log;
  runner a(catches("a", a_log));
  runner b(catches("b", b_log));
  a.enter(here);
  CHECK(current() == "none");
  try {
    throw std::runtime_error("mine");
  } catch (...) {
    b.enter(here);  // each order of leaving that a stack of exceptions would not survive
    CHECK(current() == "mine");
    a.enter(here);
    b.enter(here);
    CHECK(current() == "mine");
    a.enter(here);
  }
  CHECK(current() == "none");
  b.enter(here);
  CHECK(a_log == story("a"));
  CHECK(b_log == story("b"));
}

TEST_CASE("fiber: leaves a catch block on one thread and goes on in it on another") {
  std::vector<std::string> log;
  runner r(catches("moved", log));
  std::string left_behind;
  for (int i = 0; i < 3; ++i) {
    std::thread t([&] {
      fiber here;
      r.enter(here);
      left_behind += current() + ";";
    });
    t.join();
  }
  CHECK(log == story("moved"));
  CHECK(left_behind == "none;none;none;");
}

TEST_CASE("fiber: the count of exceptions in flight belongs to the stack") {
  struct leaves {
    runner& self;
    int& seen;
    ~leaves() {
      self.leave();
      seen = std::uncaught_exceptions();
    }
  };
  fiber here;
  int seen = 0;
  runner r([&seen](runner& self) {
    try {
      const leaves guard{self, seen};
      throw 1;
    } catch (int) {
    }
  });
  r.enter(here);
  CHECK(std::uncaught_exceptions() == 0);
  r.enter(here);
  CHECK(seen == 1);
}

}  // namespace weft::machine
