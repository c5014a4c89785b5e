// Versions under thousands of random schedules: several cores register tasks on a few handles, run what is ready and
// finish it, by the short way and by the long one, and every shared access is a point where another may go first. Some
// accesses advance a version by several, and over versions that others wait for. No task may start before its versions
// are there or beside one it excludes, and none may be lost. The same harness must reject machines on which one
// operation that the protocol relies on comes apart.
#include <memory>
#include <vector>

#include "access_program.hpp"
#include "interleave.hpp"

namespace weft::access {
namespace {

using accesses::task;
using base::order;
using detail::cell;
using interleave::unsteady;

// Sets the alarm for the version that was read, though another may be current by then: what finished in between is
// not counted, and the waiter's version comes before the alarm.
struct late_alarm : unsteady {
  using unsteady::unsteady;
  template <class T> static bool compare_exchange(cell<T>& c, T& expected, T v, order o) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (version_in(expected) == version_in(v)) {
        T now = unsteady::load(c, o);
        while (!unsteady::compare_exchange(c, now, word_at(version_in(now), alarm_in(v)), o)) {
        }
        return true;
      }
    }
    return unsteady::compare_exchange(c, expected, v, o);
  }
};

// Advances the version by a load and a store: an alarm or another's advance in between is lost.
struct torn_finish : unsteady {
  using unsteady::unsteady;
  template <class T> static bool compare_exchange(cell<T>& c, T& expected, T v, order o) {
    const T old = unsteady::load(c, o);
    if (old != expected) return expected = old, false;
    unsteady::store(c, v, o);
    return true;
  }
};

// Asks of an alarm only whether it is at 0, not whether it is high enough for what an access advances the version by:
// who waits for a version in between is passed over.
struct passed_alarm : unsteady {
  using unsteady::unsteady;
  template <class T> static T load(cell<T>& c, order o) {
    const T word = unsteady::load(c, o);
    if constexpr (std::is_same_v<T, std::uint64_t>)
      if (o == base::relaxed && alarm_in(word) != 0) return word | alarm_max;  // the short way looks so
    return word;
  }
  template <class T> static bool compare_exchange(cell<T>& c, T& expected, T v, order o) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (version_in(expected) != version_in(v)) {
        T now = unsteady::load(c, base::acquire);
        const std::uint64_t amount = version_in(v) - version_in(expected);
        const std::uint64_t alarm = alarm_in(now) > amount ? alarm_in(now) - amount : 0;
        const bool fits = version_in(now) == version_in(expected) && alarm_in(now) != 0;
        if (fits && unsteady::compare_exchange(c, now, word_at(version_in(v), alarm), o)) return true;
        return expected = load(c, base::relaxed), false;
      }
    }
    return unsteady::compare_exchange(c, expected, v, o);
  }
};

template <class M> class trial {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), cores_(2 + rng_.below(3)), handles_(1 + rng_.below(3)), states_(handles_.size()),
        tasks_(2 + rng_.below(20)) {
    const bool adds = rng_.below(2) == 0;   // half of the trials are about exclusive access
    const bool steps = rng_.below(2) == 0;  // and half about versions that advance by several
    for (task& t : tasks_) {
      std::vector<handle_state*> unused;
      for (handle_state& h : handles_) unused.push_back(&h);
      for (std::uint32_t n = rng_.below(4); n > 0 && !unused.empty(); --n) {
        const std::size_t at = rng_.below(static_cast<std::uint32_t>(unused.size()));
        const std::uint8_t kind = accesses::kinds[rng_.below(4)];
        const std::uint64_t amount = steps && rng_.below(2) == 0 ? 1 + rng_.below(rng_.below(3) == 0 ? 600 : 6) : 1;
        t.use(*unused[at], adds && rng_.below(3) != 0 ? detail::kind_add : kind, amount);
        unused.erase(unused.begin() + static_cast<std::ptrdiff_t>(at));
      }
      t.r.plain = t.r.exclusives == 0 && !accesses::has_amounts(t) && rng_.below(4) != 0;
    }
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned) { work(); };
    if (!play_.run(cores_, core, [this] { return play_.all_left() || wrong_ != nullptr; })) complain("a task is lost");
    for (const handle_state& h : handles_)
      if (!accesses::is_done(h) || h.exclusive_taken) complain("a handle is not at rest in the end");
    accesses::forget_uses(handles_);
    return wrong_;
  }

 private:
  struct users {
    std::uint64_t over = 0;  // amounts of accesses whose body has ended
    unsigned now = 0;        // bodies that use the handle at the moment, all of this kind:
    std::uint8_t kind = 0;
  };

  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] users& of(const entry& a) noexcept {
    return states_[static_cast<std::size_t>(&handle_of(a) - handles_.data())];
  }

  void work() {
    const auto ready = [this](task& t) { ready_.push_back(&t); };
    while (finished_ < tasks_.size() && !play_.over() && wrong_ == nullptr) {
      if (submitted_ < tasks_.size() && rng_.below(2) == 0) {
        accesses::submit<M>(tasks_[submitted_++], engine_, ready);
      } else if (!ready_.empty()) {
        const std::size_t at = rng_.below(static_cast<std::uint32_t>(ready_.size()));
        task& t = *ready_[at];
        ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(at));
        body(t);
        accesses::finish<M>(t, ready);
        ++finished_;
      } else {
        M::relax(1);
      }
    }
  }

  void body(task& t) {
    for (std::uint32_t i = 0; i < t.r.access_count; ++i) {
      if (is_repeated(t.a[i])) continue;
      users& u = of(t.a[i]);
      const std::uint8_t kind = kind_of(t.a[i]);
      if (u.over < t.a[i].required) complain("a task starts before its version is there");
      const bool together = u.kind == kind && (kind & detail::kind_commutative) != 0 && kind != detail::kind_add;
      if (u.now != 0 && !together) complain("two tasks that exclude each other run at the same time");
      u.kind = kind;
      ++u.now;
    }
    for (std::uint32_t pause = rng_.below(12); pause > 0; --pause) M::relax(1);
    for (std::uint32_t i = 0; i < t.r.access_count; ++i) {
      if (is_repeated(t.a[i])) continue;
      --of(t.a[i]).now;
      of(t.a[i]).over += amount_of(t.r, i);
    }
  }

  interleave::play<M> play_;
  base::random rng_;
  unsigned cores_;
  std::vector<handle_state> handles_;
  std::vector<users> states_;
  std::vector<task> tasks_;
  std::vector<task*> ready_;  // not shared words: nobody takes a turn between its operations
  std::size_t submitted_ = 0;
  std::size_t finished_ = 0;
  accesses::identity engine_;
  const char* wrong_ = nullptr;
};

template <class M> const char* tried(std::uint64_t seed) { return std::make_unique<trial<M>>(seed)->run(); }

}  // namespace

TEST_CASE("version model: no task starts too early and none is lost") { interleave::all_seeds(8000, &tried<unsteady>); }

TEST_CASE("version model: must fail if the alarm is set for a version that is no longer current") {
  CHECK(interleave::caught(5000, &tried<late_alarm>));
}
TEST_CASE("version model: must fail if an access advances the version over an alarm") {
  CHECK(interleave::caught(2000, &tried<passed_alarm>));
}
TEST_CASE("version model: must fail if the version advances by a load and a store") {
  CHECK(interleave::caught(2000, &tried<torn_finish>));
}

}  // namespace weft::access
