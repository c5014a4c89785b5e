// Loops, forks, scans, sorts and pipelines, which need no handles.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/collect.hpp"
#include "weft/finish.hpp"
#include "weft/for_each.hpp"
#include "weft/fork_each.hpp"
#include "weft/fork_join.hpp"
#include "weft/ordered_for.hpp"
#include "weft/pipeline.hpp"
#include "weft/scan.hpp"
#include "weft/sort.hpp"
