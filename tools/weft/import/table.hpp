// A table of comma-separated values: the first line names the columns; fields may be quoted, and then have commas, line
// ends, and quotes that are doubled.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "source.hpp"

namespace weft::tool::foreign {

class table_reader {
 public:
  // Reads the columns. Errors: weft::error, here and below, with the line.
  explicit table_reader(const source& from);

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  // The number of a column; -1: there is none.
  [[nodiscard]] int column(std::string_view name) const noexcept;

  // The next row that has anything in it, with as many fields as there are columns. False: there is none.
  [[nodiscard]] bool next();
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }  // where it begins
  // "" for the column -1.
  [[nodiscard]] std::string_view operator[](int column) const noexcept {
    return column < 0 ? std::string_view() : std::string_view(fields_[static_cast<std::size_t>(column)]);
  }
  [[nodiscard]] double share_read() const noexcept {
    return static_cast<double>(at_) / static_cast<double>(from_.text().size());
  }

 private:
  bool row(std::vector<std::string>& into);
  void quoted(std::string& into);

  const source& from_;
  std::vector<std::string> columns_, fields_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 0, next_line_ = 1;
};

}  // namespace weft::tool::foreign
