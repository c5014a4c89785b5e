// Policies that a program brings (weft/policy.hpp): they run what Weft's own run, on real and modelled machines, and
// what they answer is what happens.
#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture.hpp"
#include "programs.hpp"
#include "quick.hpp"
#include "replay.hpp"
#include "sanitized.hpp"
#include "weft/policy.hpp"

using namespace reference;

namespace {

using weft::chance, weft::destination, weft::policy_places, weft::policy_task;

// Tasks go to the workers in turn, as SuperGlue's scheduler gives them out; a thief takes one, from whom chance names.
struct turns {
  std::atomic<unsigned> next = 0;
};
constexpr weft::policy in_turn{
    .name = "in_turn",
    .about = "give each worker a task in turn; rob by chance, one at a time (SuperGlue)",
    .make = [](const policy_places&) -> void* { return new turns; },
    .end = [](void* state) { delete static_cast<turns*>(state); },
    .ready =
        [](void* state, const policy_places& p, unsigned, const policy_task&, chance&) {
          return destination::pushed(static_cast<std::uint16_t>(static_cast<turns*>(state)->next++ % p.workers()));
        },
    .victim = [](void*, const policy_places& p, unsigned self, unsigned,
                 chance& draw) { return (self + 1 + draw.below(p.workers() - 1)) % p.workers(); },
    .how_many = [](void*, unsigned, unsigned, unsigned) { return 1u; },
};
constexpr weft::policy ring{
    .name = "ring",
    .about = "rob the next worker by number, all that is in reach",
    .victim = [](void*, const policy_places& p, unsigned self, unsigned i,
                 chance&) { return (self + 1 + i) % p.workers(); },
    .how_many = [](void*, unsigned, unsigned, unsigned available) { return available; },
};
constexpr weft::policy last_node{
    .name = "last_node",
    .about = "everything to the queue of the last memory node, and the newest of it first at others' piles",
    .ready =
        [](void*, const policy_places& p, unsigned, const policy_task& r, chance&) {
          const auto n = static_cast<std::uint16_t>(p.nodes() - 1);
          return r.accesses() % 2 == 0 ? destination::node(n) : destination::pile(n);
        },
    .levels = weft::search_levels::near_to_far,
};
// Tasks go wherever they can be sent, and workers look as far as the levels say.
destination anywhere(const policy_places& p, chance& draw) {
  const auto n = static_cast<std::uint16_t>(draw.below(p.nodes())),
             w = static_cast<std::uint16_t>(draw.below(p.workers()));
  const destination all[] = {destination::own(),   destination::central(), destination::node(n),
                             destination::pile(n), destination::worker(w), destination::pushed(w)};
  return all[draw.below(6)];
}
template <weft::search_levels Levels> constexpr weft::policy wild(const char* name) {
  return {.name = name,
          .about = "anywhere",
          .ready = [](void*, const policy_places& p, unsigned, const policy_task&,
                      chance& draw) { return anywhere(p, draw); },
          .levels = Levels};
}
constexpr weft::policy wild_flat = wild<weft::search_levels::flat>("wild_flat");
constexpr weft::policy wild_far = wild<weft::search_levels::near_to_far>("wild_far");
constexpr weft::policy wild_near = wild<weft::search_levels::near_only>("wild_near");
constexpr weft::policy wild_up = wild<weft::search_levels::upwards>("wild_up");
// Who looks at few places: what stays in a deque elsewhere is its owner's.
constexpr weft::policy stays_near{
    .name = "stays_near", .about = "nothing of other nodes", .levels = weft::search_levels::near_only};
constexpr weft::policy stays_up{
    .name = "stays_up", .about = "nothing of other leaves", .levels = weft::search_levels::upwards};
constexpr weft::policy first_born{
    .name = "first_born", .about = "a task runs where it is submitted, at once", .child_first = true};
constexpr weft::policy wrong{
    .name = "wrong",
    .about = "answers what cannot be",
    .ready = [](void*, const policy_places& p, unsigned, const policy_task&,
                chance&) { return destination::worker(static_cast<std::uint16_t>(p.workers() + 7)); },
    .victim = [](void*, const policy_places&, unsigned self, unsigned, chance&) { return self; },
    .how_many = [](void*, unsigned, unsigned, unsigned) -> unsigned { throw 7; },
};
const std::vector<const weft::policy*> brought{&in_turn,  &ring,      &last_node, &stays_near, &stays_up, &wild_flat,
                                               &wild_far, &wild_near, &wild_up,   &first_born, &wrong};

// Once for the process.
void add_all() {
  static bool once = false;
  if (std::exchange(once, true)) return;
  const std::size_t before = weft::policies().count;
  for (const weft::policy* p : brought) weft::add_policy(*p);
  CHECK(weft::policies().count == before + brought.size());
}

std::string mixture(weft::runtime& rt) {
  std::string bad = run_and_judge(rt, cholesky(5));
  if (bad.empty()) bad = run_and_judge(rt, many_adds(40));
  if (bad.empty()) bad = nested(rt, 3, 3);
  if (bad.empty()) bad = waits_for_children(rt, 6);
  if (bad.empty()) bad = waits_for_handles(rt, 10);
  return bad;
}

}  // namespace

