#include "ordered/payoff.hpp"

#include <doctest/doctest.h>

#include "ordered/speculation_window.hpp"

using namespace weft::speculative;

namespace {

// A section of `tasks` bodies that take `in_order` ns each one after the other, and `ahead` when they run ahead, of
// which a body itself takes `body`. Returns the time it takes; `in_order_share` is the part of the bodies in order.
double played(double tasks, double in_order, double ahead, double body, double& in_order_share) {
  payoff p(true, true);
  double now = 0, done = 0, done_in_order = 0;
  while (done < tasks) {
    double n = 0;
    while (!p.enough_in_order(static_cast<std::uint64_t>(n), n * in_order) && done < tasks) ++n, ++done;
    now += n * in_order;
    done_in_order += n;
    p.was_in_order(static_cast<std::uint64_t>(n), n * in_order);
    p.begin_ahead(now);
    while (done < tasks) {
      now += ahead;
      ++done;
      p.happened(body);
      if (!p.go_on(now)) break;
    }
    p.end_ahead(now);
  }
  in_order_share = done_in_order / tasks;
  return now;
}

}  // namespace

TEST_CASE("ordered, payoff: where running ahead is faster nearly all runs ahead") {
  double share = 0;
  CHECK(played(20'000, 10'000, 5'500, 10'500, share) < 0.56 * 20'000 * 10'000);
  CHECK(share < 0.01);
}
TEST_CASE("ordered, payoff: where it is slower the loss is bounded, however much slower and however short the run") {
  for (const double slower : {1.05, 1.5, 4.0, 30.0})
    for (const double body : {50.0, 500.0, 10'000.0, 100'000.0})
      for (const double total : {3e6, 3e7, 1e9}) {
        double share = 0;
        const double serial = total / body * body;
        INFO("slower " << slower << ", body " << body << ", total " << total);
        CHECK(played(total / body, body, body * slower, body * 1.1, share) <= 1.1 * serial + 2 * slower * body);
      }
}
TEST_CASE("ordered, payoff: it runs in order for longer each time, and starts anew when it has paid") {
  payoff p(true, true);
  p.was_in_order(100, 100'000);
  p.begin_ahead(0);
  CHECK(!p.go_on(100'000));  // nothing has happened in that time
  p.end_ahead(100'000);
  CHECK(!p.enough_in_order(1000, 1'000'000));
  CHECK(p.enough_in_order(1000, 100'000 / 0.04));
}
TEST_CASE("ordered, payoff: where no worker could run ahead, nothing does; unbounded, everything") {
  CHECK(!payoff(false, true).enough_in_order(1'000'000, 1e12));
  payoff all(true, false);
  CHECK(!all.begins_in_order());
  all.begin_ahead(0);
  CHECK(all.go_on(1e12));
}
TEST_CASE("ordered, window: it halves where runs are in vain and doubles where they are not, within limits") {
  speculation_window w(4, 0);
  CHECK(w.tasks() == 16);
  for (int i = 0; i < 10'000; ++i) w.ran(false);
  CHECK(w.tasks() == 4 * speculation_window::tasks_of_worker);
  for (int i = 0; i < 10'000; ++i) w.ran(i % 7 == 0);  // between a tenth and a fifth
  CHECK(w.tasks() == 4 * speculation_window::tasks_of_worker);
  for (int i = 0; i < 10'000; ++i) w.ran(i % 4 == 0);
  CHECK(w.tasks() == 4);
  speculation_window fixed(4, 3);
  for (int i = 0; i < 1000; ++i) fixed.ran(false);
  CHECK(fixed.tasks() == 3);
}
