#include "sched/policy.hpp"

namespace weft::sched {

destination policy::ready(unsigned, const detail::record&) { return destination::own(); }

unsigned policy::victim(unsigned self, unsigned i, base::random&) { return places_.neighbours(self)[i]; }

unsigned policy::how_many(unsigned, unsigned, unsigned available) { return (available + 1) / 2; }

void policy::ran(unsigned, const detail::record&, std::uint64_t) {}

}  // namespace weft::sched
