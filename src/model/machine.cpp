#include "model/machine.hpp"

namespace weft::model {

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
