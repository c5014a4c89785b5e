#include "runtime/listeners.hpp"

#include <map>
#include <mutex>
#include <string>

#include "weft/error.hpp"

namespace weft {

namespace {

struct known_listeners {
  std::mutex lock;
  std::map<unsigned, listener> all;
  unsigned added = 0;
  unsigned runtimes = 0;
};
known_listeners& the_listeners() {
  static auto* const one = new known_listeners;  // never destroyed: a static runtime may be made late
  return *one;
}

}  // namespace

listening who_listens() {
  known_listeners& known = the_listeners();
  const std::scoped_lock hold(known.lock);
  listening now;
  for (const auto& [number, l] : known.all) now.all.push_back(l);
  if (!now.all.empty()) now.runtime = ++known.runtimes;
  return now;
}

unsigned add_listener(const listener& l) {
  const bool any = l.submitted != nullptr || l.ready != nullptr || l.begins != nullptr || l.ends != nullptr ||
                   l.stolen != nullptr || l.sleeps != nullptr || l.wakes != nullptr || l.waits != nullptr ||
                   l.goes_on != nullptr;
  if (!any) throw error("weft: add_listener: it has no function, so it would never hear anything");
  known_listeners& known = the_listeners();
  const std::scoped_lock hold(known.lock);
  known.all.emplace(++known.added, l);
  return known.added;
}

void drop_listener(unsigned number) {
  known_listeners& known = the_listeners();
  const std::scoped_lock hold(known.lock);
  if (known.all.erase(number) == 0)
    throw error("weft: drop_listener: there is no listener " + std::to_string(number) +
                "; add_listener() says the number");
}

}  // namespace weft
