// Children that answer, fail, hang, and say more than a pipe holds.
#include "child.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "weft/error.hpp"

namespace weft::tool {

TEST_CASE("child: output, errors and exit status") {
  const child_result got = run_child({"/bin/sh", "-c", "echo out; echo err >&2; exit 7"}, 20);
  CHECK(got.out == "out\n");
  CHECK(got.err == "err\n");
  CHECK(got.status == 7);
  CHECK(!got.late);
}

TEST_CASE("child: more output than a pipe holds, on both") {
  const std::string both = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo 0123456789 >&2; i=$((i+1)); done";
  const child_result got = run_child({"/bin/sh", "-c", both}, 60);
  CHECK(got.status == 0);
  CHECK(got.out.size() == 220'000);
  CHECK(got.err == got.out);
}

TEST_CASE("child: late ones are killed, with what they started") {
  const auto start = std::chrono::steady_clock::now();
  const child_result got = run_child({"/bin/sh", "-c", "echo first; sleep 30 & sleep 30"}, 0.3);
  CHECK(got.late);
  CHECK(got.status == -1);
  CHECK(got.out == "first\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
}

TEST_CASE("child: a session of its own, nothing to read") {
  CHECK(run_child({"/bin/sh", "-c", "read line || echo none"}, 20).out == "none\n");
  const child_result got = run_child({"/bin/sh", "-c",
                                      "read -r pid name state parent group session rest </proc/self/stat;"
                                      " [ $session = $$ ] && echo leader"},
                                     20);
  CHECK(got.out == "leader\n");
}

TEST_CASE("child: killed by a signal, or never started") {
  CHECK(run_child({"/bin/sh", "-c", "kill -SEGV $$"}, 20).status == -1);
  CHECK_THROWS_WITH_AS(static_cast<void>(run_child({"/nowhere/program"}, 20)),
                       doctest::Contains("cannot start /nowhere/program"), weft::error);
}

}  // namespace weft::tool
