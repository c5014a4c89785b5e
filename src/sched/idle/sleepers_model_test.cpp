// Those of a team who must be woken, under thousands of random schedules: the leader and whoever is awake take them on,
// some begin before they are known, some are there without having slept. Each sleeper must be woken once, and in the
// end all are. The same harness must reject four rolls that are broken on purpose.
#include <array>

#include "base/plain.hpp"
#include "interleave.hpp"
#include "sched/idle/sleepers.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;

enum class flaw {
  none,
  copied,            // no flaw: the copy that the following are planted in
  counts_too_early,  // takes one on before it looks at whether they are known
  counts_by_halves,  // reads which is next and then says so
  known_too_early,   // before they are written down
  passes_one_on,     // who has taken one on leaves it to the next, if there is one
  publishes_relaxed  // the leader does not release the list; only weak memory tells that apart
};

// As sleepers<M>.
template <flaw Flaw> class roll {
 public:
  void open(std::size_t most) {
    ids_.clear();
    ids_.reserve(most);
    M::store(known_, 0u, base::relaxed);
    M::store(taken_, 0u, base::relaxed);
    if (Flaw == flaw::known_too_early) M::store(known_, static_cast<std::uint32_t>(most), base::release);
  }
  [[nodiscard]] std::vector<base::plain<std::uint16_t>>& list() noexcept { return ids_; }
  void publish() {
    const base::order o = Flaw == flaw::publishes_relaxed ? base::relaxed : base::release;
    M::store(known_, static_cast<std::uint32_t>(ids_.size()), o);
  }
  template <class Wake> void wake(Wake wakes) {
    const std::uint32_t n = M::load(known_, base::acquire);
    if (n == 0 && Flaw != flaw::counts_too_early) return;
    for (std::uint32_t i; (i = next()) < n;) {
      if (i >= ids_.size()) return;
      if (Flaw == flaw::passes_one_on && i + 1 < n && i % 2 == 1) return;
      wakes(ids_[i].read());
    }
  }

 private:
  [[nodiscard]] std::uint32_t next() {
    if (Flaw != flaw::counts_by_halves) return M::fetch_add(taken_, 1u, base::relaxed);
    const std::uint32_t i = M::load(taken_, base::relaxed);
    M::store(taken_, i + 1, base::relaxed);
    return i;
  }
  std::vector<base::plain<std::uint16_t>> ids_;
  detail::cell<std::uint32_t> known_;
  detail::cell<std::uint32_t> taken_;
};

// Core 1 leads. Of the others some sleep until they are woken; the rest are there at once.
template <class Roll> class trial {
 public:
  explicit trial(std::uint64_t seed) : play_(seed), rng_(seed * 7), n_(2 + rng_.below(5)) {
    for (unsigned id = 2; id <= n_; ++id) sleeps_[id] = rng_.below(4) != 0;
  }

  const char* run() {
    const bool done = play_.run(
        n_, [this](unsigned id) { id == 1 ? lead() : follow(id); },
        [this] { return play_.all_left() || wrong_ != nullptr; }, 1 << 13);
    if (!done) complain("one sleeps for ever");
    return wrong_;
  }

 private:
  void complain(const char* what) {
    if (wrong_ == nullptr) wrong_ = what;
  }
  void wake_others() {
    roll_.wake([this](std::uint16_t id) {
      M::relax(1 + id % 3);  // it takes a while
      if (++woken_[id] > 1 || !sleeps_[id]) return complain("one is woken that does not sleep");
      play_.machine().wake(id);
    });
  }
  void lead() {
    roll_.open(n_);
    M::store(is_open_, 1u, base::release);
    for (unsigned id = 2; id <= n_; ++id)
      if (sleeps_[id]) {
        M::relax(1);
        roll_.list().emplace_back().write() = static_cast<std::uint16_t>(id);
      }
    roll_.publish();
    wake_others();
  }
  void follow(unsigned id) {
    while (M::load(is_open_, base::acquire) == 0 && !play_.over()) M::relax(1);
    if (sleeps_[id])
      while (woken_[id] == 0 && !play_.over()) play_.machine().park(id);
    if (!play_.over()) wake_others();
  }

  interleave::play<M> play_;
  base::random rng_;
  unsigned n_;
  Roll roll_;
  detail::cell<std::uint32_t> is_open_{};
  std::array<bool, 8> sleeps_{};
  std::array<unsigned, 8> woken_{};
  const char* wrong_ = nullptr;
};

template <class Roll> const char* one(std::uint64_t seed) { return trial<Roll>(seed).run(); }

}  // namespace

TEST_CASE("sleepers: each is woken once, whoever is awake") {
  interleave::all_seeds(10000, one<sleepers<M>>);
  interleave::all_seeds(3000, one<roll<flaw::copied>>);
}

TEST_CASE("sleepers: the harness finds each planted flaw") {
  CHECK(interleave::caught(3000, one<roll<flaw::counts_too_early>>));
  CHECK(interleave::caught(3000, one<roll<flaw::counts_by_halves>>));
  CHECK(interleave::caught(3000, one<roll<flaw::known_too_early>>));
  CHECK(interleave::caught(3000, one<roll<flaw::passes_one_on>>));
}

TEST_CASE("sleepers: weak memory alone finds a list that is not released, as a planted flaw") {
  CHECK(interleave::caught(3000, one<roll<flaw::publishes_relaxed>>) == interleave::weak_memory);
}

}  // namespace weft::sched
