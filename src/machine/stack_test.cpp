// Stacks: usable from end to end, guarded below, and many at a time.
#include "machine/stack.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace weft::machine {
namespace {

unsigned mappings() {
  std::ifstream maps("/proc/self/maps");
  unsigned n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

// The signal that ends a child which writes to `address`; 0 if none does.
int signal_of_write(std::byte* address) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer or the test framework may have its own opinion
    *static_cast<volatile std::byte*>(address) = std::byte{1};
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

TEST_CASE("stack: every byte of it is usable, and it has at least the size asked for") {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{65'536}, std::size_t{100'000}}) {
    const stack s(bytes);
    REQUIRE(s.exists());
    CHECK(s.bytes() >= bytes);
    CHECK(s.top() - s.bottom() == static_cast<std::ptrdiff_t>(s.bytes()));
    CHECK(reinterpret_cast<std::uintptr_t>(s.top()) % 16 == 0);
    std::memset(s.bottom(), 0x5a, s.bytes());
    CHECK(*s.bottom() == std::byte{0x5a});
  }
  CHECK(!stack().exists());
}

TEST_CASE("stack: running over its end ends the program instead of spoiling the next stack") {
  const stack s(65'536);
  CHECK(signal_of_write(s.bottom()) == 0);
  CHECK(signal_of_write(s.bottom() - 1) == SIGSEGV);
}

// Two mappings each would end at 33 thousand, where the kernel's limit is.
TEST_CASE("stack: fifty thousand at a time") {
  const unsigned before = mappings();
  std::vector<std::unique_ptr<stack>> all;
  for (int i = 0; i < 50'000; ++i) {
    all.push_back(std::make_unique<stack>(65'536));
    *(all.back()->top() - 1) = std::byte{1};
  }
  CHECK(mappings() - before < 3 * stack::protected_max);
  all.clear();
  CHECK(mappings() <= before + 100);
}

}  // namespace weft::machine
