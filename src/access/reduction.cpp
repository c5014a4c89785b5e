#include "access/reduction.hpp"

#include <mutex>
#include <unordered_map>

#include "base/assert.hpp"
#include "weft/reduction.hpp"

namespace weft {

namespace {

// One table for the process: a handle has no room for the function, and a group is closed rarely. Looked up, never
// walked.
struct table {
  std::mutex guard;
  std::unordered_map<const detail::handle_state*, access::apply_function> apply;

  static table& instance() {
    static auto* const the = new table;  // never destroyed: reductions may be static objects
    return *the;
  }
};

}  // namespace

void detail::register_reduction(handle_state& h, void (*apply)(handle_state& h)) {
  table& t = table::instance();
  const std::lock_guard hold(t.guard);
  t.apply.emplace(&h, apply);
}

void detail::forget_reduction(handle_state& h) noexcept {
  table& t = table::instance();
  const std::lock_guard hold(t.guard);
  t.apply.erase(&h);
}

access::apply_function access::reduction_of(handle_state& h) {
  table& t = table::instance();
  const std::lock_guard hold(t.guard);
  const auto found = t.apply.find(&h);
  WEFT_ASSERT(found != t.apply.end());
  return found->second;
}

}  // namespace weft
