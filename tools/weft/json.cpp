// See json.hpp. The one file of the tool that compiles nlohmann-json: text goes through it both ways, so escapes, UTF-8
// and the shortest digits of a number are not ours to get wrong.
#include "json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

#include "json_sieve.hpp"
#include "weft/error.hpp"

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

namespace {

// What the library tells while it reads. Its functions return whether it shall go on.
class sifter {
 public:
  sifter(json_sieve& into) : into_(into) {}

  bool null() { return value(nullptr); }
  bool boolean(bool yes) { return value(yes); }
  bool number_integer(std::int64_t n) { return value(n); }
  bool number_unsigned(std::uint64_t n) { return value(n); }
  bool number_float(double x, const std::string&) { return value(x); }
  bool string(std::string& text) { return value(std::move(text)); }
  bool binary(library::binary_t&) { return true; }
  bool start_object(std::size_t) { return start(false); }
  bool start_array(std::size_t) { return start(true); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string& name) {
    if (!made_.empty()) {
      keys_.back() = std::move(name);
      return true;
    }
    path_.resize(levels_.back().path);
    if (!path_.empty()) path_ += '.';
    path_ += name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) {
    const std::string_view text = e.what();
    const std::size_t from = text.find("] ");
    throw weft::error(std::string(from == std::string_view::npos ? text : text.substr(from + 2)));
  }

 private:
  static constexpr std::size_t depth_max = 64;
  struct level {
    std::size_t path;  // letters of its own path
    bool is_array;
    std::size_t items = 0;
  };

  // A value begins: of an array its path is that of an item.
  void begin() {
    if (levels_.empty() || !levels_.back().is_array) return;
    path_.resize(levels_.back().path);
    path_ += "[]";
  }
  void over() {
    if (!levels_.empty()) ++levels_.back().items;
  }
  [[nodiscard]] std::size_t item() const {
    for (auto at = levels_.rbegin(); at != levels_.rend(); ++at)
      if (at->is_array) return at->items;
    return 0;
  }

  bool value(json plain) {
    if (!made_.empty()) return put(std::move(plain)), true;
    begin();
    if (into_.wants(path_)) into_.take(path_, item(), std::move(plain));
    over();
    return true;
  }
  bool start(bool is_array) {
    if (levels_.size() + made_.size() >= depth_max)
      throw weft::error("values lie deeper in each other than " + std::to_string(depth_max));
    if (made_.empty()) begin();
    if (!made_.empty() || into_.wants(path_)) {
      made_.push_back(is_array ? json::array() : json::object());
      keys_.emplace_back();
    } else {
      levels_.push_back({path_.size(), is_array});
    }
    return true;
  }
  bool end() {
    if (!made_.empty()) {
      json whole = std::move(made_.back());
      made_.pop_back();
      keys_.pop_back();
      if (!made_.empty()) return put(std::move(whole)), true;
      into_.take(path_, item(), std::move(whole));
    } else {
      levels_.pop_back();
    }
    over();
    return true;
  }
  // Into the innermost value that is being made.
  void put(json value) {
    if (made_.back().is_array())
      made_.back().push_back(std::move(value));
    else
      made_.back()[keys_.back()] = std::move(value);
  }

  json_sieve& into_;
  std::string path_;
  std::vector<level> levels_;      // arrays and objects around what is read, that nobody wants whole
  std::vector<json> made_;         // a value that is wanted, and what is being made in it
  std::vector<std::string> keys_;  // of each of these, the newest member
};

// The text, by an iterator that tells how far it is.
class told_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  told_iterator(std::string_view text, std::size_t at, json_sieve& into) : text_(text), at_(at), into_(&into) {}
  reference operator*() const { return text_[at_]; }
  told_iterator& operator++() {
    if ((++at_ & ((std::size_t{1} << 20) - 1)) == 0)
      into_->read(static_cast<double>(at_) / static_cast<double>(text_.size()));
    return *this;
  }
  bool operator==(const told_iterator& o) const noexcept { return at_ == o.at_; }
  bool operator!=(const told_iterator& o) const noexcept { return at_ != o.at_; }

 private:
  std::string_view text_;
  std::size_t at_;
  json_sieve* into_;
};

}  // namespace

void sift(std::string_view text, json_sieve& into) {
  sifter reader(into);
  library::sax_parse(told_iterator(text, 0, into), told_iterator(text, text.size(), into), &reader);
}

std::string json_text(const json& object) { return object.text(2) + "\n"; }

std::string valid_utf8(std::string_view text) { return json::parse(json(text).text()).get<std::string>(); }

std::string json_library_version() {
  return std::to_string(NLOHMANN_JSON_VERSION_MAJOR) + "." + std::to_string(NLOHMANN_JSON_VERSION_MINOR) + "." +
         std::to_string(NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace weft::tool
