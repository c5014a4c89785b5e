// A team that completes with an event, and of which a member throws, never ended: the program hung. Right: the body has
// failed, so the task is over without its event, and so is the event (guide, page 31).
// Workers: 2 3
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

template <class Wait> int thrown_by(Wait wait) {
  try {
    wait();
  } catch (int x) {
    return x;
  }
  return 0;
}

}  // namespace

int main() {
  for (unsigned width = 1; width <= 2; ++width)
    for (unsigned thrower = 0; thrower < width; ++thrower)
      for (const bool together : {false, true}) {
        weft::event e("answer");
        weft::runtime rt;
        const weft::detail::team_clause members = together ? weft::team(width).together() : weft::team(width);
        rt.submit(members, weft::completes(e), [thrower](weft::team_context& t) {
          if (t.rank() == thrower) throw 7;
        });
        require(thrown_by([&] { rt.wait(); }) == 7, "the wait for all does not tell what a member threw");
        require(thrown_by([&] { e.wait(); }) == 7, "the wait for the event does not tell what a member threw");
        e.fulfil();  // no mistake: who fulfils it cannot know
      }
  // A member that waits for the event hears of it, too, and the event may come although somebody has failed later.
  weft::runtime rt;
  weft::event e("answer"), other("other");
  int heard = 0;
  rt.submit(weft::team(2), weft::completes(e), [&](weft::team_context& t) {
    if (t.rank() == 0) throw 7;
    heard = thrown_by([&] { e.wait(); });
  });
  require(thrown_by([&] { rt.wait(); }) == 7 && heard == 7, "a member of the team hears nothing of its event");
  rt.submit(weft::team(2), weft::completes(other), [&](weft::team_context& t) {
    if (t.rank() == 0) other.fulfil();
    t.barrier();
    if (t.rank() == 1) throw 8;
  });
  require(thrown_by([&] { rt.wait(); }) == 8, "an event that came and a member that throws");
}
