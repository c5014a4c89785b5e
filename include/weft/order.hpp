// Tasks with timestamps, as if one ran after the other.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/ordered.hpp"
#include "weft/ordered_for.hpp"
