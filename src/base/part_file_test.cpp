// Unfinished files: no two are one, no link is followed, and only what nobody writes is removed.
#include "base/part_file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>

#include "sanitized.hpp"
#include "trace_file.hpp"

namespace weft::base {

namespace {

void put(const part_file& f, const std::string& text) {
  REQUIRE(::write(f.descriptor(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}
std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("part file: two that become one file are two until then") {
  const trace_place place("x");
  const std::string path = place.path();
  {
    part_file a(path), b(path);
    REQUIRE((a.is_open() && b.is_open()));
    CHECK(a.name() != b.name());
    put(a, "first");
    put(b, "second");
    CHECK(abandoned_parts(path).empty());  // both have writers, though it is this process
    CHECK(a.finish() == 0);
    CHECK(content(path) == "first");
    CHECK(b.finish() == 0);
    const part_file c(path);  // is not finished
  }
  CHECK(content(path) == "second");
  CHECK(place.files() == std::vector<std::string>{"x"});
}

TEST_CASE("part file: a folder that is not there") {
  const trace_place place("x");
  const part_file f(place.path("no/where"));
  CHECK(!f.is_open());
  CHECK(errno == ENOENT);
}

TEST_CASE("part file: what a killed process left is removed, and nothing else") {
  const trace_place place("x");
  const std::string path = place.path();
  const std::vector<std::string> others{"x.part-17", "x.part-0123456789abcdeg", "x.part-0123456789abcdef0",
                                        "y.part-0123456789abcdef"};
  for (const std::string& other : others) std::ofstream(place.path(other)) << "mine";
  std::ofstream(place.path("victim")) << "precious";
  REQUIRE(::symlink(place.path("victim").c_str(), place.path("x.part-fedcba9876543210").c_str()) == 0);
  const pid_t child = sanitized ? 0 : ::fork();
  if (child == 0) {
    static std::optional<part_file> left;
    left.emplace(path);
    put(*left, "half");
    if (!sanitized) ::raise(SIGKILL);
    left.reset();
  }
  if (child > 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WTERMSIG(status) == SIGKILL);
    const std::vector<std::string> left = abandoned_parts(path);
    REQUIRE(left.size() == 1);
    CHECK(content(left[0]) == "half");
    remove_abandoned(left[0]);
  }
  CHECK(abandoned_parts(path).empty());
  CHECK(place.files().size() == others.size() + 2);
  CHECK(content(place.path("victim")) == "precious");
}

TEST_CASE("part file: a child after fork() leaves its parent's alone") {
  if (sanitized) return;
  const trace_place place("x");
  {
    std::optional<part_file> f(place.path());
    const pid_t child = ::fork();
    if (child == 0) {
      f.reset();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(::access(f->name().c_str(), F_OK) == 0);
    CHECK(abandoned_parts(place.path()).empty());
    CHECK(f->finish() == 0);
  }
  CHECK(place.files() == std::vector<std::string>{"x"});
}

TEST_CASE("quiet writing: a file that may not grow is an error, and the signal is as before") {
  const trace_place place("x");
  const part_file f(place.path());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4, before.rlim_max};
  {
    const quiet_writing quiet;
    ::setrlimit(RLIMIT_FSIZE, &small);
    CHECK(::write(f.descriptor(), "12345", 5) == 4);
    CHECK(::write(f.descriptor(), "5", 1) == -1);
    CHECK(errno == EFBIG);
    ::setrlimit(RLIMIT_FSIZE, &before);
  }
  sigset_t pending;
  ::sigpending(&pending);
  CHECK(::sigismember(&pending, SIGXFSZ) == 0);
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  CHECK(::sigismember(&blocked, SIGXFSZ) == 0);
}

}  // namespace weft::base
