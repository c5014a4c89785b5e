// Runs of a graph under thousands of random schedules: cores take what is ready, call it, and count down its
// successors; who ends the last sink begins the next run. In each run each node must be called once, behind all its
// predecessors, and no run may begin before the one before is over. The same harness must reject six countdowns that
// are broken on purpose.
#include <array>
#include <vector>

#include "base/plain.hpp"
#include "interleave.hpp"
#include "sched/admit/graphs.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;
using detail::graph_node;

enum class flaw {
  none,
  copied,       // no flaw: the copy that the following are planted in
  resets_late,  // when the node has been called, and its successors may have run
  forgets_to_reset,
  counts_in_two_steps,     // a load and a store
  asks_again,              // after the subtraction, by a second look: two may see 0
  takes_two_for_the_last,  // and so does not wait for the other one
  first_sink_ends,         // the run, for those that come after
  // Orders, which only a machine with weak memory tells apart:
  subtracts_by_release,  // the last one does not learn what the others did
  subtracts_by_acquire,  // the others do not say what they did
  looks_relaxed          // nor does who finds that it is the last
};

template <flaw Flaw> struct copied {
  static constexpr bool resets_late = Flaw == flaw::resets_late;
  static constexpr bool first_sink_ends = Flaw == flaw::first_sink_ends;
  static constexpr base::order subtracts = Flaw == flaw::subtracts_by_release   ? base::release
                                           : Flaw == flaw::subtracts_by_acquire ? base::acquire
                                                                                : base::acq_rel;
  [[nodiscard]] static bool arrives(graph_node& x) {
    if (x.predecessors == 1) return true;
    const base::order look = Flaw == flaw::looks_relaxed ? base::relaxed : base::acquire;
    const std::uint32_t seen = M::load(x.missing, look);
    if (Flaw == flaw::takes_two_for_the_last ? seen > 2 : seen != 1) {
      if (Flaw == flaw::counts_in_two_steps) {
        M::store(x.missing, seen - 1, base::release);
        return false;
      }
      const bool last = M::fetch_sub(x.missing, 1u, subtracts) == 1;
      if (Flaw == flaw::asks_again ? M::load(x.missing, base::acquire) != 0 : !last) return false;
    }
    if (Flaw != flaw::resets_late && Flaw != flaw::forgets_to_reset) M::store(x.missing, x.predecessors, base::relaxed);
    return true;
  }
};
struct sound : countdown<M> {
  static constexpr bool resets_late = false;
  static constexpr bool first_sink_ends = false;
};

template <class Countdown> class trial {
 public:
  explicit trial(std::uint64_t seed) : play_(seed), rng_(seed * 13), cores_(2 + rng_.below(2)), n_(3 + rng_.below(6)) {
    for (unsigned i = 1; i < n_; ++i)
      for (unsigned p = 0; p < i; ++p)
        if (rng_.below(5) < 2) edge(p, i);
    for (unsigned i = 0; i < n_; ++i) {
      detail::poke(nodes_[i].missing, nodes_[i].predecessors);
      sinks_ += after_[i].empty() ? 1 : 0;
    }
    begin();
  }

  const char* run() {
    const bool done = play_.run(
        cores_, [this](unsigned) { core(); }, [this] { return play_.all_left() || wrong_ != nullptr; }, 1 << 15);
    if (!done && wrong_ == nullptr) complain("a run does not end");
    return wrong_;
  }

 private:
  static constexpr unsigned runs = 3;

  void edge(unsigned from, unsigned to) {
    after_[from].push_back(to);
    ++nodes_[to].predecessors;
  }
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  // Who: one alone.
  void begin() {
    ++run_;
    detail::poke(open_, Countdown::first_sink_ends ? 1u : sinks_);
    for (unsigned i = 0; i < n_; ++i)
      if (nodes_[i].predecessors == 0) make_ready(i);
  }

  // A word for each node, so that who takes it knows what who made it ready knew, and no more.
  void make_ready(unsigned i) { M::unseen::store(ready_[i], std::uint8_t{1}, base::release); }
  [[nodiscard]] bool takes(unsigned i) {
    return M::load(ready_[i], base::relaxed) != 0 && M::exchange(ready_[i], std::uint8_t{0}, base::acquire) != 0;
  }
  void core() {
    while (run_ <= runs && wrong_ == nullptr && !play_.over())
      for (unsigned i = n_; i-- > 0 && run_ <= runs && wrong_ == nullptr && !play_.over();) {
        M::relax(1);
        if (takes(i)) call(i);
      }
  }
  void call(unsigned i) {
    const unsigned now = run_;
    if (++calls_[i].write() != now) return complain("a node is called twice in a run, or not at all");
    for (unsigned p = 0; p < i; ++p)
      for (const unsigned s : after_[p])
        if (s == i && ended_[p].read() != now) return complain("a node begins before its predecessor has ended");
    for (unsigned turns = rng_.below(4); turns > 0; --turns) M::relax(1);
    ended_[i].write() = now;
    for (const unsigned s : after_[i]) {
      if (!Countdown::arrives(nodes_[s])) continue;
      make_ready(s);
    }
    if (Countdown::resets_late) M::store(nodes_[i].missing, nodes_[i].predecessors, base::relaxed);
    if (!after_[i].empty()) return;
    const std::uint32_t before = M::fetch_sub(open_, 1u, base::acq_rel);
    if (before != 1) return;
    for (unsigned x = 0; x < n_; ++x)
      if (ended_[x].read() != now) return complain("a run ends before its nodes");
    begin();
  }

  interleave::play<M> play_;
  base::random rng_;
  unsigned cores_, n_;
  std::array<graph_node, 9> nodes_{};
  std::array<std::vector<unsigned>, 9> after_;
  std::array<base::plain<unsigned>, 9> calls_, ended_;  // what bodies do
  std::array<detail::cell<std::uint8_t>, 9> ready_{};
  detail::cell<std::uint32_t> open_;
  unsigned sinks_ = 0, run_ = 0;
  const char* wrong_ = nullptr;
};

template <class Countdown> const char* one(std::uint64_t seed) { return trial<Countdown>(seed).run(); }

}  // namespace

TEST_CASE("graphs: in each run each node once, behind its predecessors, and one run after the other") {
  interleave::all_seeds(20000, one<sound>);
  interleave::all_seeds(4000, one<copied<flaw::copied>>);
}

TEST_CASE("graphs: the harness finds each planted flaw") {
  CHECK(interleave::caught(4000, one<copied<flaw::resets_late>>));
  CHECK(interleave::caught(4000, one<copied<flaw::forgets_to_reset>>));
  CHECK(interleave::caught(4000, one<copied<flaw::counts_in_two_steps>>));
  CHECK(interleave::caught(4000, one<copied<flaw::asks_again>>));
  CHECK(interleave::caught(4000, one<copied<flaw::takes_two_for_the_last>>));
  CHECK(interleave::caught(4000, one<copied<flaw::first_sink_ends>>));
}

TEST_CASE("graphs: weak memory alone finds each wrong order that is a planted flaw") {
  CHECK(interleave::caught(4000, one<copied<flaw::subtracts_by_release>>) == interleave::weak_memory);
  CHECK(interleave::caught(4000, one<copied<flaw::subtracts_by_acquire>>) == interleave::weak_memory);
  CHECK(interleave::caught(4000, one<copied<flaw::looks_relaxed>>) == interleave::weak_memory);
}

}  // namespace weft::sched
