// The word that a worker looks at before each task: it says "nothing" only when neither a pause nor an urgent task is
// there. The number in it may be ahead of the queue and never behind; the schedules below must find the copy that
// counts a task after it has queued it.
#include "sched/idle/attention.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "interleave.hpp"
#include "machine/host/host.hpp"
#include "sched/queues/inbox.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;

enum class flaw { none, counts_after_the_push };

// Two workers queue urgent tasks, others take them; the last core reads the word and then, without a turn in between,
// looks whether the queue is empty. Of the flawed copy one takes them: two could meet the assertion that no more are
// uncounted than were counted, before the one that watches has seen anything.
template <flaw Flaw> const char* tried(std::uint64_t seed) {
  constexpr std::size_t each = 6;
  interleave::play<M> play(seed);
  attention<M> word;
  inbox<M> urgent;
  std::vector<detail::record> tasks(2 * each);
  std::size_t taken = 0;
  const char* wrong = nullptr;
  const auto push = [&](std::size_t which) {
    for (std::size_t i = 0; i < each && !play.over(); ++i) {
      if (Flaw != flaw::counts_after_the_push) word.add_urgent();
      urgent.push(&tasks[which * each + i]);
      if (Flaw == flaw::counts_after_the_push) word.add_urgent();
    }
  };
  const auto pop = [&] {
    while (taken < tasks.size() && !play.over()) {
      if (!word.called_now()) {
        M::relax(1);
        continue;
      }
      if (urgent.pop() == nullptr) continue;
      ++taken;
      word.remove_urgent();
    }
  };
  const auto watch = [&] {
    while (taken < tasks.size() && wrong == nullptr && !play.over())
      if (!word.called_now() && !urgent.none()) wrong = "an urgent task is queued and nobody would look";
  };
  constexpr unsigned takers = Flaw == flaw::none ? 2 : 1;
  const auto core = [&](unsigned id) { id <= 2 ? push(id - 1) : id <= 2 + takers ? pop() : watch(); };
  const bool ended = play.run(3 + takers, core, [&] { return wrong != nullptr || play.all_left(); });
  return wrong != nullptr ? wrong : ended ? nullptr : "no end";
}

// A task that has been seen is as good as taken: or so it seems.
const char* uncounted_too_early(std::uint64_t seed) {
  interleave::play<M> play(seed);
  attention<M> word;
  inbox<M> urgent;
  detail::record task{};
  const char* wrong = nullptr;
  bool taken = false;
  const auto core = [&](unsigned id) {
    if (id == 1) {
      word.add_urgent();
      urgent.push(&task);
      word.remove_urgent();
      taken = urgent.pop() != nullptr;
    } else {
      while (!taken && wrong == nullptr && !play.over())
        if (!word.called_now() && !urgent.none()) wrong = "an urgent task is queued and nobody would look";
    }
  };
  static_cast<void>(play.run(2, core, [&] { return wrong != nullptr || play.all_left(); }));
  return wrong;
}

}  // namespace

TEST_CASE("attention: a pause and urgent tasks are told apart, and neither hides the other") {
  attention<machine::host> word;
  CHECK((!word.called() && !word.called_now() && !word.paused()));
  word.add_urgent();
  CHECK((word.called() && word.called_now() && !word.paused()));
  word.pause();
  word.remove_urgent();
  CHECK((word.called() && word.paused()));
  word.pause();  // twice is once
  word.add_urgent();
  word.start();
  CHECK((word.called() && !word.paused()));
  word.remove_urgent();
  CHECK(!word.called());
  word.start();  // of what is not paused: nothing
  CHECK((!word.called() && !word.paused()));
}

TEST_CASE("attention: under random schedules no urgent task is overlooked") {
  interleave::all_seeds(1000, tried<flaw::none>);
}

TEST_CASE("attention: a task that is counted after its push is caught") {
  CHECK(interleave::caught(1000, tried<flaw::counts_after_the_push>));
}

TEST_CASE("attention: a task that is uncounted before its pop is caught") {
  CHECK(interleave::caught(1000, uncounted_too_early));
}

}  // namespace weft::sched
