// Everything the tool says on standard output goes through here, as one piece of text, written once and checked: a
// report that did not reach its reader (full disk, closed descriptor) must end in an error, not in exit code 0.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tool {

// Standard output is of no use any more, so this error is only reported on stderr.
class output_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Errors: throws output_error. Flushes, so that a full device is noticed here.
void write_stdout(std::string_view text);

// True on a terminal, unless NO_COLOR is set to anything (no-color.org) or TERM is "dumb".
[[nodiscard]] bool colour_wanted();
enum class style { plain, bold, green, red };
// `text` in that style if `on`. Escape codes have no width: pad before painting.
[[nodiscard]] std::string paint(std::string_view text, style s, bool on);

// Three significant digits, no exponent within reason: for people. JSON gets the full number.
[[nodiscard]] std::string short_number(double x);

// What a terminal can show of a name that may hold anything: control characters become "?", long ones end in "...".
[[nodiscard]] std::string printable(std::string_view name, std::size_t characters_max);
// The same of a text of several lines, whole.
[[nodiscard]] std::string printable_lines(std::string_view text);
inline constexpr std::size_t name_width_max = 40;

// Rows of cells, columns padded to the widest. The first column is flush left, the others are flush right if `numeric`.
class table {
 public:
  explicit table(bool numeric) : numeric_(numeric) {}
  void row(std::vector<std::string> cells);  // empty cells at the end are dropped
  // `styles[r][c]` paints a cell; missing ones are plain.
  [[nodiscard]] std::string text(const std::vector<std::vector<style>>& styles, bool colour) const;

 private:
  bool numeric_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weft::tool
