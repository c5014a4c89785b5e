// A table of a machine file, read strictly: every key is asked for by name, every number has a unit and a source, and
// whatever is wrong throws with file, line and key.
//   load = { ns = 0.28, from = "agner" }              one number; its unit is the key
//   read_line = { ns = [76.8, 138.8], from = "t1" }   several, nearest first
// `from` names an entry of [sources], or is "assumed", and then `why` says how the number came about. A table may say
// `from` and `why` once for all numbers in it that do not say it themselves.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define TOML_ENABLE_FORMATTERS 0
// toml++ 3.3 asserts that "x = ," does not occur, and without assertions goes on to the right message.
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include "model/machine_file.hpp"

namespace weft::model {

// What a number counts. Values are in the unit named here, whatever the file has.
enum class quantity : std::uint8_t {
  time,    // picoseconds
  bytes,   // bytes
  rate,    // bytes per nanosecond
  ratio,   // a factor above 0
  clock,   // GHz
  count,   // a number of things, at least 1
  power,   // watts
  energy,  // picojoules per byte
};

// What all sections of one file share.
struct reading {
  std::string file;
  std::map<std::string, origin, std::less<>> sources;
  std::vector<figure> figures;  // every number read, for those who want to see where it is from
  double ghz = 1;               // what "cycles" are
};

class section {
 public:
  // `path` is "" for the whole file.
  section(const toml::table& t, std::string path, reading& r, const section* above = nullptr);

  // Errors: a key that is none of these.
  void only(std::initializer_list<std::string_view> keys) const;
  [[nodiscard]] bool has(std::string_view key) const { return table_->contains(key); }
  [[nodiscard]] std::vector<std::string> keys() const;

  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<std::vector<unsigned>>> matrix(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<unsigned>> counts(std::string_view key) const;
  [[nodiscard]] std::optional<section> inside(std::string_view key) const;
  [[nodiscard]] std::vector<section> each(std::string_view key) const;

  // One number, or exactly `size` of them.
  [[nodiscard]] std::optional<double> number(std::string_view key, quantity q) const;
  [[nodiscard]] std::optional<std::vector<double>> numbers(std::string_view key, quantity q, std::size_t size,
                                                           const std::string& what) const;
  // The source of what this section says in words rather than numbers.
  void cite(std::string_view key, const std::string& value) const;

  // Throws weft::error "file:line: path.key: why"; without a key, about the section.
  [[noreturn]] void fail(std::string_view key, const std::string& why) const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  struct cited {
    std::string from;
    std::string why;
  };
  [[nodiscard]] std::vector<double> measure(std::string_view key, quantity q, bool& list) const;
  [[nodiscard]] double in_range(std::string_view key, const toml::node& n, quantity q, double unit) const;
  [[nodiscard]] cited citation(std::string_view key, const toml::table& number) const;
  void note(std::string_view key, std::string value, const cited& c) const;
  [[nodiscard]] std::string full(std::string_view key) const;

  const toml::table* table_;
  std::string path_;
  reading* reading_;
  cited inherited_;
};

// Throws weft::error "file:line: key: why", of which the parts that are empty or 0 are left out.
[[noreturn]] void refuse_file(const std::string& file, std::size_t line, const std::string& key,
                              const std::string& why);

}  // namespace weft::model
