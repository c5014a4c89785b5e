#include "sched/policies/policy.hpp"

#include "base/assert.hpp"

namespace weft::sched {

destination policy::ready(unsigned, const detail::record&, base::random&) { return destination::own(); }

unsigned policy::victim(unsigned self, unsigned i, base::random&) {
  WEFT_ASSERT(self < places_.workers() && i < places_.neighbours(self).size());
  return places_.neighbours(self)[i];
}

unsigned policy::how_many(unsigned, unsigned, unsigned available) { return (available + 1) / 2; }

unsigned policy::width(unsigned, const detail::record&, unsigned least, unsigned most) {
  WEFT_ASSERT(least != 0 && least <= most);
  return most;
}

void policy::ran(unsigned, const detail::record&, std::uint64_t) {}

}  // namespace weft::sched
