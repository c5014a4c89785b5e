#include <cstdio>
#include <string>

#include "base/assert.hpp"
#include "weft/detail/record.hpp"

namespace weft::detail {

namespace {

constexpr const char* names[] = {"free", "requested", "ready", "blocked", "filling", "running", "draining"};
static_assert(sizeof names / sizeof *names == record_state_count);

[[nodiscard]] std::string in_words(record_states all) {
  std::string text;
  for (unsigned i = 0; i < record_state_count; ++i)
    if (all.has(static_cast<record_state>(i))) text += (text.empty() ? "" : " or ") + std::string(names[i]);
  return text;
}

// What is no task may have none, not even nullptr.
[[nodiscard]] std::string name_of(const record& r) {
  return is_task(r) && r.name != nullptr ? ", \"" + std::string(r.name) + "\"" : std::string();
}

}  // namespace

void wrong_transition(const record& r, record_states from, record_state to, const char* file, int line) noexcept {
  const auto is = static_cast<unsigned>(static_cast<record_state>(r.state));
  const char* const now = is < record_state_count ? names[is] : "no record any more";
  const std::string text = "that a record comes from " + in_words(from) + " to " + names[static_cast<unsigned>(to)] +
                           " (it is " + now + name_of(r) + ")";
  base::assertion_failed(text.c_str(), file, line);
}

}  // namespace weft::detail
