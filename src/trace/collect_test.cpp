// From events to rows: numbering, versions that follow groups, starts that were taken too early, halves of tasks.
#include "trace/collect.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "weft/clause.hpp"

namespace weft::trace {
namespace {

constexpr std::uint8_t R = detail::kind_read, W = detail::kind_write, A = detail::kind_add, X = detail::kind_reduce,
                       U = detail::kind_resource;

// next_version of accesses given as task, handle, kind, version.
std::vector<std::uint64_t> next(std::vector<access_row> rows) {
  complete_versions(rows);
  std::vector<std::uint64_t> all;
  for (const access_row& r : rows) all.push_back(r.next_version);
  return all;
}
access_row row(std::uint32_t task, std::uint32_t handle, std::uint8_t kind, std::uint64_t version,
               std::uint32_t position = 0) {
  return {task, position, handle, kind, version, 99};
}

struct recorders {
  explicit recorders(unsigned workers, std::size_t bytes = 1 << 24) : shared(bytes) {
    for (unsigned i = 0; i <= workers; ++i) {
      own.push_back(std::make_unique<recorder>(shared));
      all.push_back(own.back().get());
    }
  }
  shared_state shared;
  std::vector<std::unique_ptr<recorder>> own;
  std::vector<recorder*> all;
};

constexpr std::uint64_t ns = 1000;

void ran(recorder& r, std::uint32_t task, std::uint16_t worker, std::uint64_t from, std::uint64_t to) {
  r.add({.time = from * ns, .value = to * ns, .task = task, .worker = worker, .kind = event_kind::ran});
}

}  // namespace

TEST_CASE("collect: the version after a group is the one that the next group requires") {
  using versions = std::vector<std::uint64_t>;
  CHECK(next({row(1, 1, W, 0), row(2, 1, W, 1)}) == versions{1, 2});
  CHECK(next({row(1, 1, W, 0), row(2, 1, R, 1), row(3, 1, R, 1), row(4, 1, W, 3)}) == versions{1, 3, 3, 4});
  CHECK(next({row(1, 1, A, 4), row(2, 1, A, 4), row(3, 1, A, 4)}) == versions{7, 7, 7});
  CHECK(next({row(1, 1, X, 0), row(2, 1, X, 0), row(3, 1, W, 2)}) == versions{2, 2, 3});
  // handles do not mix
  CHECK(next({row(1, 1, W, 0), row(1, 2, W, 5), row(2, 1, W, 1), row(2, 2, R, 6)}) == versions{1, 6, 2, 7});
}

TEST_CASE("collect: a repeated handle counts once, a resource has no versions") {
  CHECK(next({row(1, 1, R, 0, 0), row(1, 1, R, 0, 1), row(2, 1, R, 0)}) == std::vector<std::uint64_t>{2, 2, 2});
  CHECK(next({row(1, 1, U, 2), row(2, 1, U, 1)}) == std::vector<std::uint64_t>{99, 99});
}

TEST_CASE("collect: what comes after a lost group still comes after what was before it") {
  CHECK(next({row(1, 1, W, 0), row(2, 1, W, 7)}) == std::vector<std::uint64_t>{7, 8});
}

TEST_CASE("collect: tasks are numbered by time of submission, then by id; strangers' have no submitter") {
  recorders r(2);
  const std::uint32_t a = r.all[0]->new_id(), b = r.all[1]->new_id(), c = r.all[2]->new_id(), d = r.all[0]->new_id();
  const auto submit = [](recorder& by, std::uint32_t id, std::uint32_t parent, std::uint64_t at) {
    by.add({.time = at * ns, .task = id, .other = parent, .kind = event_kind::submitted});
  };
  submit(*r.all[0], a, 0, 130);
  submit(*r.all[0], d, b, 120);
  submit(*r.all[1], b, 0, 110);
  submit(*r.all[2], c, 0, 120);
  ran(*r.all[1], a, 0, 140, 150);
  const contents rows = collect(r.all, 100 * ns);
  REQUIRE(rows.tasks.size() == 5);
  CHECK(rows.tasks[1].submitter == 1);  // b
  CHECK(rows.tasks[1].submitted_ns == 10);
  CHECK(rows.tasks[2].submitter == 0);  // d, the smaller id of two at 120
  CHECK(rows.tasks[2].parent == 1);
  CHECK(rows.tasks[3].submitter == -1);  // c
  CHECK(rows.tasks[4].ran);              // a
  CHECK(rows.tasks[4].started_ns == 40);
  CHECK(rows.tasks[4].finished_ns == 50);
  CHECK(!rows.tasks[1].ran);
}

TEST_CASE("collect: counts of a task that waited add up") {
  recorders r(2);
  const std::uint32_t a = r.all[0]->new_id();
  r.all[0]->add({.task = a, .kind = event_kind::submitted});
  for (unsigned w : {0u, 1u})
    for (std::uint8_t c : {std::uint8_t{0}, std::uint8_t{1}})
      r.all[w]->add({.value = 10u * (w + 1) + c, .task = a, .kind = event_kind::counted, .detail = c});
  const contents rows = collect(r.all, 0);
  REQUIRE(rows.counts.size() == 2);
  CHECK(rows.counts[0].value == 30);
  CHECK(rows.counts[1].value == 32);
}

TEST_CASE("collect: when something was lost, tasks known by half are left out with all that names them") {
  recorders r(1, 0);
  recorder& only = *r.all[0];
  constexpr unsigned count = 3 * chunk_events;
  std::uint32_t parent = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t id = only.new_id();
    only.add({.time = i * ns, .task = id, .other = parent, .kind = event_kind::submitted});
    only.add({.value = i, .task = id, .other = 1, .kind = event_kind::access, .detail = W});
    if (i % 2 == 0) ran(only, id, 0, i, i + 1);
    parent = id;
  }
  only.add({.time = 1, .task = parent - count + 1, .kind = event_kind::stolen});
  const contents rows = collect(r.all, 0);
  CHECK(rows.lost > 0);
  REQUIRE(rows.tasks.size() > 2);
  for (std::size_t i = 1; i < rows.tasks.size(); ++i) {
    REQUIRE(rows.tasks[i].ran);
    REQUIRE(rows.tasks[i].submitted_ns % 2 == 0);
    REQUIRE(rows.tasks[i].parent == 0);  // each one's parent has not run
  }
  // The first task of which something is left may have lost its submission; all others have their access.
  CHECK(rows.accesses.size() + 1 >= rows.tasks.size() - 1);
  for (const access_row& a : rows.accesses) REQUIRE((a.task >= 1 && a.task < rows.tasks.size()));
  CHECK(rows.steals.empty());
}

}  // namespace weft::trace
