// Everything. `#include <weft/weft.hpp>`, link weft::weft.
#pragma once
#include "weft/buffered.hpp"
#include "weft/clause.hpp"
#include "weft/error.hpp"
#include "weft/event.hpp"
#include "weft/fork_join.hpp"
#include "weft/handle.hpp"
#include "weft/memory_placement.hpp"
#include "weft/range.hpp"
#include "weft/reduction.hpp"
#include "weft/resource.hpp"
#include "weft/runtime.hpp"
#include "weft/version.hpp"
