// The systems, in the order of the table. Written out for the same reason as the list of apps.
#include "system.hpp"

namespace weft::bench {

const std::vector<system_entry>& all_systems() {
  static const std::vector<system_entry> systems = {serial_entry(), weft_entry()};
  return systems;
}

}  // namespace weft::bench
