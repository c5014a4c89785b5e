// The words about a program that cannot go on, and what is done with what is left of it.
#include "sched/fail/stall_report.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "access/registration.hpp"
#include "scheduler.hpp"
#include "weft/clause.hpp"

namespace weft::sched {
namespace {

using detail::record;
using detail::record_state;
using machine::host;

struct records {
  task::pool<host> pool{1};
  detail::worker w;
  access::open_reductions<host> open;
  access::closers no_closers;
  event_board events;

  record& make(const char* name, record_state at) {
    record* r = pool.allocate(w, detail::record_class(sizeof(record) + sizeof(access::entry) + 32), pool.no_limit);
    const std::uint8_t size_class = r->size_class;
    *r = {};
    r->size_class = size_class;
    r->pin = record::unpinned;
    testing::begin_in(*r, at);
    r->name = name;
    r->invoke = [](record&, detail::errand what) { ++(what != detail::errand::destroy ? called : dropped); };
    return *r;
  }
  // A task that uses h; `listed`, if its version is not there.
  record& use(const char* name, detail::handle_state& h, std::uint8_t kind) {
    record& r = make(name, record_state::filling);
    r.access_count = 1;
    r.accesses()[0] = {reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(kind), 0};
    access::woken list;
    const auto done = access::register_task<host>(&r, nullptr, open, no_closers, list);
    if (done.what == access::outcome::ready) begin(r, record_state::running);
    return r;
  }
  static inline unsigned called = 0, dropped = 0;
};

[[nodiscard]] bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("stall report: every task that is not done is named with what it waits for") {
  records all;
  detail::handle_state h;
  detail::set_name(h, "total");
  all.use("first", h, detail::kind_write);
  all.use("second", h, detail::kind_write);
  all.make("parent", record_state::draining);
  all.make(nullptr, record_state::running);
  all.make("done", record_state::free);
  all.make("queued", record_state::ready);
  const std::string text = describe_stall(all.pool.all(), all.events);
  CHECK(has(text, "4 are not done"));
  CHECK(has(text, "task 'first' waits inside its body"));
  CHECK(has(text, "task 'second' waits for version 1 of handle 'total', which is at 0"));
  CHECK(has(text, "task 'parent' waits for its subtasks"));
  CHECK(has(text, "an unnamed task waits inside its body"));
  CHECK((!has(text, "'done'") && !has(text, "'queued'")));
  abandon_all(all.pool.all());
}

TEST_CASE("stall report: of many tasks the first are named and the others counted") {
  records all;
  for (int i = 0; i < 20; ++i) all.make("t", record_state::running);
  const std::string text = describe_stall(all.pool.all(), all.events);
  CHECK(has(text, "20 are not done"));
  CHECK(has(text, "and 12 more"));
  std::size_t named = 0;
  for (std::size_t at = text.find("'t'"); at != std::string::npos; at = text.find("'t'", at + 1)) ++named;
  CHECK(named == 8);
}

TEST_CASE("stall report: the version that is waited for, and a handle that is gone") {
  detail::handle_state h;
  detail::set_name(h, "total");
  const access::entry third{reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_read), 3};
  CHECK(describe_wait(third) == "version 3 of handle 'total', which is at 0");
  CHECK(describe_wait({detail::kind_repeated, 0}) == "a handle that is gone");
}

TEST_CASE("stall report: who is listed on a handle, tasks only") {
  records all;
  detail::handle_state h;
  all.use("holds", h, detail::kind_write);
  all.use("reads", h, detail::kind_read);
  record& place = all.use("place", h, detail::kind_read);
  place.kind = detail::record_kind::place;
  std::string text;
  {
    const base::locked<host> hold(h.lock);
    text = describe_listed(h);
  }
  CHECK((has(text, "'reads'") && !has(text, "'place'") && !has(text, "'holds'")));
  abandon_all(all.pool.all());
}

TEST_CASE("stall report: what is left is destroyed, never called, and its handles are at rest") {
  records all;
  detail::handle_state h;
  all.use("first", h, detail::kind_write);
  all.use("second", h, detail::kind_write);
  h.exclusive_taken = true;  // an add might have it
  records::called = records::dropped = 0;
  abandon_all(all.pool.all());
  CHECK((records::called == 0 && records::dropped == 1));  // the first one's body is on a stack that is gone
  CHECK((h.waiters_head == nullptr && h.waiters_tail == nullptr && !h.exclusive_taken));
  CHECK(access::outstanding(h.word.raw, h.registered) == 0);
}

TEST_CASE("stall report: tasks forget a handle that dies before them") {
  records all;
  detail::handle_state stays;
  record& other = all.use("other", stays, detail::kind_write);
  record* user = nullptr;
  record& waits = all.make("waits", record_state::running);
  waiter self;
  self.r.kind = detail::record_kind::resume;
  waits.has_waited = true;
  waits.running.waits_in = &self.r;
  {
    detail::handle_state dies;
    user = &all.use("user", dies, detail::kind_write);
    self.awaited = &dies;
    self.a.handle_and_kind = reinterpret_cast<std::uintptr_t>(&dies) | detail::kind_bits(detail::kind_read);
    CHECK_FALSE(abandon_uses_of(all.pool.all(), dies));
  }
  CHECK(user->accesses()[0].handle_and_kind == detail::kind_repeated);
  CHECK(&access::handle_of(other.accesses()[0]) == &stays);
  const std::string text = describe_stall(all.pool.all(), all.events);
  CHECK(has(text, "task 'waits' waits inside its body for a handle that is gone"));
  abandon_all(all.pool.all());  // which touches only what is there
}

}  // namespace weft::sched
