// Progress where nobody erases lines: few of them, never backwards, none at all for a short run.
#include "progress.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <string>

namespace weft::apps {
namespace {

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string contents(std::FILE* f) {
  std::rewind(f);
  std::string text;
  for (int c = 0; (c = std::fgetc(f)) != EOF;) text += static_cast<char>(c);
  return text;
}

}  // namespace

TEST_CASE("progress: one plain line per tenth") {
  const file f(std::tmpfile(), &std::fclose);
  REQUIRE(f);
  progress p("work", f.get(), std::chrono::milliseconds(0));
  p.section(0, 0.5);
  for (int i = 0; i <= 1000; ++i) p.report(i / 1000.0);
  p.report(0.1);  // late: another worker was faster
  p.section(0.5, 1);
  p.report(0.5);
  p.report(7);  // clamped
  p.finish();
  CHECK(contents(f.get()) == "work: 10 %\nwork: 20 %\nwork: 30 %\nwork: 40 %\nwork: 50 %\nwork: 70 %\nwork: 100 %\n");
}

TEST_CASE("progress: a short run is silent") {
  const file f(std::tmpfile(), &std::fclose);
  REQUIRE(f);
  progress p("work", f.get());
  p.report(1);
  p.finish();
  CHECK(contents(f.get()).empty());
  progress nowhere("work");
  nowhere.report(0.5);
}

TEST_CASE("progress: the time that is left") {
  using seconds = std::chrono::seconds;
  CHECK(left_text(seconds(10), 0.01).empty());
  CHECK(left_text(seconds(10), 0.1) == "  1:30 left");
  CHECK(left_text(seconds(599), 0.5) == "  9:59 left");
  CHECK(left_text(seconds(10), 1) == "  0:00 left");
}

}  // namespace weft::apps
