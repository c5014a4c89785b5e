// Streams between tasks, and data whose memory is taken late.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/deferred.hpp"
#include "weft/stream.hpp"
