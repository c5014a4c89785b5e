// Teams under load: crossing streams of teams of all widths from all workers, members that wait, teams in teams,
// guests, and failures. Catches members that are lost or come twice, a barrier that somebody passes too early, and
// teams that wait for each other.
#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "stress.hpp"
#include "weft/weft.hpp"

namespace {

struct counts {
  std::atomic<std::uint64_t> members{0}, wanted{0}, inner{0}, inner_wanted{0}, guests{0}, guests_wanted{0}, early{0},
      failed{0};
};

// Some barriers; nobody may be ahead of another by more than one.
void meet(weft::team_context& t, std::atomic<unsigned>& come, counts& c) {
  for (unsigned step = 1; step <= 3; ++step) {
    ++come;
    t.barrier();
    if (come < step * t.width()) ++c.early;
    t.barrier();
  }
}

void submit_one(weft::runtime& rt, counts& c, weft::handle<std::uint64_t>& x, unsigned width, unsigned kind) {
  const std::uint64_t real = std::min(width, rt.workers());
  c.wanted += real;
  const auto come = std::make_shared<std::atomic<unsigned>>(0);
  if (kind == 3) {
    c.inner_wanted += 2 * real;
    rt.submit(weft::team(width), [&c, come](weft::team_context& t) {
      ++c.members;
      weft::finish([&c] {
        weft::async([&c] { ++c.inner; });
        ++c.inner;
      });
      meet(t, *come, c);
    });
  } else if (kind == 5) {
    c.inner_wanted += std::min(2u, rt.workers());
    rt.submit(weft::team(width), [&rt, &c, come](weft::team_context& t) {
      ++c.members;
      if (t.rank() + 1 == t.width()) {
        rt.submit(weft::team(2), [&c](weft::team_context& u) {
          ++c.inner;
          u.barrier();
        });
        rt.wait();
      }
      meet(t, *come, c);
    });
  } else if (kind == 9) {
    ++c.guests_wanted;
    rt.submit(weft::team(width), [&c, come](weft::team_context& t) {
      ++c.members;
      weft::guest(t, [&c](weft::guest_context&) { ++c.guests; });
      meet(t, *come, c);
    });
  } else if (kind == 7) {
    rt.submit(weft::team(width).together(), weft::write(x), [&c, come](weft::team_context& t, std::uint64_t& value) {
      ++c.members;
      if (t.rank() == 0) ++value;
      meet(t, *come, c);
    });
  } else {
    rt.submit(weft::team(width), weft::add(x), [&c, come](weft::team_context& t, std::uint64_t& value) {
      ++c.members;
      meet(t, *come, c);
      if (t.rank() == t.width() / 2) ++value;
    });
  }
}

void cross(weft::runtime& rt, counts& c, unsigned teams) {
  constexpr unsigned streams = 16;
  std::vector<weft::handle<std::uint64_t>> x(8);
  for (unsigned s = 0; s < streams; ++s)
    rt.submit([&, s] {
      for (unsigned k = 0; k < teams / streams; ++k)
        submit_one(rt, c, x[(s + k) % 8], 1 + (7 * s + 5 * k) % (rt.workers() + 1), k % 16);
    });
  rt.wait();
  std::uint64_t sum = 0, expected = 0;
  for (auto& h : x) sum += h.unguarded();
  for (unsigned k = 0; k < teams / streams; ++k) expected += streams * (k % 16 != 3 && k % 16 != 5 && k % 16 != 9);
  require(sum == expected, "values: " + std::to_string(sum) + " of " + std::to_string(expected));
}

// Teams of which one member throws: the others end, and the next teams are whole.
void fail(weft::runtime& rt, counts& c, unsigned teams) {
  for (unsigned k = 0; k < teams; ++k) {
    rt.submit(weft::team(3), [k](weft::team_context& t) {
      t.barrier();
      if (t.rank() == k % t.width()) throw std::runtime_error("planned");
      for (;;) t.barrier();
    });
    try {
      rt.wait();
    } catch (const std::runtime_error& e) {
      c.failed += std::string(e.what()) == "planned";
    }
  }
}

}  // namespace

int main() {
  unsigned turn = 0;
  for (const weft::choice& policy : weft::policies())
    for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 9u, 16u}) {
      // A third of the combinations each time, of every policy and every number of workers some; by night all.
      if (amount_factor() == 1 && turn++ % 3 != 0) continue;
      begin("teams: policy " + std::string(policy.name) + ", " + std::to_string(workers) + " workers");
      weft::runtime rt({.workers = workers, .machine = "host", .policy = policy.name, .stack_kib = 128});
      counts c;
      const unsigned teams = amount(workers > 4 ? 600 : 1400);
      cross(rt, c, teams);
      require(c.members == c.wanted, std::to_string(c.members) + " members came of " + std::to_string(c.wanted));
      require(c.inner == c.inner_wanted, "tasks of members: " + std::to_string(c.inner));
      require(c.guests == c.guests_wanted, "guests: " + std::to_string(c.guests));
      require(c.early == 0, "a barrier was passed too early");
      fail(rt, c, amount(70));
      require(c.failed == amount(70), "failures that were not told");
    }
}
