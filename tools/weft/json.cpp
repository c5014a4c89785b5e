// See json.hpp. The one file of the tool that compiles nlohmann-json: text goes through it both ways, so escapes, UTF-8
// and the shortest digits of a number are not ours to get wrong.
#include "json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace weft::tool {

using library = nlohmann::ordered_json;

struct json_converter {
  static library out(const json& from) {
    return std::visit([](const auto& one) { return out_one(one); }, from.value_);
  }

  static json in(const library& from) {
    switch (from.type()) {
    case library::value_t::boolean: return from.get<bool>();
    case library::value_t::number_integer: return from.get<std::int64_t>();
    case library::value_t::number_unsigned: return from.get<std::uint64_t>();
    case library::value_t::number_float: return from.get<double>();
    case library::value_t::string: return from.get<std::string>();
    case library::value_t::array: {
      json all = json::array();
      for (const library& one : from) all.push_back(in(one));
      return all;
    }
    case library::value_t::object: {
      json all = json::object();
      for (const auto& [key, one] : from.items()) all[key] = in(one);
      return all;
    }
    default: return nullptr;
    }
  }

 private:
  template <class T> static library out_one(const T& plain) { return plain; }
  static library out_one(const json::values& all) {
    library array = library::array();
    for (const json& one : all) array.push_back(out(one));
    return array;
  }
  static library out_one(const json::members& all) {
    library object = library::object();
    for (const json::member& one : all) object.emplace(one.key, out(one.value));
    return object;
  }
};

json::json(std::nullptr_t) noexcept : value_(nullptr) {}
json::json(const char* text) : value_(std::string(text)) {}
json::json(std::string text) noexcept : value_(std::move(text)) {}
json::json(std::string_view text) : value_(std::string(text)) {}
json::json(double number) noexcept : value_(number) {}
json::json(content value) noexcept : value_(std::move(value)) {}
json::json(const json& other) = default;
json::json(json&& other) noexcept = default;
json& json::operator=(const json& other) = default;
json& json::operator=(json&& other) noexcept = default;
json::~json() = default;

json::json(std::initializer_list<item> list) {
  const auto is_member = [](const item& one) {
    const values* const pair = std::get_if<values>(&one.value_.value_);
    return pair != nullptr && pair->size() == 2 && std::holds_alternative<std::string>((*pair)[0].value_);
  };
  if (std::all_of(list.begin(), list.end(), is_member)) {
    members all;
    for (const item& one : list) {
      values& pair = std::get<values>(one.value_.value_);
      all.push_back({std::move(std::get<std::string>(pair[0].value_)), std::move(pair[1])});
    }
    value_ = std::move(all);
    return;
  }
  values all;
  all.reserve(list.size());
  for (const item& one : list) all.push_back(std::move(one.value_));
  value_ = std::move(all);
}

json json::array() { return json(content(values())); }
json json::object() { return json(content(members())); }

bool json::is_null() const noexcept { return std::holds_alternative<std::nullptr_t>(value_); }
bool json::is_object() const noexcept { return std::holds_alternative<members>(value_); }
bool json::is_array() const noexcept { return std::holds_alternative<values>(value_); }

void json::missing() { throw std::logic_error("weft: the tool asked a JSON value for what it does not hold"); }

double json::real() const {
  if (const auto* const whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
  if (const auto* const whole = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*whole);
  return *known(std::get_if<double>(&value_));
}

std::uint64_t json::natural(std::uint64_t max) const {
  const auto* const with_sign = std::get_if<std::int64_t>(&value_);
  if (with_sign != nullptr && *with_sign < 0) missing();
  const std::uint64_t whole =
      with_sign != nullptr ? static_cast<std::uint64_t>(*with_sign) : *known(std::get_if<std::uint64_t>(&value_));
  if (whole > max) missing();
  return whole;
}

std::size_t json::size() const noexcept {
  if (const auto* const all = std::get_if<values>(&value_)) return all->size();
  if (const auto* const all = std::get_if<members>(&value_)) return all->size();
  return 0;
}

const json* json::find(std::string_view key) const noexcept {
  const auto* const all = std::get_if<members>(&value_);
  if (all == nullptr) return nullptr;
  const auto at = std::find_if(all->begin(), all->end(), [key](const member& one) { return one.key == key; });
  return at == all->end() ? nullptr : &at->value;
}

json& json::operator[](std::string_view key) {
  if (is_null()) value_ = members();
  members& all = *known(std::get_if<members>(&value_));
  if (const json* const found = find(key)) return const_cast<json&>(*found);
  all.push_back({std::string(key), {}});
  return all.back().value;
}

void json::update(json other) {
  for (member& one : *known(std::get_if<members>(&other.value_))) (*this)[one.key] = std::move(one.value);
}

void json::push_back(json value) {
  if (is_null()) value_ = values();
  known(std::get_if<values>(&value_))->push_back(std::move(value));
}

const json& json::operator[](std::size_t at) const {
  if (at >= elements().size()) missing();
  return elements()[at];
}

bool json::operator==(const json& other) const noexcept {
  const auto number = [](const json& j) { return j.value_.index() >= 2 && j.value_.index() <= 4; };
  if (!number(*this) || !number(other)) return value_ == other.value_;
  if (value_.index() == other.value_.index()) return value_ == other.value_;
  return real() == other.real();
}

std::string json::text(int spaces, bool ascii) const {
  return json_converter::out(*this).dump(spaces, ' ', ascii, library::error_handler_t::replace);
}

json json::parse(std::string_view text) {
  const library read = library::parse(text, nullptr, false);
  return read.is_discarded() ? json() : json_converter::in(read);
}

std::string json_text(const json& object) { return object.text(2) + "\n"; }

std::string valid_utf8(std::string_view text) { return json::parse(json(text).text()).get<std::string>(); }

std::string json_library_version() {
  return std::to_string(NLOHMANN_JSON_VERSION_MAJOR) + "." + std::to_string(NLOHMANN_JSON_VERSION_MINOR) + "." +
         std::to_string(NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace weft::tool
