// rt.wait(a), rt.get(a), event.wait(), a finish and a fork of the main thread began a stranger's body of 4 s while
// other workers had nothing to do, and came back when that was over. A wait for one thing is not delayed by another
// where somebody else can take it; with one worker it is, but ends.
// Machines: virtual
// Creation: inline decoupled
// Workers: 8 4 3 1
// Policies: local central work_first tao random
#include <string>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

constexpr double second = 1e9;

// Waits for what takes 1 s, in one of several ways, with a stranger's body submitted before or after.
void once(int how, bool stranger_first) {
  weft::runtime rt;
  weft::handle<int> a, b;
  weft::event e;
  const auto stranger = [&] { rt.submit(weft::write(b), weft::cost(4 * second), [](int&) {}); };
  if (stranger_first) stranger();
  if (how < 2) rt.submit(weft::write(a), weft::cost(second), [](int&) {});
  if (how == 2) rt.submit(weft::write(a), weft::completes(e), weft::cost(second), [&](int&) { e.fulfil(); });
  if (!stranger_first) stranger();
  if (how == 0) rt.wait(a);
  if (how == 1) static_cast<void>(rt.get(a));
  if (how == 2) e.wait();
  if (how == 3) weft::finish([] { weft::async([] { weft::charge(second); }); });
  const double took = rt.now_ns() / second;
  const char* const names[] = {"wait(a)", "get(a)", "event.wait()", "finish"};
  if (rt.workers() >= 4)  // one of them may create tasks and run none
    require(took < 1.1, std::string(names[how]) + " took " + std::to_string(took) + " s of " +
                            std::to_string(rt.workers()) + " workers");
  require(took < 5.1, std::string(names[how]) + " took " + std::to_string(took) + " s");
}

}  // namespace

int main() {
  for (int how = 0; how < 4; ++how)
    for (const bool first : {false, true}) once(how, first);
}
