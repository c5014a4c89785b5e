// A value of JSON: what the commands answer with --json, put into pages and read from programs they start. The class is
// ours so that a file that makes an answer need not compile the library that reads and writes texts, which costs ten
// times as much as the file itself; that library, nlohmann-json, is behind text() and parse(), in json.cpp.
// An object keeps the order in which its members came. Reading what is not there is an error of this program and throws
// std::logic_error; what comes from outside is asked first (is_object, contains).
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weft::tool {

class json {
 public:
  struct member;
  class item;

  json(std::nullptr_t = nullptr) noexcept;
  json(const char* text);
  json(std::string text) noexcept;
  json(std::string_view text);
  json(double number) noexcept;
  template <std::same_as<bool> Bool> json(Bool yes) noexcept : json(content{yes}) {}
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  json(Number number) noexcept : json(content{wide<Number>{number}}) {}
  // Anything else that can be walked through is an array, and a pair one of two.
  template <class Range>
    requires(!std::convertible_to<const Range&, std::string_view> && !std::same_as<Range, json> &&
             requires(const Range& all) { json(*all.begin()); })
  json(const Range& all) : json(array()) {
    for (const auto& one : all) push_back(one);
  }
  template <class First, class Second> json(const std::pair<First, Second>& both) : json({both.first, both.second}) {}
  // An object if each item is a list of two that begins with a text: {{"n", 1}, {"ok", true}}. Else an array.
  json(std::initializer_list<item> list);
  [[nodiscard]] static json array();
  [[nodiscard]] static json object();

  json(const json& other);
  json(json&& other) noexcept;
  json& operator=(const json& other);
  json& operator=(json&& other) noexcept;
  ~json();

  [[nodiscard]] bool is_null() const noexcept;
  [[nodiscard]] bool is_object() const noexcept;
  [[nodiscard]] bool is_array() const noexcept;
  // T: bool, std::string, double of any number, or an unsigned type of a whole number that it can hold.
  template <class T> [[nodiscard]] T get() const {
    if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>) {
      return *known(std::get_if<T>(&value_));
    } else if constexpr (std::same_as<T, double>) {
      return real();
    } else {
      static_assert(std::unsigned_integral<T>);
      return static_cast<T>(natural(static_cast<T>(-1)));
    }
  }

  // Of an array or object; nothing and null are empty.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  // Of an object, which null becomes. The first makes the member.
  json& operator[](std::string_view key);
  const json& operator[](std::string_view key) const { return *known(find(key)); }
  [[nodiscard]] bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  [[nodiscard]] const json* find(std::string_view key) const noexcept;
  [[nodiscard]] const std::vector<member>& items() const { return *known(std::get_if<members>(&value_)); }
  void update(json other);  // takes over all of its members; those of the same name are replaced

  // Of an array, which null becomes.
  void push_back(json value);
  const json& operator[](std::size_t at) const;
  json& operator[](std::size_t at) { return const_cast<json&>(std::as_const(*this)[at]); }
  [[nodiscard]] json& back() { return (*this)[size() - 1]; }
  [[nodiscard]] const json* begin() const { return elements().data(); }
  [[nodiscard]] const json* end() const { return begin() + size(); }

  // Numbers are equal by their values, whatever kind they are.
  [[nodiscard]] bool operator==(const json& other) const noexcept;

  // Bytes that are no UTF-8 (file names) are replaced, a number that is none becomes null. spaces: of a level; below 0,
  // all is on one line. ascii: every other character is an escape.
  [[nodiscard]] std::string text(int spaces = -1, bool ascii = false) const;
  // Null if it is no JSON.
  [[nodiscard]] static json parse(std::string_view text);

 private:
  friend struct json_converter;
  using members = std::vector<member>;
  using values = std::vector<json>;
  using content = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, values, members>;
  template <class Number> using wide = std::conditional_t<std::signed_integral<Number>, std::int64_t, std::uint64_t>;

  explicit json(content value) noexcept;
  template <class T> static T* known(T* found) {
    if (found == nullptr) missing();
    return found;
  }
  [[noreturn]] static void missing();
  [[nodiscard]] double real() const;
  [[nodiscard]] std::uint64_t natural(std::uint64_t max) const;
  [[nodiscard]] const values& elements() const { return *known(std::get_if<values>(&value_)); }

  content value_;
};

struct json::member {
  std::string key;
  json value;
  [[nodiscard]] bool operator==(const member&) const noexcept = default;
};

// One of a list in braces. The value moves out of it into the object or array, which a plain json in a list of
// initialisers, being const, could only be copied from: nested lists would copy each value once a level.
class json::item {
 public:
  template <class T>
    requires(!std::same_as<std::remove_cvref_t<T>, item> && std::constructible_from<json, T>)
  item(T&& value) : value_(std::forward<T>(value)) {}
  item(std::initializer_list<item> list) : value_(list) {}

 private:
  friend json;
  mutable json value_;
};

// One object, two spaces a level, newline at the end.
[[nodiscard]] std::string json_text(const json& object);
// Every byte sequence that is no UTF-8 replaced by the character that says so.
[[nodiscard]] std::string valid_utf8(std::string_view text);
// Version of the library that reads and writes texts.
[[nodiscard]] std::string json_library_version();

}  // namespace weft::tool
