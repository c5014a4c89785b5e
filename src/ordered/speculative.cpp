// The speculative executor on real cores and on modelled ones, from one source.
#include <string_view>

#include "machine/host/host.hpp"
#include "machine/virtual/virtual.hpp"
#include "ordered/executors.hpp"
#include "ordered/speculative_section.hpp"

namespace weft::speculative {
template class section<machine::host>;
template class section<machine::virtual_machine>;
}  // namespace weft::speculative

namespace weft::ordered_run {

std::unique_ptr<detail::ordered_executor> make_speculative(runtime& rt, const ordered_options& options) {
  if (std::string_view(rt.machine()) == machine::host::name())
    return std::make_unique<speculative::section<machine::host>>(rt, options);
  return std::make_unique<speculative::section<machine::virtual_machine>>(rt, options);
}

}  // namespace weft::ordered_run
