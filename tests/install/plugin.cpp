// A plug-in with a runtime of its own, and the archive in it: 42 by two tasks, as main.cpp does.
#include <weft/weft.hpp>

extern "C" int plugin_result() {
  weft::runtime rt({.workers = 2});
  weft::handle<int> a{20};
  rt.submit(weft::write(a), [](int& x) { x += 1; });
  rt.submit(weft::write(a), [](int& x) { x *= 2; });
  return rt.get(a);
}
