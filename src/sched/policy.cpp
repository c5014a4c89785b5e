#include "sched/policy.hpp"

namespace weft::sched {

destination policy::ready(unsigned, const detail::record&) { return destination::own(); }

unsigned policy::victim(unsigned self, unsigned i, base::random&) { return places_.neighbours(self)[i]; }

void policy::ran(unsigned, const detail::record&, std::uint64_t) {}

}  // namespace weft::sched
