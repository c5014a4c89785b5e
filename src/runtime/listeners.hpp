// Who listens to runtimes that are made (weft/listener.hpp).
#pragma once
#include <utility>
#include <vector>

#include "weft/listener.hpp"

namespace weft {

struct listening {
  std::vector<listener> all;
  unsigned runtime = 0;  // the number that they know it by
};
// Those of this moment, for a runtime that is being made.
[[nodiscard]] listening who_listens();

// Before the machine starts.
template <class Engine> void tell_listeners(Engine& e) {
  listening now = who_listens();
  if (!now.all.empty()) e.tells(std::move(now.all), now.runtime);
}

}  // namespace weft
