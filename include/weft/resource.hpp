// Counting resources: something of which only so many units may be in use at a time - licences, memory, disk bandwidth
// - as a clause instead of a lock. A task that uses a resource starts when its units are free, together with whatever
// else it needs exclusively: all of it or nothing, so resources and adds cannot deadlock with each other. Waiting tasks
// get their turn in order of arrival; one that needs many units is not overtaken by those that need few.
//
//   weft::resource disks(2);
//   rt.submit(weft::use(disks), [] { ... });        at most two of these run at the same time
//   rt.submit(weft::use(disks, 2), [] { ... });     alone
//
// A body that uses a resource must not wait for a child that uses it, too: the child may stand behind one that needs
// all units.
// A task may use a resource once. Cost: as an add.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>

#include "weft/clause.hpp"
#include "weft/error.hpp"
#include "weft/handle.hpp"

namespace weft {

class resource : public handle_base {
 public:
  explicit resource(std::uint32_t units) : units_(units) { state().group_start = units; }
  [[nodiscard]] std::uint32_t units() const noexcept { return units_; }

 private:
  std::uint32_t units_;
};

namespace detail {
struct use_clause {
  resource& target;
  std::uint32_t units;
};
[[noreturn]] void throw_bad_units(std::uint32_t asked, std::uint32_t there);
}  // namespace detail

// Clause; adds no argument to the body. Errors: weft::error if the resource has fewer units, or `units` is 0.
[[nodiscard]] inline detail::use_clause use(resource& r, std::uint32_t units = 1) {
  if (units == 0 || units > r.units()) detail::throw_bad_units(units, r.units());
  return {r, units};
}

}  // namespace weft
