// One pass over the text, one line at a time. An entry that has not been seen is a NaN in the matrix: values cannot be
// NaN, since the reader refuses them, so the matrix itself is the set of positions seen and finds duplicates.
// Invariant: until finish(), at(row, column) with row >= column is NaN or the value the file gave for that position.
#include "matrix_market.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace weft::apps::cholesky {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view banner = "%%MatrixMarket";

// Words of a file that is something else entirely may hold anything, also what a terminal would obey.
std::string in_quotes(std::string_view word) {
  std::string shown(word.substr(0, 40));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return "\"" + shown + "\"";
}

std::string lower(std::string_view word) {
  std::string s(word);
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t\r\f\v";
  for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string position(std::size_t row, std::size_t column) {
  return "(" + std::to_string(row + 1) + ", " + std::to_string(column + 1) + ")";
}

// What the banner and the size line say.
struct format {
  bool coordinate = false;
  bool integer = false;
  bool symmetric = false;
  std::size_t n = 0;
  std::size_t entries = 0;
};

class reader {
 public:
  reader(std::string_view text, const std::string& name) : text_(text), rest_(text), name_(name) {}

  matrix read() {
    read_banner();
    read_sizes();
    const double n = static_cast<double>(format_.n);
    const bool two_halves = format_.coordinate && !format_.symmetric;
    require_memory(name_ + ": a dense matrix of order " + std::to_string(format_.n),
                   n * n * sizeof(double) * (two_halves ? 2 : 1));
    matrix_ = matrix(format_.n, absent);
    if (two_halves) above_ = matrix(format_.n, absent);
    read_entries();
    finish();
    return std::move(matrix_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw weft::error(name_ + ":" + std::to_string(line_) + ": " + what);
  }

  // The next line's words; false at the end of the file.
  bool next_line(bool skip_comments) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      words_ = split(line);
      if (!skip_comments || (!words_.empty() && words_[0][0] != '%')) return true;
    }
    return false;
  }

  std::size_t whole_number(std::string_view word, const char* what) const {
    std::size_t value = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (status != std::errc{} || end != word.data() + word.size())
      fail(std::string(what) + " must be a whole number, not " + in_quotes(word));
    return value;
  }

  double number(std::string_view word) const {
    const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
    double value = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, status] = std::from_chars(digits.data(), last, value);
    if (end != last || status == std::errc::invalid_argument || word.starts_with("+-"))
      fail("not a number: " + in_quotes(word));
    if (status == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
    if (!std::isfinite(value)) fail("the value " + in_quotes(word) + " is not finite");
    if (format_.integer && value != std::trunc(value)) fail("the banner says integer, the value is " + in_quotes(word));
    return value;
  }

  void read_banner();
  void read_sizes();
  void read_entries();
  void read_coordinate();
  void read_array_value(std::size_t row, std::size_t column);
  void store(std::size_t row, std::size_t column, double value);
  void compare_mirror(std::size_t row, std::size_t column, double value, double mirror) const;
  void compare_with_absent(std::size_t row, std::size_t column, double value);
  void finish();

  const std::string_view text_;
  std::string_view rest_;  // what follows the line read last
  const std::string& name_;
  std::size_t line_ = 0;
  std::vector<std::string_view> words_;
  format format_;
  matrix matrix_;
  matrix above_;  // general coordinate only: above_(j, i) is the entry (i, j), i < j
};

void reader::read_banner() {
  if (rest_.empty()) throw weft::error(name_ + ": the file is empty; a Matrix Market file is expected");
  next_line(false);
  if (words_.empty() || lower(words_[0]) != lower(banner))
    fail("not a Matrix Market file: the first line must start with " + std::string(banner));
  if (words_.size() != 5)
    fail("the banner must have five words, as in: %%MatrixMarket matrix coordinate real symmetric");
  std::array<std::string, 4> is;
  std::transform(words_.begin() + 1, words_.end(), is.begin(), lower);
  if (is[0] != "matrix") fail("the banner announces a " + in_quotes(is[0]) + "; only a matrix can be read");
  if (is[1] != "coordinate" && is[1] != "array")
    fail("the format " + in_quotes(is[1]) + " is not supported; coordinate and array are");
  if (is[2] != "real" && is[2] != "integer")
    fail("entries of kind " + in_quotes(is[2]) + " are not supported; real and integer are");
  if (is[3] != "symmetric" && is[3] != "general")
    fail("the symmetry " + in_quotes(is[3]) + " is not supported; symmetric and general are");
  format_.coordinate = is[1] == "coordinate";
  format_.integer = is[2] == "integer";
  format_.symmetric = is[3] == "symmetric";
}

