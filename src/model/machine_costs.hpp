// The tables [lines], [runtime], [memory] and [energy] of a machine file, and what holds where it says nothing.
#pragma once
#include "model/machine.hpp"

namespace weft::model {

class section;

// `m` has its cores and classes. Errors: weft::error "FILE:LINE: KEY: why".
void read_costs(const section& top, machine& m);

// Fills what is still empty: every machine has a cost for every distance it has.
void default_costs(machine& m);

}  // namespace weft::model
