// Tasks, the data they name, and how the program waits for them: what nearly every program needs. Half of what
// `weft/weft.hpp` costs to include.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/after.hpp"
#include "weft/buffered.hpp"
#include "weft/cancellation.hpp"
#include "weft/clause.hpp"
#include "weft/error.hpp"
#include "weft/event.hpp"
#include "weft/finish.hpp"
#include "weft/future.hpp"
#include "weft/graph.hpp"
#include "weft/handle.hpp"
#include "weft/range.hpp"
#include "weft/reduction.hpp"
#include "weft/repeatable.hpp"
#include "weft/resource.hpp"
#include "weft/runtime.hpp"
#include "weft/version.hpp"
