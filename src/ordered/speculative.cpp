// The speculative executor on real cores and on modelled ones, from one source.
#include <string>
#include <string_view>

#include "machine/host/host.hpp"
#include "machine/virtual/virtual.hpp"
#include "ordered/executors.hpp"
#include "ordered/speculative_section.hpp"
#include "weft/error.hpp"

namespace weft::speculative {
template class section<machine::host>;
template class section<machine::virtual_machine>;
}  // namespace weft::speculative

namespace weft::ordered_run {

namespace {
constexpr std::size_t window_max = std::size_t{1} << 20;
}

std::unique_ptr<executor> make_speculative(runtime& rt, const ordered_options& options) {
  if (options.window > window_max)
    throw error("weft: an ordered section with a window of " + std::to_string(options.window) + " calls; at most " +
                std::to_string(window_max) + " may be ahead, and 0 leaves it to the section");
  if (std::string_view(rt.machine()) == machine::host::name())
    return std::make_unique<speculative::section<machine::host>>(rt, options);
  return std::make_unique<speculative::section<machine::virtual_machine>>(rt, options);
}

}  // namespace weft::ordered_run
