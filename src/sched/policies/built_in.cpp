#include "sched/policies/built_in.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::sched {

namespace {

using to = answers::to;
using from = answers::from;
using share = answers::share;
using levels = search_levels;

constexpr built_in_row rows[built_in_count] = {
    // A task stays where it became ready, which is where the data it waited for was last used (SuperGlue §3.2). From
    // the
    // first task with hints on it is `near`, on machines where that says something: so hints are followed by default,
    // and programs without them run as if there were none.
    {{"local", "keep tasks where their data was last used; rob the nearest worker first; with hints: near"},
     {.ready = to::hinted, .levels = levels::near_to_far, .elastic = elasticity::node, .once_hinted = true}},
    {{"random", "keep tasks where they became ready; rob a random worker (TBB)"},
     {.victim = from::chance, .how_many = share::one}},
    // As Cilk runs programs (Frigo, Leiserson, Randall, PLDI 1998). A task that is submitted in a body is begun at
    // once;
    // what waits in the deque meanwhile is the body that submitted it, oldest first for thieves, who come by chance
    // (Blumofe, Leiserson, JACM 1999). With one worker that is the order of the serial program, and a loop that submits
    // without end holds two stacks and no queue of tasks.
    {{"work_first", "begin a task where it is submitted, and leave the body that submits to thieves (Cilk)"},
     {.victim = from::chance, .how_many = share::one, .child_first = true}},
    // The rival that shows what a shared queue costs: Nanos++'s breadth-first scheduler. Good balance, no locality.
    {{"central", "one queue for all workers, oldest first (Nanos++)"}, {.ready = to::central}},
    // PufferFish §IV. Beyond the paper: a worker whose own node has nothing goes on at others, and it is not only at
    // the
    // own leaf that starving is heard of.
    {{"near", "run tasks with hints at the memory node of their data; look for work near to far", true},
     {.ready = to::hinted, .levels = levels::near_to_far, .elastic = elasticity::node}},
    // As published (PufferFish §IV): a thief looks at its leaf, at the queue of its memory node, at the other leaves of
    // the node, and last at the queue of the machine, never at other nodes. Tasks without hints are the machine's. A
    // task with hints is a plain call until a theft at its own leaf fails.
    {{"pufferfish", "the same as PufferFish has it: no look at other nodes, calls until the own cache starves", true},
     {.ready = to::hinted_or_all, .how_many = share::one, .levels = levels::near_only, .elastic = elasticity::leaf}},
    // Hierarchical place trees as HClib has them (PufferFish §II-B): the other leaves of its node a worker does not
    // see,
    // so what has come to one leaf stays there.
    {{"hpt", "run tasks with hints at the node of their data; take from leaf, node and machine (HClib)", true},
     {.ready = to::hinted_or_all, .how_many = share::one, .levels = levels::upwards}},
    // As in Qthreads (Olivier et al., Int. J. HPC Appl. 2012): a worker takes the newest of its node's pile. Where that
    // is empty it takes from another node's, the first of them by chance, as many of the oldest as there are workers at
    // its own (TAO Table 1: FIFO, random node, bulk steal). The rival that shows what a queue for four costs.
    {{"shepherd", "one queue for the workers of each memory node, newest first (Qthreads)"}, {.ready = to::pile}},
    // As go:TAO runs assemblies (TAO §3.2): a task with a locality address, or other hints, waits at that memory node
    // (§3.2, initial placement), in the order in which it was given; it is anybody's who finds nothing nearer. Beyond
    // the paper, whose thieves go by chance: they look near to far.
    {{"tao", "begin tasks with hints at the node of their data; steal one at a time, near to far (TAO)", true},
     {.ready = to::address, .how_many = share::one, .levels = levels::near_to_far}},
    // OpenStream's enhanced work-pushing (§2.3). A task with enough data goes to a random worker of the node where they
    // are cheapest to use, if that has room for it; else it stays. Underneath workers look near to far (§4.1).
    {{"push_input", "push tasks to the memory node of what they read; look near to far (OpenStream, input only)", true},
     {.ready = to::cheapest, .levels = levels::near_to_far, .weighs = pushing::counts::inputs}},
    {{"push_output", "push tasks to the memory node of what they write (OpenStream, output only)", true},
     {.ready = to::cheapest, .levels = levels::near_to_far, .weighs = pushing::counts::outputs}},
    {{"push_weighted", "push tasks to where what they read and write costs least (OpenStream, weighted)", true},
     {.ready = to::cheapest, .levels = levels::near_to_far}},
    // What pushing does without knowing where data are.
    {{"push_random", "push the same tasks to random workers of random nodes", true},
     {.ready = to::cheap_by_chance, .levels = levels::near_to_far}},
    // As SuperGlue runs tasks (SuperGlue §3.2): those that are ready when the program submits them go round robin to
    // all
    // workers, to the end of the queue; those that had to wait, and those of bodies, to the front of the queue of the
    // worker at hand. A worker takes from the front, a thief one from the end, of a worker by chance.
    {{"superglue", "deal tasks that are ready at once to all workers in turn; steal one, by chance (SuperGlue)"},
     {.ready = to::round, .victim = from::chance, .how_many = share::one}},
    // Nanos++ as TaskGenX §3 has it: idle workers ask the one queue again and again, so who of them comes first is
    // chance. Where they sleep instead the lowest number would always be woken first, which is the core beside the
    // master's.
    {{"taskgenx", "one queue for all workers, oldest first; sleepers are woken by chance (TaskGenX)"},
     {.ready = to::central, .wakes_by_chance = true}},
};
static_assert(rows[built_in_count - 1].name.name != nullptr);

}  // namespace

