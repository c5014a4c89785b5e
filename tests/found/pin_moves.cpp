// A body that is pinned to a worker went on elsewhere after its first wait. It goes on where it is pinned, whatever it
// waits for, and so do its children that run on its stack, and those of worker 0, also while the main thread is away.
// Run: 20
// Long: 500
// Machines: host virtual random pct
// Workers: 3 4
#include <sched.h>

#include <atomic>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

weft::runtime* rt;
std::atomic<long> looks{0};

void stays(unsigned where, const char* what) {
  ++looks;
  const int here = weft::worker_id();
  require(here == static_cast<int>(where), in_words("pinned to ", where, ", on ", here, " behind ", what));
}

void spin() {
  weft::charge(2000);
  for (int i = 0; i < 300; ++i) asm volatile("");
}

void nested(unsigned where, int depth) {
  if (depth == 0) return spin();
  weft::finish([=] {
    weft::async([] { spin(); });
    weft::async([] { spin(); });
    nested(where, depth - 1);
  });
  stays(where, "a finish in a finish");
}

// Waits for what a program declares.
void waits_for_data(unsigned where, weft::handle<int>& h, weft::event& e) {
  rt->wait(h);
  stays(where, "a handle");
  e.wait();
  stays(where, "an event");
  for (int i = 0; i < 8; ++i) rt->submit([] { spin(); });
  rt->wait();
  stays(where, "its children");
  const unsigned next = (where + 1) % rt->workers();
  rt->submit(weft::pin(next), [next] {
    rt->submit([] { spin(); });
    rt->wait();
    stays(next, "a pinned child");
  });
  rt->wait();
  stays(where, "a child that is pinned elsewhere");
  weft::handle<int> mine(0);
  rt->submit(weft::write(mine), [](int& x) { spin(), x = 1; });
  require(rt->get(mine) == 1, "a datum of its own");
  stays(where, "a datum");
}

void waits_in_forms(unsigned where) {
  nested(where, 3);
  weft::fork_join([] { spin(); }, [] { spin(); });
  stays(where, "a fork");
  weft::handle<int> x(0), y(0);
  weft::graph g(*rt, [&](weft::recorder& r) {
    r.submit(weft::write(x), [](int&) { spin(); });
    r.submit(weft::write(y), [](int&) { spin(); });
  });
  g.run();
  stays(where, "a graph");
  long sum = 0;
  weft::ordered q(*rt);
  for (int i = 0; i < 4; ++i)
    q.at(i, [&sum](weft::ordered_context& at, std::uint64_t time) {
      at.store(sum, at.load(sum) + static_cast<long>(time));
    });
  q.run();
  require(sum == 6, "an ordered section");
  stays(where, "an ordered section");
  weft::yield();
  stays(where, "a yield");
}

void runs_team(unsigned where) {
  if (static_cast<int>(where) == rt->creator()) return;
  rt->submit(weft::team(2), weft::pin(where), [where](weft::team_context& t) {
    for (int i = 0; i < 2; ++i) {
      if (t.rank() == 1) weft::charge(20000);
      for (int k = 0; k < 4 && t.rank() == 1; ++k) sched_yield();  // the other is set aside
      t.barrier();
      if (t.rank() == 0) stays(where, "a barrier");
    }
  });
}

// The member on worker 0 is in a barrier while the main thread goes on.
void main_goes_away() {
  weft::handle<int> h(0);
  std::atomic<bool> away{false}, over{false};
  rt->submit(weft::write(h), weft::pin(1), [](int&) { spin(); });
  rt->submit(weft::team(2), weft::pin(0), [&](weft::team_context& t) {
    if (t.rank() == 1) weft::charge(50000);
    for (int k = 0; k < 40 && t.rank() == 1 && !away; ++k) sched_yield();
    t.barrier();
    if (t.rank() == 0) stays(0, "a barrier while the main thread was away");
    if (t.rank() == 1) over = true;
  });
  rt->wait(h);
  away = true;
  rt->charge(100000);
  for (int k = 0; k < 40 && !over; ++k) sched_yield();
  rt->wait();
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = amount(argument(argc, argv, 1, 20));
  weft::runtime all;
  rt = &all;
  for (long r = 0; r < rounds; ++r) {
    weft::handle<int> h(0);
    weft::event e;
    for (unsigned w = 0; w < all.workers(); ++w) {
      all.submit(weft::write(h), weft::pin((w + 1) % all.workers()), [](int&) { spin(); });
      all.submit(weft::pin(w), [w, &h, &e] { waits_for_data(w, h, e); });
      all.submit(weft::pin(w), [w] { waits_in_forms(w); });
      all.submit(weft::pin(w), [] { spin(); });  // keeps the worker while others would go on with the body
      runs_team(w);
    }
    all.submit(weft::completes(e), [&e] { e.fulfil(); });
    all.wait();
    main_goes_away();
  }
  const long teams = all.creator() < 0 ? all.workers() : all.workers() - 1;
  require(looks == rounds * (all.workers() * 13 + teams * 2 + 1), in_words(looks.load(), " looks"));
}
