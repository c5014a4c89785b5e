#include "model/machine.hpp"

#include <algorithm>

namespace weft::model {

std::vector<unsigned> cores_of_physical(const machine& m) {
  std::vector<unsigned> n;
  for (const core& c : m.cores) {
    if (n.size() <= c.physical) n.resize(c.physical + std::size_t{1});
    ++n[c.physical];
  }
  return n;
}

unsigned most_siblings(const machine& m) {
  const std::vector<unsigned> n = cores_of_physical(m);
  return n.empty() ? 1 : std::max(1u, *std::max_element(n.begin(), n.end()));
}

machine flat() {
  machine m;
  m.name = "flat";
  m.summary = "equal cores on one memory node";
  m.any_size = true;
  m.types.resize(1);
  m.types[0].name = "core";
  m.cores.resize(1);
  m.apart = {{0}};
  m.lines.transfer_ps = {0, 167'000, 167'000, 167'000};
  m.lines.memory_ps = {100'000};
  m.runtime.step_ps = {};
  return m;
}

}  // namespace weft::model
