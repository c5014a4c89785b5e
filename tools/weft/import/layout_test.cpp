#include "layout.hpp"

#include <doctest/doctest.h>

#include "weft/error.hpp"

namespace weft::tool::foreign {

namespace {

struct made {
  source from{"made", ""};
  graph g{from};
  index add(ns duration, ns begin = no_time, index worker = none) {
    const index t = g.add("t" + std::to_string(g.tasks.size()), "", duration, static_cast<index>(g.tasks.size()) + 1);
    g.tasks[t].begin = begin;
    g.tasks[t].worker = worker;
    return t;
  }
  layout laid() {
    normalise(g);
    const dependences d(g);
    return lay_out(g, d, submission_order(g, d));
  }
  std::string refusal() {
    try {
      static_cast<void>(laid());
    } catch (const weft::error& e) {
      return e.what();
    }
    return "none";
  }
};

}  // namespace

TEST_CASE("import: without times whoever is free takes the first that is ready") {
  made m;
  for (const ns duration : {5, 3, 4, 2}) m.add(duration);
  m.g.order(1, 3);
  m.g.workers = 2;
  const layout l = m.laid();
  CHECK(l.begin == std::vector<ns>{0, 0, 3, 5});
  CHECK(l.worker == std::vector<index>{0, 1, 1, 0});
  CHECK(l.end == 7);
  CHECK_FALSE(l.is_recorded);
}

TEST_CASE("import: times of a file are kept, from 0 on, and what a clock rounds away is mended") {
  made m;
  m.add(10'000, 1'000'000, 1);
  m.add(5'000, 1'009'000, 1);
  m.add(1'000, 1'002'000, 0);
  const layout l = m.laid();
  CHECK(l.begin == std::vector<ns>{0, 10'000, 2'000});
  CHECK(l.workers == 2);
  CHECK(l.end == 15'000);
  CHECK(l.is_recorded);
}

TEST_CASE("import: times without workers take as many as were at work at once") {
  made m;
  m.add(10, 0);
  m.add(10, 5);
  m.add(10, 10);
  m.add(0, 12);
  const layout l = m.laid();
  CHECK(l.worker == std::vector<index>{0, 1, 0, 2});
  CHECK(l.workers == 3);
}

TEST_CASE("import: times that cannot be are refused") {
  made both;
  both.add(1, 0, 0);
  both.add(1);
  CHECK(both.refusal().find("task 't1' (line 2) has no time of its start, and 1 others have") != std::string::npos);
  made overlap;
  overlap.add(10'000, 0, 3);
  overlap.add(10'000, 5'000, 3);
  CHECK(overlap.refusal().find("task 't1' (line 2) begins on worker 3 before task 't0' (line 1)") != std::string::npos);
  made many;
  for (int i = 0; i < 1025; ++i) many.add(10, 0);
  CHECK(many.refusal().find("Weft has at most 1024") != std::string::npos);
}

}  // namespace weft::tool::foreign
