// std::iterator_traits, the concepts of iterators and std::move_iterator, without the streams that <iterator> has
// beside them, half of its 30,000 lines: the two libraries named here have all of that in <span> as well.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <span>
#if !defined(__GLIBCXX__) && !defined(_LIBCPP_VERSION)
#include <iterator>
#endif
