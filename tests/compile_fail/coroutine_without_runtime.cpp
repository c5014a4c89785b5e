// A coroutine that returns a future begins as a task, so it must be given the runtime.
// expect: a coroutine that returns a weft::future takes the weft::runtime& on which it runs
#include <weft/weft.hpp>

#ifdef BAD
weft::future<int> one() { co_return 1; }
int main() { one(); }
#else
weft::future<int> one(weft::runtime&) { co_return 1; }
int main() {
  weft::runtime rt;
  one(rt).wait();
}
#endif
