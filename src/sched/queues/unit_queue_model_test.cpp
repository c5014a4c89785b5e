// The units of a graph under thousands of random schedules: members take units of a random graph, look for a while
// where none is ready, then list themselves and sleep until they are placed; some units throw. No unit may begin too
// early, twice or never, nobody may sleep for ever, and all must hear of a failure. The same harness must reject
// members and queues that are broken on purpose.
#include <array>
#include <utility>
#include <vector>

#include "interleave.hpp"
#include "sched/queues/unit_queue.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;

enum class flaw {
  none,
  sleeps_after_news,  // though it is told that there is something
  wakes_one,          // of those who are to be placed
  wakes_nobody,
  hides_a_failure  // its unit has thrown, and it goes without a word
};

template <flaw Flaw> class trial {
 public:
  explicit trial(std::uint64_t seed) : play_(seed), rng_(seed * 13), n_(2 + rng_.below(3)) {
    const std::uint32_t units = rng_.below(9);
    before_.resize(units);
    first_.assign(units + 1, 0);
    state_.assign(units, 0);
    for (std::uint32_t i = 0; i < units; ++i)
      for (std::uint32_t j = i + 1; j < units; ++j) {
        if (rng_.below(3) == 0) {
          after_.push_back(j);
          ++before_[j];
        }
        first_[i + 1] = static_cast<std::uint32_t>(after_.size());
      }
    if (units != 0) first_[units] = static_cast<std::uint32_t>(after_.size());
    throws_ = rng_.below(4) == 0 && units != 0 ? rng_.below(units) : ~0u;
  }

  const char* run() {
    const bool done = play_.run(
        n_, [this](unsigned id) { member(id - 1); }, [this] { return play_.all_left() || wrong_ != nullptr; }, 1 << 15);
    if (!done) complain("a member waits for ever");
    for (const int s : state_)
      if (throws_ == ~0u && s != ended) complain("a unit is never done");
    return wrong_;
  }

 private:
  static constexpr int begun = 1, ended = 2;
  struct seat {
    detail::record r{};
    bool placed = false;
  };
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool stops() const noexcept { return play_.over() || wrong_ != nullptr; }

  [[nodiscard]] detail::unit_order order() const noexcept {
    return {static_cast<std::uint32_t>(before_.size()), before_.data(), first_.data(), after_.data()};
  }
  void member(unsigned i) {
    std::uint32_t done = detail::no_unit;
    while (!stops()) {
      const auto got = queue_.take(team_, order(), done);
      place(got.woken);
      done = detail::no_unit;
      if (got.unit == detail::units_failed && throws_ == ~0u) complain("a failure that nobody made");
      if (got.unit > queue_.none_yet) return hear(got.unit);
      if (got.unit == queue_.none_yet)
        wait(of_[i], i, got.seen);
      else if (!unit(got.unit))
        return;
      else
        done = got.unit;
    }
  }
  void hear(std::uint32_t what) {
    if (what == detail::units_over && throws_ != ~0u) complain("all are done, though one has thrown");
  }
  // Returns false where it throws.
  [[nodiscard]] bool unit(std::uint32_t u) {
    if (std::exchange(state_[u], begun) != 0) complain("a unit begins twice");
    for (std::uint32_t e = 0; e < u; ++e)
      for (std::uint32_t k = first_[e]; k < first_[e + 1]; ++k)
        if (after_[k] == u && state_[e] != ended) complain("a unit begins too early");
    for (std::uint32_t turns = rng_.below(8); turns != 0; --turns) M::relax(1);
    if (u == throws_) {
      if (Flaw != flaw::hides_a_failure) place(queue_.take(team_, order(), detail::unit_threw).woken);
      return false;
    }
    state_[u] = ended;
    return true;
  }
  void wait(seat& self, unsigned i, std::uint32_t seen) {
    for (std::uint32_t looks = rng_.below(4); looks != 0; --looks) {
      if (queue_.news() != seen) return;
      M::relax(1);
    }
    self.placed = false;
    self.r = {};
    self.r.order = i;
    if (!queue_.lists(&self.r, seen) && Flaw != flaw::sleeps_after_news) return;
    while (!self.placed && !stops()) play_.machine().park(i + 1);
  }
  void place(detail::record* r) {
    unsigned woken = 0;
    if (Flaw == flaw::wakes_nobody) return;
    for (; r != nullptr && woken <= n_ && (Flaw != flaw::wakes_one || woken == 0); ++woken) {
      detail::record* const next = r->waiting.next;
      const auto i = static_cast<unsigned>(r->order);
      of_[i].placed = true;
      play_.machine().wake(i + 1);
      r = next;
    }
    if (woken > n_) complain("somebody is placed twice");
  }

  interleave::play<M> play_;
  base::random rng_;
  unsigned n_;
  detail::team_state team_{};
  unit_queue<M> queue_;
  std::vector<std::uint32_t> before_, first_, after_;
  std::vector<int> state_;
  std::uint32_t throws_ = ~0u;
  std::array<seat, 4> of_;
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* one(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("unit queue: no unit too early, twice or never, and nobody sleeps for ever") {
  interleave::all_seeds(20000, one<flaw::none>);
}

TEST_CASE("unit queue: the harness finds each planted flaw") {
  CHECK(interleave::caught(4000, one<flaw::sleeps_after_news>));
  CHECK(interleave::caught(4000, one<flaw::wakes_one>));
  CHECK(interleave::caught(4000, one<flaw::wakes_nobody>));
  CHECK(interleave::caught(4000, one<flaw::hides_a_failure>));
}

}  // namespace weft::sched
