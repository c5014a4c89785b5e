#include "ordered/task_board.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <exception>

#include "machine/host/host.hpp"
#include "weft/runtime.hpp"

using namespace weft::speculative;

namespace {

using host = weft::machine::host;

// A section by hand: one thread takes each step of several workers.
struct section_by_hand final : oldest_known {
  weft::runtime rt{{.workers = 1}};
  versions<host> seen;
  task_board<host> board{seen};
  runner<host> run{*this, seen, board.pending, rt};

  bool is_oldest(const task& t) override { return board.is_oldest(t); }
  task& pick() {
    task* const t = board.pick(8);
    REQUIRE(t != nullptr);
    return *t;
  }
  outcome run_and_settle(task& t) {
    const outcome came_to = run.run(t, board.comes_first(t));
    board.settle(t, came_to, run);
    return came_to;
  }
  // The oldest has happened. Returns what it threw.
  std::exception_ptr commit() {
    task* const t = board.next_to_commit(nullptr);
    REQUIRE(t != nullptr);
    access_set& all = t->last_run();
    for (std::size_t i = 0; i < all.size(); ++i) seen.commit(all[i]);
    return board.happened(*t);
  }
};

struct shared_words {
  std::uint64_t closed = 0;
  std::uint64_t served = 0;  // counted by bodies that were told that they are certain
  std::uint64_t ended_at = 0;
};

void end_service(weft::ordered_context& x, std::uint64_t now, shared_words* w) {
  x.store(w->closed, std::uint64_t{1});
  x.store(w->ended_at, now);
}
void serve(weft::ordered_context& x, std::uint64_t, shared_words* w) {
  x.serialize();
  ++w->served;
}
void ask(weft::ordered_context& x, std::uint64_t now, shared_words* w) {
  if (x.load(w->closed) == 0) x.at(now + 1, serve, w);
}
void look(weft::ordered_context& x, std::uint64_t, shared_words* w) { x.store(w->served, x.load(w->closed) + 1); }

}  // namespace

TEST_CASE("ordered, board: who was picked and has died before its body began is not certain") {
  section_by_hand s;
  shared_words w;
  s.board.pending.create(weft::detail::make_call(0, end_service, &w));
  s.board.pending.create(weft::detail::make_call(1, ask, &w));
  task& closes = s.pick();
  CHECK(s.run_and_settle(s.pick()) == outcome::published);  // too early: it creates the third
  task& serves = s.pick();                                  // by a worker that is slow to begin
  s.run_and_settle(closes);
  s.commit();
  s.run_and_settle(s.pick());  // again, and it creates nothing
  s.commit();
  CHECK(s.run_and_settle(serves) != outcome::published);
  CHECK(w.served == 0);
  CHECK((s.board.nothing_admitted() && s.board.pending.empty()));
}

TEST_CASE("ordered, board: behind a body that threw nobody who was picked is certain") {
  section_by_hand s;
  shared_words w;
  s.board.pending.create(weft::detail::make_call(0, [](weft::ordered_context&, std::uint64_t) { throw 1; }));
  s.board.pending.create(weft::detail::make_call(1, serve, &w));
  task& throws = s.pick();
  task& serves = s.pick();
  s.run_and_settle(throws);
  CHECK(s.commit() != nullptr);
  s.board.drop_all();
  CHECK(s.run_and_settle(serves) != outcome::published);
  CHECK(w.served == 0);
  CHECK(s.board.nothing_admitted());
}

TEST_CASE("ordered, board: what comes first writes to memory when it has run, and who ran ahead of it runs again") {
  section_by_hand s;
  shared_words w;
  s.board.pending.create(weft::detail::make_call(0, end_service, &w));
  s.board.pending.create(weft::detail::make_call(1, look, &w));
  task& first = s.pick();
  task& ahead = s.pick();
  CHECK((s.board.comes_first(first) && !s.board.comes_first(ahead)));
  CHECK(s.run_and_settle(ahead) == outcome::published);
  CHECK(w.served == 0);
  CHECK(s.run_and_settle(first) == outcome::published);
  CHECK(w.closed == 1);
  CHECK(first.last_run().size() == 0);
  s.commit();
  CHECK(&s.pick() == &ahead);
  CHECK(s.board.comes_first(ahead));
  CHECK(s.run_and_settle(ahead) == outcome::published);
  CHECK(w.served == 0);  // a version of its first run had to be replaced
  s.commit();
  CHECK(w.served == 2);
}

// Catches: who is the first of those admitted writes before a call that is created late has read.
TEST_CASE("ordered, board: nobody comes first while a call that is not admitted comes before it") {
  section_by_hand s;
  shared_words w;
  const auto creates = [](weft::ordered_context& x, std::uint64_t, shared_words* to) { x.at(1, look, to); };
  s.board.pending.create(weft::detail::make_call(0, creates, &w));
  s.board.pending.create(weft::detail::make_call(5, end_service, &w));
  task& parent = s.pick();
  task& late = s.pick();
  s.run_and_settle(parent);
  s.commit();
  CHECK((s.board.may_be_oldest(late) && !s.board.comes_first(late)));
  CHECK(s.run_and_settle(late) == outcome::published);
  CHECK((w.closed == 0 && w.ended_at == 0));
  task& child = s.pick();
  CHECK(s.board.comes_first(child));
  CHECK(s.run_and_settle(child) == outcome::published);
  CHECK(w.served == 1);
  s.commit();
  s.commit();
  CHECK((w.closed == 1 && w.ended_at == 5));
}