TEST_CASE("own policies: are listed, described, and chosen by name as Weft's own are") {
  const char* const local = weft::policies().begin()->name;
  add_all();
  std::set<std::string> names;
  for (const weft::choice& c : weft::policies()) names.insert(c.name);
  CHECK(weft::policies().begin()->name == local);
  for (const weft::policy* p : brought) CHECK(names.count(p->name) == 1);
  weft::runtime rt({.workers = 2, .policy = "ring"});
  CHECK(std::string(rt.policy()) == "ring");
  CHECK_THROWS_WITH_AS(weft::add_policy(ring),
                       "weft: add_policy: there is a policy 'ring' already; give yours another name", weft::error);
}

TEST_CASE("own policies: run programs right, on each machine, with both creations") {
  add_all();
  const std::string said = stderr_of([] {
    for (const weft::policy* p : brought)
      for (const char* machine : {"host", "virtual", "epyc-7551-32"})
        for (const unsigned workers :
             sanitized || hurried ? std::vector{1u, 3u, 7u} : std::vector{1u, 2u, 3u, 4u, 7u, 16u})
          for (const char* creation : {"inline", "decoupled"}) {
            if (workers == 1 && creation == std::string("decoupled")) continue;
            const weft::options o{.workers = workers, .machine = machine, .policy = p->name, .creation = creation};
            const std::string what = std::string(p->name) + " on " + std::to_string(workers) + " of " + machine;
            INFO(what);
            const deadline limit(what);
            weft::runtime rt(o);
            CHECK(mixture(rt) == "");
          }
  });
  CHECK_MESSAGE(said.find("policy 'wrong'") != std::string::npos, said);
  CHECK_MESSAGE(said.find("policy 'ring'") == std::string::npos, said);
}

TEST_CASE("own policies: the same seed gives the same times, and what is drawn depends on it") {
  add_all();
  const auto run = [](const char* name, std::uint64_t seed) {
    weft::runtime rt({.workers = 7, .machine = "virtual", .policy = name, .seed = seed});
    CHECK(mixture(rt) == "");
    return rt.now_ns();
  };
  for (const weft::policy* p : brought) {
    if (p == &wrong) continue;
    CAPTURE(p->name);
    CHECK(run(p->name, 1) == run(p->name, 1));
  }
  std::set<double> times;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) times.insert(run("in_turn", seed));
  CHECK(times.size() > 1);
}

TEST_CASE("own policies: what is answered is what happens") {
  add_all();
  weft::runtime rt({.workers = 4, .machine = "virtual", .policy = "in_turn"});
  std::vector<int> ran(4);
  for (int i = 0; i < 400; ++i)
    rt.submit(weft::cost(100'000), [&ran] { ++ran[static_cast<std::size_t>(weft::worker_id())]; });
  rt.wait();
  for (const int n : ran) CHECK((n > 80 && n < 120));

  // A worker takes all that one other has, which no policy of Weft's own does.
  static std::atomic<unsigned> most, heard;
  constexpr weft::policy greedy{.name = "greedy",
                                .about = "takes all, and notes it",
                                .how_many =
                                    [](void*, unsigned, unsigned, unsigned available) {
                                      most = std::max<unsigned>(most, available);
                                      return available;
                                    },
                                .ran = [](void*, unsigned, const policy_task&, double ns) { heard += ns >= 10'000; }};
  weft::add_policy(greedy);
  weft::runtime other({.workers = 2, .machine = "virtual", .policy = "greedy"});
  other.submit([&] {
    for (int i = 0; i < 100; ++i) other.submit(weft::cost(10'000), [] {});
  });
  other.wait();
  CHECK(most > 1);
  CHECK(heard > 0);
}

TEST_CASE("own policies: what make() throws the runtime's constructor throws, and end() is called for what was made") {
  static int made = 0;
  constexpr weft::policy counted{.name = "counted",
                                 .about = "counts the runtimes that it is of",
                                 .make = [](const policy_places& p) -> void* {
                                   if (p.workers() == 3) throw std::runtime_error("not for three");
                                   return ++made, &made;
                                 },
                                 .end = [](void* state) { --*static_cast<int*>(state); }};
  weft::add_policy(counted);
  for (const char* machine : both_machines) {
    {
      weft::runtime rt({.workers = 2, .machine = machine, .policy = "counted"});
      rt.submit([] { CHECK(made == 1); });
      rt.wait();
    }
    CHECK(made == 0);
    CHECK_THROWS_WITH_AS(weft::runtime({.workers = 3, .machine = machine, .policy = "counted"}), "not for three",
                         std::runtime_error);
    CHECK(made == 0);
  }
}
