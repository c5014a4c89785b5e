// Exceptions of tasks: the first in program order is the one that a wait gives, whichever was thrown first; a scope
// gives its own; and poison lasts until the program has been told.
#include "sched/fail/failures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using host_failures = failures<machine::host>;
using detail::record;

// A task at this place in program order.
record task(std::uint64_t order, record* parent = nullptr) {
  record r{};
  r.parent = parent;
  r.order = order;
  return r;
}

std::exception_ptr thrown(const std::string& what) { return std::make_exception_ptr(std::runtime_error(what)); }

std::string what(const std::exception_ptr& e) {
  if (e == nullptr) return "nothing";
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return x.what();
  }
}

}  // namespace

TEST_CASE("failures: none to begin with") {
  host_failures f;
  CHECK(!f.any());
  CHECK(what(f.take(nullptr).exception) == "nothing");
}

TEST_CASE("failures: the first in order of submission, in whichever order they were thrown") {
  std::vector<std::uint64_t> order = {1, 2, 3, 4};
  do {
    host_failures f;
    for (const std::uint64_t n : order) f.add(task(n), thrown(std::to_string(n)));
    CHECK(f.any());
    CHECK(what(f.take(nullptr).exception) == "1");
    CHECK(!f.any());  // the others of that wait are forgotten
    CHECK(what(f.take(nullptr).exception) == "nothing");
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("failures: a task that waits gets those of its own children only") {
  host_failures f;
  record a = task(1);
  record b = task(2);
  f.add(task(5, &b), thrown("b's"));
  f.add(task(9, &a), thrown("a's second"));
  f.add(task(8, &a), thrown("a's first"));
  CHECK(what(f.take(&a).exception) == "a's first");
  CHECK(what(f.take(&a).exception) == "nothing");
  CHECK(f.any());
  CHECK(what(f.take(&b).exception) == "b's");
  CHECK(!f.any());
}

TEST_CASE("failures: what nobody waited for counts as the parent's, level by level") {
  host_failures f;
  record top = task(4);
  record middle = task(2, &top);
  f.add(task(7, &middle), thrown("deep"));
  CHECK(what(f.take(&top).exception) == "nothing");
  f.hand_up(middle);
  f.add(task(3, &top), thrown("later sibling"));
  CHECK(what(f.take(&top).exception) == "deep");

  f.add(task(0, &middle), thrown("deep"));
  f.hand_up(middle);
  f.hand_up(top);
  f.add(task(5), thrown("after top"));
  CHECK(what(f.take(nullptr).exception) == "deep");

  f.add(task(0, &top), thrown("below the fourth"));
  f.hand_up(top);
  f.add(task(3), thrown("the third"));
  CHECK(what(f.take(nullptr).exception) == "the third");
}

// What a wait gives may not depend on who threw first in time: the order of siblings must survive that their parent's
// scope ends, and a parent that throws as well is later in program order than the child it had submitted.
TEST_CASE("failures: among children that nobody waited for the first submitted counts, not the first to throw") {
  for (const bool reversed : {false, true}) {
    host_failures f;
    record parent = task(1);
    f.add(task(reversed ? 1 : 0, &parent), thrown(reversed ? "second" : "first"));
    f.add(task(reversed ? 0 : 1, &parent), thrown(reversed ? "first" : "second"));
    f.hand_up(parent);
    CHECK(what(f.take(nullptr).exception) == "first");
  }
}

TEST_CASE("failures: a parent that throws, too, comes after its child") {
  for (const bool child_first : {false, true}) {
    host_failures f;
    record parent = task(1);
    if (child_first) f.add(task(0, &parent), thrown("child"));
    f.add(parent, thrown("parent"));
    if (!child_first) f.add(task(0, &parent), thrown("child"));
    f.hand_up(parent);
    CHECK(what(f.take(nullptr).exception) == "child");
  }
}

TEST_CASE("failures: what was cancelled comes after all that was thrown, and tells its siblings and parents") {
  host_failures f;
  record top = task(1);
  record middle = task(2, &top);
  detail::cancel_scope* const in = reinterpret_cast<detail::cancel_scope*>(64);  // only kept
  f.add(task(0, &middle), thrown("cancelled"), in);
  CHECK((f.known_cancelled(&middle) == in && f.known_cancelled(&top) == nullptr));
  CHECK(what(f.hand_up(middle)) == "cancelled");
  CHECK((f.known_cancelled(&middle) == nullptr && f.known_cancelled(&top) == in));
  f.add(task(7, &top), thrown("thrown"));
  const failure got = f.take(&top);
  CHECK((what(got.exception) == "thrown" && got.in == nullptr));
  // Of a parent that throws, too, that counts.
  f.add(middle, thrown("parent"));
  f.add(task(0, &middle), thrown("cancelled"), in);
  f.hand_up(middle);
  CHECK(what(f.take(&top).exception) == "parent");
  CHECK(!f.any_cancelled());
  f.cancelled(true);
  CHECK((f.any() && f.any_cancelled()));
  f.cancelled(false);
  CHECK(!f.any());
}

TEST_CASE("failures: poison marks a handle once and lasts until the outermost wait") {
  host_failures f;
  detail::handle_state h;
  detail::handle_state k;
  record top = task(1);
  f.add(task(1, &top), thrown("x"));
  f.poison(h, thrown("h's"));
  f.poison(h, thrown("later"));
  f.poison(k, thrown("k's"));
  CHECK((h.poisoned.raw && k.poisoned.raw));
  CHECK(what(f.of(h)) == "h's");
  CHECK(what(f.of(k)) == "k's");
  static_cast<void>(f.take(&top));
  CHECK((h.poisoned.raw && k.poisoned.raw));
  static_cast<void>(f.take(nullptr));
  CHECK((!h.poisoned.raw && !k.poisoned.raw));
  CHECK(what(f.of(h)) == "nothing");
  CHECK(!f.any());
}

TEST_CASE("failures: a handle that dies is not healed any more") {
  host_failures f;
  detail::handle_state stays;
  f.poison(stays, thrown("x"));
  {
    alignas(detail::handle_state) std::byte place[sizeof(detail::handle_state)];
    auto* dies = new (place) detail::handle_state;
    f.poison(*dies, thrown("x"));
    f.forget(*dies);
    dies->poisoned.raw = false;
    dies->~handle_state();
    std::fill(std::begin(place), std::end(place), std::byte{1});
    static_cast<void>(f.take(nullptr));
    CHECK(std::all_of(std::begin(place), std::end(place), [](std::byte b) { return b == std::byte{1}; }));
  }
  CHECK(!stays.poisoned.raw);
}

}  // namespace weft::sched
