// A task that reuses some of the elements that one push made, and fails, made a stranger's pop of the elements beside
// them be skipped; the same task with a pop and a push did not. Right: a task spoils what it had in hand and no more.
#include <string>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

struct outcome {
  int told = 0, told_later = 0;
  long seen = 0;
};

outcome run(std::size_t pushed, std::size_t taken, bool reuses, bool looks_only, bool waits_between) {
  weft::runtime rt;
  weft::stream<long> a, b;
  outcome o;
  rt.submit(weft::push(a, pushed), [](std::span<long> all) {
    for (long& x : all) x = 1;
  });
  if (reuses)
    rt.submit(weft::reuse(a, b, taken), [](std::span<long>) { throw 7; });
  else
    rt.submit(weft::pop(a, taken), weft::push(b, taken), [](std::span<const long>, std::span<long>) { throw 7; });
  const auto wait = [&rt] {
    try {
      rt.wait();
    } catch (int x) {
      return x;
    }
    return 0;
  };
  if (waits_between) o.told = wait();
  const auto look = [&o](std::span<const long> in) { o.seen = in[0]; };
  looks_only ? rt.submit(weft::pop(a, 0, 1), look) : rt.submit(weft::pop(a, 1), look);
  o.told_later = wait();
  return o;
}

// Who takes elements over from several pushes, of a type that cannot be copied, has the rest of the last one beside it.
void takes_over_from_several() {
  struct movable {
    long value = 0;
    movable() = default;
    movable(movable&&) = default;
    movable& operator=(movable&&) = default;
  };
  weft::runtime rt;
  weft::stream<movable> s;
  long seen = 0;
  for (long i = 0; i < 2; ++i)
    rt.submit(weft::push(s, 2), [i](std::span<movable> out) { out[0].value = out[1].value = i + 1; });
  rt.submit(weft::pop(s, 3), [](std::span<const movable>) { throw 7; });
  rt.submit(weft::pop(s, 1), [&seen](std::span<const movable> in) { seen = in[0].value; });
  int told = 0;
  try {
    rt.wait();
  } catch (int x) {
    told = x;
  }
  require(told == 7 && seen == 2, "a pop from several pushes fails: the next one sees " + std::to_string(seen));
}

}  // namespace

int main() {
  for (std::size_t pushed = 2; pushed < 5; ++pushed)
    for (std::size_t taken = 1; taken < pushed; ++taken)
      for (int kind = 0; kind < 8; ++kind) {
        const outcome o = run(pushed, taken, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
        require(o.seen == 1 && o.told + o.told_later == 7,
                in_words(taken, " of ", pushed, " elements, kind ", kind, ": seen ", o.seen, ", told ", o.told, " and ",
                         o.told_later));
      }
  takes_over_from_several();
}
