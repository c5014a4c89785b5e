// What all timelines share, on traces made in memory. What the writers write is read back by tests/tool/export_test.py.
#include "export.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

namespace weft::tool::trace {
namespace {

// `count` tasks one after the other on one worker, each 700 of every 1000 ns, submitted 10 us ahead.
file one_worker(std::size_t count) {
  file f;
  f.workers.push_back({0, none, -1});
  for (std::size_t i = 0; i < count; ++i) {
    const auto start = static_cast<std::int64_t>(i) * 1000;
    const auto id = static_cast<std::int64_t>(i);
    f.tasks.push_back(
        {id, none, none, 0, 0, std::max<std::int64_t>(0, start - 10'000), start, start + 700, outcome::done});
  }
  f.duration_ns = static_cast<std::int64_t>(count) * 1000;
  f.waits.push_back({none, wait_reason::all, none, 0, 0, 0, f.duration_ns});
  return f;
}

double area(const std::vector<sample>& samples, std::int64_t end) {
  double sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t next = i + 1 < samples.size() ? samples[i + 1].time_ns : std::max(end, samples[i].time_ns);
    sum += samples[i].value * static_cast<double>(next - samples[i].time_ns);
  }
  return sum;
}

}  // namespace

TEST_CASE("timeline: quantities are exact steps while there are few") {
  const file f = one_worker(3);
  const timeline t(f);
  const std::int64_t times[] = {0, 700, 1000, 1700, 2000, 2700};
  REQUIRE(t.running.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(t.running[i].time_ns == times[i]);
    CHECK(t.running[i].value == (i % 2 == 0 ? 1 : 0));
  }
  CHECK(t.live.front().time_ns == 0);
  CHECK(t.live.front().value == 3);
  CHECK(t.live.back().value == 0);
}

TEST_CASE("timeline: and means of intervals when there are many, with the same area") {
  const std::size_t count = 130'000;
  const file f = one_worker(count);
  const timeline t(f);
  CHECK(t.running.size() <= samples_max + 1);
  CHECK(t.running.size() > samples_max / 2);
  std::set<double> values;
  for (const sample& s : t.running) values.insert(s.value);
  CHECK(*values.begin() >= 0);
  CHECK(*values.rbegin() <= 1.0);
  CHECK(area(t.running, f.duration_ns) == doctest::Approx(700.0 * count).epsilon(1e-6));
  double live = 0;
  for (const task& x : f.tasks) live += static_cast<double>(x.finished_ns - x.submitted_ns);
  CHECK(area(t.live, f.duration_ns) == doctest::Approx(live).epsilon(1e-6));
}

TEST_CASE("timeline: of nothing is nothing") {
  file f;
  CHECK(timeline(f).slices.empty());
  f.workers.push_back({0, none, -1});
  const timeline t(f);
  REQUIRE(t.slices.size() == 1);
  CHECK(t.slices[0].kind == slice::what::main_thread);
  CHECK(flows(f, t, {arrow_choice::all, true}).count() == 0);
}

TEST_CASE("arrows: a task that names a handle twice has one arrow, and none to itself") {
  file f = one_worker(2);
  f.handles.push_back({1, "h"});
  f.kinds = {"read", "write"};
  f.accesses = {{0, 0, 1, 0, 0, 2}, {0, 0, 1, 1, 0, 2}, {1, 0, 0, 0, 2, 4}, {1, 0, 0, 1, 2, 4}};
  for (const arrow_choice which : {arrow_choice::last, arrow_choice::all}) {
    const std::vector<arrow> found = arrows(f, which);
    REQUIRE(found.size() == 1);
    CHECK(found[0].before == 0);
    CHECK(found[0].after == 1);
    CHECK(found[0].data_flows);
  }
  CHECK(arrows(f, arrow_choice::all, 1).empty());
  CHECK(arrows(f, arrow_choice::nothing).empty());
}

TEST_CASE("durations have three digits and a unit") {
  CHECK(duration_text(0) == "0 ns");
  CHECK(duration_text(999) == "999 ns");
  CHECK(duration_text(1000) == "1.00 us");
  CHECK(duration_text(9'994) == "9.99 us");
  CHECK(duration_text(9'996) == "10.0 us");
  CHECK(duration_text(99'960) == "100 us");
  CHECK(duration_text(999'400) == "999 us");
  CHECK(duration_text(999'600) == "1.00 ms");
  CHECK(duration_text(12'345'678'901) == "12.3 s");
  CHECK(duration_text(123'456'789'012'345) == "123457 s");
}

TEST_CASE("exports say how far they are") {
  const file f = one_worker(60'000);
  const auto told_by = [](const auto& write) {
    std::vector<double> told;
    output_file out("-o", "/dev/null");
    write(out, [&told](double done) { told.push_back(done); });
    CHECK(told.size() >= 3);
    CHECK(std::is_sorted(told.begin(), told.end()));
    CHECK((told.front() >= 0 && told.back() <= 1));
  };
  using teller = std::function<void(double)>;
  told_by([&](output_file& out, const teller& tell) { write_perfetto(f, {.tell = tell}, out); });
  told_by([&](output_file& out, const teller& tell) { write_task_graph(f, SIZE_MAX, out, tell); });
  told_by([&](output_file& out, const teller& tell) { write_data_graph(f, SIZE_MAX, out, tell); });
}

TEST_CASE("a graph's labels are short") {
  file f = one_worker(1);
  f.names.push_back(std::string(79, 'a') + "\u00e9\u00e9\u00e9");
  f.tasks[0].name = 0;
  const std::string path = "/tmp/weft-label-" + std::to_string(::getpid()) + ".dot";
  {
    output_file out("-o", path);
    write_task_graph(f, 1, out);
    out.finish();
  }
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text.find(std::string(79, 'a') + "\u00e9...\\n") != std::string::npos);  // 80 characters, none of them cut
  CHECK(std::remove(path.c_str()) == 0);
}

}  // namespace weft::tool::trace
