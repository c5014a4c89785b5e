// The engines that the library holds: whoever includes this, for tests of the whole, uses those and compiles neither.
#pragma once
#include "machine/host/host.hpp"
#include "machine/virtual/virtual.hpp"
#include "sched/engine/engine.hpp"

namespace weft::sched {

extern template class engine<machine::host>;
extern template class engine<machine::virtual_machine>;

}  // namespace weft::sched
