// Where data lie, and tasks that run near them.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/data_use.hpp"
#include "weft/memory_placement.hpp"
#include "weft/near.hpp"
#include "weft/node_memory.hpp"
#include "weft/numa_array.hpp"
