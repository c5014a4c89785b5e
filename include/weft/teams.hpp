// Tasks of several workers, their private schedulers, and other runtimes inside them.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/guest.hpp"
#include "weft/team.hpp"
#include "weft/team_schedulers.hpp"
