// Everything, by what one looks for. `#include <weft/weft.hpp>`, link weft::weft. Each part may be included alone, and
// so may each header in it.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/runtime.hpp"  // first: a compiler names all that lies between it and the program before what is wrong

#include "weft/algorithms.hpp"
#include "weft/core.hpp"
#include "weft/memory.hpp"
#include "weft/order.hpp"
#include "weft/streams.hpp"
#include "weft/teams.hpp"