built_in::built_in(const answers& says, const place::tree& places) : policy(places), says_(says) {
  wish_.open(places);
  if (says.ready == to::cheapest || says.ready == to::cheap_by_chance) cheap_.emplace(places, says.weighs);
  if (says.ready == to::round) turn_ = std::vector<detail::cell<std::uint32_t>>(places.workers() + 1);
  if (says.victim == from::chance) start_.resize(places.workers());
}

destination built_in::ready(unsigned self, const detail::record& r, base::random& rng) {
  switch (waits_for_hints() ? to::own : says_.ready) {
  case to::own: break;
  case to::central: return destination::central();
  case to::pile:
    return self == nobody ? destination::central()
                          : destination::pile(static_cast<std::uint16_t>(places().node_of(self)));
  case to::hinted:
  case to::hinted_or_all:
  case to::address: return by_hint(self, r);
  case to::cheapest:
  case to::cheap_by_chance: return by_cost(self, r, rng);
  case to::round: return by_turn(self, r);
  }
  return destination::own();
}

destination built_in::by_hint(unsigned self, const detail::record& r) const {
  const bool is_address = says_.ready == to::address;
  if (!locality::is_node(r.near)) {
    const bool is_for_all = says_.ready == to::hinted_or_all || (r.near == locality::spans && !is_address);
    return is_for_all ? destination::central() : destination::own();
  }
  const unsigned node = wish_.node(r.near);
  const bool is_here = self != nobody && places().node_of(self) == node;
  return is_here && !is_address ? destination::own() : destination::node(static_cast<std::uint16_t>(node));
}

destination built_in::by_cost(unsigned self, const detail::record& r, base::random& rng) const {
  const unsigned own = self == nobody ? pushing::nowhere : places().node_of(self);
  const std::optional<unsigned> best = cheap_->node(own, r);
  if (!best) return destination::own();
  unsigned node = *best;
  if (says_.ready == to::cheap_by_chance) {
    const unsigned drawn = rng.below(places().nodes());
    if (!cheap_->at(drawn).empty()) node = drawn;
  }
  if (node == own) return destination::own();
  const auto& those = cheap_->at(node);
  WEFT_ASSERT(!those.empty());
  return destination::pushed(those[rng.below(static_cast<std::uint32_t>(those.size()))]);
}

destination built_in::by_turn(unsigned self, const detail::record& r) noexcept {
  if (r.state != detail::record_state::filling || detail::body_around(r.parent) != nullptr) return destination::own();
  detail::cell<std::uint32_t>& mine = turn_[std::min(self, places().workers())];
  const std::uint32_t to = detail::peek(mine);
  detail::poke(mine, to + 1 < places().workers() ? to + 1 : 0u);
  return destination::pushed(static_cast<std::uint16_t>(to));
}

// By chance a sweep starts at a random worker and goes round, so it reaches everyone (SuperGlue §4.1).
unsigned built_in::victim(unsigned self, unsigned i, base::random& rng) {
  if (says_.victim == from::nearest) return policy::victim(self, i, rng);
  const unsigned others = places().workers() - 1;
  if (i == 0) start_[self] = rng.below(others);
  return (self + 1 + (start_[self] + i) % others) % (others + 1);
}

unsigned built_in::how_many(unsigned self, unsigned victim, unsigned available) {
  return says_.how_many == share::one ? 1 : policy::how_many(self, victim, available);
}

std::span<const built_in_row, built_in_count> built_in_rows() noexcept { return rows; }

std::unique_ptr<policy> make_built_in(const answers& says, const place::tree& places) {
  if (says.once_hinted && places.nodes() == 1) return std::make_unique<policy>(places);
  return std::make_unique<built_in>(says, places);
}

}  // namespace weft::sched
