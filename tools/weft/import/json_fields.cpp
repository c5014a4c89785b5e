// See json_fields.hpp.
#include "json_fields.hpp"

#include <charconv>

#include "weft/error.hpp"

namespace weft::tool::foreign {

namespace {

bool is_text(const json& value) {
  return !value.is_null() && !value.is_object() && !value.is_array() && value.text().starts_with('"');
}

}  // namespace

std::string text_of(const json& object, std::string_view key) {
  const json* const found = object.is_object() ? object.find(key) : nullptr;
  return found == nullptr ? "" : text_of(*found);
}

std::string text_of(const json& value) {
  if (value.is_null() || value.is_object() || value.is_array()) return "";
  return is_text(value) ? value.get<std::string>() : value.text();
}

std::optional<double> number_of(const json& value) {
  if (value.is_null() || value.is_object() || value.is_array()) return {};
  const std::string text = is_text(value) ? value.get<std::string>() : value.text();
  double number = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (bad != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

std::optional<double> number_of(const json& object, std::initializer_list<std::string_view> keys, const source& from,
                                std::uint64_t place) {
  for (const std::string_view key : keys) {
    const json* const found = object.is_object() ? object.find(key) : nullptr;
    if (found == nullptr || found->is_null()) continue;
    const std::optional<double> number = number_of(*found);
    if (!number) from.fail_at(place, std::string(key) + " is no number");
    return number;
  }
  return {};
}

void sift(const source& from, json_sieve& into) {
  try {
    weft::tool::sift(from.text(), into);
  } catch (const weft::error& e) {
    if (std::string_view(e.what()).starts_with(from.path() + ": ")) throw;
    from.fail(e.what());
  }
}

}  // namespace weft::tool::foreign
