// The whole engine under policies that no user gets: one that gives every task to a worker by number, one that uses the
// queues of memory nodes, one that uses every destination there is. On a modelled machine with random schedules each
// task must run once and where it must, in the order of its data, wherever the policy sends it.
#include "sched/engine/engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "interleave.hpp"
#include "runtime/instantiated.hpp"
#include "weft/weft.hpp"

namespace weft::sched {
namespace {

using M = machine::virtual_machine;
using queue = destination::queue;

// How many answers of each kind the run got, by destination::queue.
unsigned answered[5];

template <queue... Used> class sends_to final : public policy {
 public:
  using policy::policy;
  destination ready(unsigned self, const detail::record& r, base::random&) override {
    constexpr queue all[] = {Used...};
    const queue where = all[(r.order + (self == nobody ? 0 : self)) % sizeof...(Used)];
    ++answered[static_cast<unsigned>(where)];
    const auto among = [&r](unsigned n) { return static_cast<std::uint16_t>(r.order % n); };
    if (where == queue::worker) return destination::worker(among(places().workers()));
    if (where == queue::node) return destination::node(among(places().nodes()));
    return {where};
  }
  bool always_own_deque() const noexcept override { return false; }
  bool uses_nodes() const noexcept override { return ((Used == queue::node) || ...); }
};
template <queue... Used> constexpr policy_entry entry_of(const char* name) {
  return {{name, "for this test"}, [](const policy_entry&, const place::tree& places) -> std::unique_ptr<policy> {
            return std::make_unique<sends_to<Used...>>(places);
          }};
}

// Worker i sits at node i % 2.
[[nodiscard]] place::tree two_nodes(unsigned workers) {
  std::vector<place::core> cores;
  for (unsigned i = 0; i < workers; ++i) cores.push_back({.cpu = i, .cache = i % 2, .node = i % 2});
  return place::tree(cores, workers);
}

struct machine_with_engine {
  engine<M> e;
  machine_with_engine(const policy_entry& rules, unsigned workers, std::uint64_t seed, bool decoupled)
      : e(engine_setup{.workers_wanted = workers,
                       .seed = seed,
                       .window_tasks = 1024,
                       .stack_bytes = stack_bytes,
                       .search_ns = base::search_ns,
                       .decoupled = decoupled},
          M::setup{.seed = seed, .random_order = true}) {
    e.the_machine().start(workers, &engine<M>::worker_entry, &e, stack_bytes);
    e.open(two_nodes(workers), rules);
  }
  static constexpr std::size_t stack_bytes = std::size_t{128} << 10;
};

// Tasks in tasks, chains on two handles, pinned and urgent ones. by_number: the policy sends the n-th task of the
// program to worker n % workers. Returns what is wrong, or nullptr.
const char* run_program(engine<M>& e, bool by_number) {
  constexpr unsigned length = 12;
  handle<std::vector<unsigned>> a, b;
  std::vector<unsigned> ran(3 * length);
  unsigned elsewhere = 0;
  const auto must_be_on = [&elsewhere](unsigned wanted) { elsewhere += static_cast<unsigned>(worker_id()) != wanted; };
  for (unsigned i = 0; i < length; ++i) {
    const unsigned named = (3 * i + 1) % e.workers();  // program order counts from 1
    const unsigned pinned = i % e.workers();
    detail::submit(e, write(a), [=, &ran](std::vector<unsigned>& x) {
      x.push_back(i);
      ++ran[3 * i];
      if (by_number) must_be_on(named);
    });
    detail::submit(e, read(a), write(b), pin(pinned), [=, &ran](const auto& x, auto& y) {
      y.push_back(static_cast<unsigned>(x.size()));
      ++ran[3 * i + 1];
      must_be_on(pinned);
    });
    detail::submit(e, priority(static_cast<int>(i % 2)),
                   [&e, &ran, i] { detail::submit(e, [&ran, i] { ++ran[3 * i + 2]; }); });
  }
  e.wait_all();
  if (elsewhere != 0) return "a task ran on another worker than it had to";
  if (std::any_of(ran.begin(), ran.end(), [](unsigned times) { return times != 1; }))
    return "a task was lost, or ran twice";
  for (unsigned i = 0; i < length; ++i)
    if (a.unguarded()[i] != i || b.unguarded()[i] != i + 1) return "tasks on one datum ran in another order";
  return nullptr;
}

template <bool Decoupled, queue... Used> const char* tried(std::uint64_t seed) {
  const policy_entry rules = entry_of<Used...>("test");
  machine_with_engine m(rules, (Decoupled ? 2 : 1) + static_cast<unsigned>(seed % 4), seed, Decoupled);
  std::fill(std::begin(answered), std::end(answered), 0);
  constexpr bool by_number = ((Used == queue::worker) && ...);
  if (const char* wrong = run_program(m.e, by_number)) return wrong;
  unsigned all = 0;
  for (const unsigned times : answered) all += times;
  return all < 48 ? "the policy was not asked for every task" : nullptr;
}

}  // namespace

// A task that follows on another runs at once on the same worker, but now and then that worker looks elsewhere first.
TEST_CASE("engine: a chain of tasks that are pinned stays where it is pinned, however long it is") {
  interleave::all_seeds(40, [](std::uint64_t seed) -> const char* {
    machine_with_engine m(find_policy("local"), 4, seed, false);
    handle<int> a(0);
    unsigned elsewhere = 0;
    for (unsigned i = 0; i < 3 * ticks_between_looks; ++i)
      detail::submit(m.e, write(a), pin(1), [&elsewhere](int& x) { ++x, elsewhere += worker_id() != 1; });
    m.e.wait_all();
    return elsewhere == 0 ? nullptr : "a pinned task was stolen";
  });
}

TEST_CASE("engine: a policy that names workers decides who runs what, beside pins and priorities") {
  interleave::all_seeds(60, tried<false, queue::worker>);
}

TEST_CASE("engine: a policy that uses the queues of memory nodes") {
  interleave::all_seeds(60, tried<false, queue::node>);
  CHECK(answered[static_cast<unsigned>(queue::node)] > 0);
}

TEST_CASE("engine: a policy that uses every destination there is") {
  interleave::all_seeds(100, tried<false, queue::own, queue::central, queue::urgent, queue::worker, queue::node>);
  for (const unsigned times : answered) CHECK(times > 0);
}

TEST_CASE("engine: the same where one worker creates what all submit") {
  interleave::all_seeds(60, tried<true, queue::worker>);
  interleave::all_seeds(60, tried<true, queue::own, queue::central, queue::urgent, queue::worker, queue::node>);
}

}  // namespace weft::sched
