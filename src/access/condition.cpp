#include "access/condition.hpp"

#include "base/printable.hpp"

namespace weft::access {

std::string name_of(const handle_state& h) {
  const char* const name = detail::name_in(h);
  return name != nullptr ? "'" + base::printable(name) + "'" : "#" + std::to_string(h.id);
}

std::string describe_version(const handle_state& h, std::uint64_t required) {
  return "version " + std::to_string(required & version_mask) + " of handle " + name_of(h) + ", which is at " +
         std::to_string(version_in(detail::peek(h.word)));
}

std::string describe(record& r) {
  const entry& a = awaited(&r);
  if (!has_handle(a)) return is_of_stream(a) ? "waits for a stream that is gone" : "waits for a handle that is gone";
  return by_kind(awaited_condition(&r), [&a](auto kind) { return kind.describe(a); });
}

}  // namespace weft::access
