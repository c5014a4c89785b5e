// A hundred thousand waits inside one another, and as many finishes; ten times that at length (WEFT_STRESS). A body
// that waits runs its own child on its stack while half of that is left; else it is set aside, and holds the stack.
// What is asked here is that stacks are no more than the waits, cost the pages they touch and no more, are reused by
// the next descent, and that running out of them is said.
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "stress.hpp"
#include "weft/weft.hpp"

namespace {

std::uint64_t descend(weft::runtime& rt, unsigned depth, std::atomic<std::uint64_t>& at_bottom_kib);

std::uint64_t resident_kib() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

std::uint64_t address_space_kib() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0;
  statm >> size;
  return size * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

std::uint64_t descend(weft::runtime& rt, unsigned depth, std::atomic<std::uint64_t>& at_bottom_kib) {
  if (depth == 0) {
    at_bottom_kib = resident_kib();
    return 0;
  }
  std::uint64_t below = 0;
  rt.submit([&] { below = descend(rt, depth - 1, at_bottom_kib); });
  rt.wait();
  return below + 1;
}

void nested(unsigned workers, unsigned depth) {
  begin("deep: " + std::to_string(depth) + " nested waits, " + std::to_string(workers) + " workers");
  constexpr std::size_t stack_kib = 64;
  weft::runtime rt({.workers = workers, .machine = "host", .stack_kib = stack_kib});
  const std::uint64_t space_before = address_space_kib(), resident_before = resident_kib();
  std::uint64_t space_first = 0;
  for (int descent = 0; descent < 3; ++descent) {
    std::uint64_t reached = 0;
    std::atomic<std::uint64_t> at_bottom_kib{0};
    rt.submit([&] { reached = descend(rt, depth, at_bottom_kib); });
    rt.wait();
    require(reached == depth, std::to_string(reached) + " levels");
    if (sanitized) continue;  // shadow memory
    const std::uint64_t space = address_space_kib() - space_before;
    const double kib_per_level = static_cast<double>(at_bottom_kib - resident_before) / depth;
    std::printf("  %.1f KiB of memory and %.1f KiB of address space for each level\n", kib_per_level,
                static_cast<double>(space) / depth);
    // A stack and its guard page for each level and a few for the workers; and what the C library reserves per thread.
    require(space < (depth + 100) * (stack_kib + 4) + workers * std::uint64_t{128} * 1024,
            std::to_string(space) + " KiB of address space");
    require(kib_per_level < 12, "more than three pages for each level");
    if (descent == 0) space_first = space;
    // With several workers, how many bodies are set aside depends on who took which.
    require(workers > 1 || space < space_first + 5 * std::uint64_t{1024}, "a second descent does not reuse the stacks");
  }
}

void descend_by_finishes(weft::here& at, unsigned depth, std::uint64_t& reached, std::uint64_t& at_bottom_kib) {
  ++reached;
  if (depth == 0) {
    at_bottom_kib = resident_kib();
    return;
  }
  weft::finish(at, [&](weft::here& inside) {
    weft::async(inside, [&, depth](weft::here& x) { descend_by_finishes(x, depth - 1, reached, at_bottom_kib); });
  });
}

// Each level a finish around one async. What bounds the depth is memory: a kilobyte and a little for each level.
void finishes(unsigned workers, unsigned depth) {
  begin("deep: " + std::to_string(depth) + " nested finishes, " + std::to_string(workers) + " workers");
  weft::runtime rt({.workers = workers, .machine = "host", .stack_kib = 64});
  const std::uint64_t before = resident_kib();
  std::uint64_t reached = 0, at_bottom_kib = 0;
  rt.submit([&] { weft::finish([&](weft::here& at) { descend_by_finishes(at, depth, reached, at_bottom_kib); }); });
  rt.wait();
  require(reached == depth + 1, std::to_string(reached) + " levels");
  if (sanitized) return;
  const double kib_per_level = static_cast<double>(at_bottom_kib - before) / depth;
  std::printf("  %.1f KiB of memory for each level\n", kib_per_level);
  require(kib_per_level < 4, "more than a page for each level");
}

// In a child, whose address space is limited.
void exhausted() {
  if (sanitized) return;  // a sanitizer's shadow needs the address space
  begin("deep: no memory for another stack");
  int out[2];
  require(::pipe(out) == 0, "no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], STDERR_FILENO);
    rlimit small{std::size_t{1} << 30, std::size_t{1} << 30};
    ::setrlimit(RLIMIT_AS, &small);
    small = {0, 0};
    ::setrlimit(RLIMIT_CORE, &small);
    weft::runtime rt({.workers = 1, .machine = "host"});
    std::atomic<std::uint64_t> ignored{0};
    rt.submit([&] { static_cast<void>(descend(rt, 2'000'000, ignored)); });
    rt.wait();
    ::_exit(0);
  }
  ::close(out[1]);
  std::string said;
  char text[512];
  for (ssize_t n = 0; (n = ::read(out[0], text, sizeof text)) > 0;) said.append(text, static_cast<std::size_t>(n));
  ::close(out[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("  %s", said.c_str());
  require(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "the program does not end when it has no stack");
  require(said.find("no memory for one more stack of 2048 KiB") != std::string::npos, "no message: " + said);
  require(std::count(said.begin(), said.end(), '\n') == 1, "not one line: " + said);
}

}  // namespace

int main() {
  // ThreadSanitizer keeps a history of its own for each stack, of some hundred KiB.
  for (const unsigned workers : {1u, 2u, 4u}) nested(workers, sanitized ? amount(100'000) / 20 : amount(100'000));
  for (const unsigned workers : {1u, 4u}) finishes(workers, sanitized ? amount(100'000) / 20 : amount(100'000));
  exhausted();
}
