#include "runtime/schedule.hpp"

#include <charconv>

#include "base/printable.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr unsigned depth_max = 1000;

[[noreturn]] void refuse(std::string_view text, std::string_view name) {
  throw error(
      "weft: " + std::string(name) + " = '" + base::printable(text) +
      "' cannot be; it must be time, random, pct, pct:DEPTH:EVENTS, tasks, tasks:DEPTH:CHOICES (DEPTH from 0 to " +
      std::to_string(depth_max) + ", the other above 0) or order:FILE");
}

// The number up to the next colon or the end, which it takes away, too. False: there is none.
bool take_number(std::string_view& rest, std::uint64_t& into) {
  const auto [stop, bad] = std::from_chars(rest.data(), rest.data() + rest.size(), into);
  if (bad != std::errc{}) return false;
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  if (rest.empty()) return true;
  if (rest[0] != ':') return false;
  rest.remove_prefix(1);
  return !rest.empty();
}

}  // namespace

schedule parse_schedule(std::string_view text, std::string_view name) {
  using enum schedule::kind;
  schedule s;
  const std::size_t colon = text.find(':');
  const std::string_view kind_name = text.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  const bool bare = colon == std::string_view::npos;
  if (kind_name == "order") {
    if (rest.empty()) refuse(text, name);
    s.how = order;
    s.file = rest;
    return s;
  }
  if (kind_name == "time" || kind_name == "random") {
    if (!bare) refuse(text, name);
    s.how = kind_name == "time" ? time : random;
    return s;
  }
  if (kind_name != "pct" && kind_name != "tasks") refuse(text, name);
  s.how = kind_name == "pct" ? pct : tasks;
  if (bare) return s;
  std::uint64_t depth = 0;
  if (!take_number(rest, depth) || depth > depth_max) refuse(text, name);
  s.depth = static_cast<unsigned>(depth);
  if (rest.empty()) return s;
  if (!take_number(rest, s.length) || s.length == 0 || !rest.empty()) refuse(text, name);
  return s;
}

}  // namespace weft