void reader::read_sizes() {
  const std::size_t count = format_.coordinate ? 3 : 2;
  const std::string want = format_.coordinate ? "rows, columns, entries" : "rows, columns";
  if (!next_line(true)) fail("the file ends before its size line (" + want + ")");
  if (words_.size() != count)
    fail("the size line must have " + std::to_string(count) + " numbers (" + want + "), it has " +
         std::to_string(words_.size()));
  const std::size_t rows = whole_number(words_[0], "the number of rows");
  const std::size_t columns = whole_number(words_[1], "the number of columns");
  if (rows != columns)
    fail("the matrix must be square, it is " + std::to_string(rows) + " by " + std::to_string(columns));
  if (rows == 0) fail("the matrix is empty (0 by 0)");
  if (rows > order_max)
    fail("order " + std::to_string(rows) + " is too large; at most " + std::to_string(order_max) + " is supported");
  format_.n = rows;
  if (format_.coordinate)
    format_.entries = whole_number(words_[2], "the number of entries");
  else
    format_.entries = format_.symmetric ? rows * (rows + 1) / 2 : rows * rows;
}

void reader::read_entries() {
  std::size_t row = 0;
  std::size_t column = 0;
  for (std::size_t k = 0; k < format_.entries; ++k) {
    if (!next_line(true))
      fail("too few entries: the size line promises " + std::to_string(format_.entries) + ", the file ends after " +
           std::to_string(k));
    if (format_.coordinate) {
      read_coordinate();
      continue;
    }
    read_array_value(row, column);  // columns in turn, each from its top or from its diagonal
    if (++row == format_.n) row = ++column * (format_.symmetric ? 1 : 0);
  }
  if (next_line(true))
    fail("too many entries: the size line promises " + std::to_string(format_.entries) + " and this is one more");
}

void reader::read_array_value(std::size_t row, std::size_t column) {
  if (words_.size() != 1) fail("an array line must have one value, it has " + std::to_string(words_.size()) + " words");
  const double value = number(words_[0]);
  if (row >= column) return store(row, column, value);
  compare_mirror(row, column, value, matrix_.at(column, row));  // an earlier column: already read
}

void reader::read_coordinate() {
  if (words_.size() != 3)
    fail("an entry must have a row, a column and a value, this line has " + std::to_string(words_.size()) + " words");
  const std::size_t row = whole_number(words_[0], "the row") - 1;
  const std::size_t column = whole_number(words_[1], "the column") - 1;
  if (row >= format_.n || column >= format_.n)  // 0 wrapped around
    fail("the entry (" + std::string(words_[0]) + ", " + std::string(words_[1]) +
         ") is outside of the matrix; rows and " + "columns go from 1 to " + std::to_string(format_.n));
  const double value = number(words_[2]);
  if (row >= column) {
    store(row, column, value);
    if (!format_.symmetric && row > column && !std::isnan(above_.at(row, column)))
      compare_mirror(row, column, value, above_.at(row, column));
    return;
  }
  if (format_.symmetric)
    fail("the entry " + position(row, column) +
         " is above the diagonal; a symmetric file holds the lower triangle only");
  double& slot = above_.at(column, row);
  if (!std::isnan(slot)) fail("the entry " + position(row, column) + " was given before");
  slot = value;
  if (!std::isnan(matrix_.at(column, row))) compare_mirror(row, column, value, matrix_.at(column, row));
}

void reader::store(std::size_t row, std::size_t column, double value) {
  double& slot = matrix_.at(row, column);
  if (!std::isnan(slot)) fail("the entry " + position(row, column) + " was given before");
  slot = value;
}

void reader::compare_mirror(std::size_t row, std::size_t column, double value, double mirror) const {
  if (value == mirror) return;
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << "the matrix is not symmetric: the entry " << position(row, column) << " is " << value << " and "
       << position(column, row) << " is " << mirror;
  fail(text.str());
}

// That a mirror is absent shows only at the end: goes back to the line of the entry, so that the error names it.
void reader::compare_with_absent(std::size_t row, std::size_t column, double value) {
  if (value == 0) return;
  rest_ = text_;
  line_ = 0;
  next_line(true);  // sizes
  do {
    next_line(true);
  } while (whole_number(words_[0], "the row") != row + 1 || whole_number(words_[1], "the column") != column + 1);
  compare_mirror(row, column, value, 0.0);
}

// Absent entries are zeros. In a general file the mirror of a nonzero entry may not be absent.
void reader::finish() {
  for (std::size_t j = 0; j < format_.n; ++j) {
    for (std::size_t i = j; i < format_.n; ++i) {
      double& below = matrix_.at(i, j);
      if (above_.n != 0 && i > j) {
        const double above = above_.at(i, j);
        if (!std::isnan(below) && std::isnan(above)) compare_with_absent(i, j, below);
        if (std::isnan(below) && !std::isnan(above)) compare_with_absent(j, i, above);
      }
      if (std::isnan(below)) below = 0;
    }
  }
}

}  // namespace

matrix parse_matrix_market(std::string_view text, const std::string& name) { return reader(text, name).read(); }

matrix read_matrix_market(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw weft::error(path + ": this is a directory; a Matrix Market file is expected");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw weft::error(path + ": cannot open the file: " + std::strerror(errno));
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) throw weft::error(path + ": cannot read the file: " + std::strerror(errno));
  return parse_matrix_market(text.view(), path);
}

}  // namespace weft::apps::cholesky
