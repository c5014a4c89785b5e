// What the test of one noun of src/sched needs of the nouns below it, without an engine: a context whose crew has open
// deques. Any machine; `notes` is one for tests on a single thread.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <stdexcept>
#include <vector>

#include "machine/host/host.hpp"
#include "sched/place/context.hpp"

namespace weft::testing {

using detail::record;
using detail::record_state;

// The host without its threads: who would be woken or sent to sleep is written down, and the clock advances by a
// microsecond with each look, so that a search ends at the same point of every run.
struct notes : machine::host {
  void wake(unsigned id) { woken.push_back(id); }
  void park(unsigned id) {
    ++parked;
    if (at_park) at_park(id);
  }
  void doze(unsigned id) { park(id); }
  [[nodiscard]] std::uint64_t now_ps() const noexcept {
    if (at_clock) at_clock();
    return clock_ps += 1'000'000;
  }
  static bool barrier_everywhere() noexcept { return true; }
  static bool offers_barrier() noexcept { return true; }
  [[nodiscard]] std::vector<unsigned> take_woken() { return std::exchange(woken, {}); }

  std::vector<unsigned> woken;
  unsigned parked = 0;
  std::function<void(unsigned id)> at_park;  // stands for whoever would wake it
  std::function<void()> at_clock;            // what others do while somebody lets time pass
  mutable std::uint64_t clock_ps = 0;
};
// The same as a machine that has one thread, for what only modelled machines do.
struct modelled_notes : notes {
  [[nodiscard]] static constexpr bool admits_strangers() noexcept { return false; }
  [[nodiscard]] static constexpr bool has_helpers() noexcept { return false; }
  [[nodiscard]] static constexpr bool has_alarms() noexcept { return true; }
  [[nodiscard]] static constexpr bool keeps_order() noexcept { return true; }
  [[nodiscard]] static constexpr bool offers_barrier() noexcept { return false; }
  [[nodiscard]] static constexpr unsigned reserves() noexcept { return 0; }
  [[nodiscard]] static constexpr std::size_t idle_stacks_max() noexcept { return ~std::size_t{0}; }
};

// Any phase, by a way that a record may go.
inline void begin_in(record& r, record_state at) noexcept {
  using enum record_state;
  if (detail::may_be_first().has(at)) return begin(r, at);
  begin(r, at == draining ? running : filling);
  transition(r, at == draining ? running : filling, at);
}

// A task that no pool made. Its accesses follow the record, as in a real one.
struct task {
  record r{};
  detail::access a[4]{};
  unsigned called = 0;   // times that its body ran
  unsigned dropped = 0;  // times that its closure was destroyed without that
  std::exception_ptr throws;

  explicit task(record_state at = record_state::filling) {
    begin_in(r, at);
    r.pin = record::unpinned;
    detail::poke(r.pending, record::body_share);
    r.invoke = [](record& self, detail::errand what) {
      task& t = reinterpret_cast<task&>(self);
      const bool calls = what != detail::errand::destroy;
      ++(calls ? t.called : t.dropped);
      if (calls && t.throws != nullptr) std::rethrow_exception(t.throws);
    };
  }
  // Names h once more, as clauses do.
  task& uses(detail::handle_state& h, std::uint8_t kind) {
    a[r.access_count++] = {reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(kind), 0};
    return *this;
  }
};
static_assert(offsetof(task, a) == sizeof(record));

// Answers what the test tells it to, and remembers who asked about what.
struct answers : sched::policy {
  using policy::policy;
  struct question {
    unsigned self;
    const record* r;
    [[nodiscard]] bool operator==(const question&) const = default;
  };
  sched::destination ready(unsigned self, const record& r, base::random&) override {
    asked.push_back({self, &r});
    return next;
  }
  bool always_own_deque() const noexcept override { return own_only; }
  bool uses_nodes() const noexcept override { return true; }
  bool uses_piles() const noexcept override { return true; }

  sched::destination next = sched::destination::own();
  std::vector<question> asked;
  bool own_only = false;
};

// Two workers share a memory node.
[[nodiscard]] inline place::tree places_of(unsigned workers) {
  std::vector<place::core> cores;
  for (unsigned i = 0; i < workers; ++i) cores.push_back({.cpu = i, .cache = i / 2, .node = i / 2});
  return place::tree(cores, workers);
}

template <class M> struct scheduler : sched::context<M> {
  explicit scheduler(M& on, unsigned workers, bool with_reserve = false)
      : sched::context<M>(on, workers + (with_reserve ? 1 : 0)), places(places_of(workers)), policy(places) {
    this->crew.open(workers, with_reserve);
    this->sleep.open(workers, with_reserve);
    // The storage is every machine's, and a modelled one may not run yet.
    for (const auto& w : this->crew)
      sched::deque<machine::host>::open(*w, true, {.first = 8}, &this->placement.overflow());
    for (const auto& w : this->crew) w->where = &stacks.emplace_back(detail::place_of_body{w.get()});
    this->crew.main().where->on = nullptr;  // in the program
  }
  ~scheduler() {
    for (const auto& w : this->crew) sched::deque<machine::host>::close(*w);
  }

  // Without a policy every task stays where it became ready.
  void open() {
    policy.own_only = true;
    open_with_policy();
  }
  void open_with_policy() { this->placement.open(policy, places); }

  template <class Queue> [[nodiscard]] std::vector<record*> content(Queue& box) {
    std::vector<record*> found;
    while (record* r = box.pop()) found.push_back(r);
    return found;
  }
  [[nodiscard]] std::vector<record*> own(unsigned id) {
    std::vector<record*> found;
    while (record* r = sched::deque<M>::pop(this->crew[id])) found.push_back(r);
    return found;
  }

  std::deque<detail::place_of_body> stacks;
  place::tree places;
  answers policy;
};

}  // namespace weft::testing
