// See table.hpp.
#include "table.hpp"

#include <algorithm>

#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

table_reader::table_reader(const source& from) : from_(from) {
  while (columns_.empty() || (columns_.size() == 1 && columns_[0].empty()))
    if (!row(columns_)) from_.fail("has no line that names its columns");
  for (std::string& name : columns_) name = std::string(trimmed(name));
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (std::find(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(i), columns_[i]) !=
        columns_.begin() + static_cast<std::ptrdiff_t>(i))
      from_.fail_at(line_, "the column '" + printable(columns_[i], name_width_max) + "' is there twice");
}

int table_reader::column(std::string_view name) const noexcept {
  const auto at = std::ranges::find(columns_, name);
  return at == columns_.end() ? -1 : static_cast<int>(at - columns_.begin());
}

bool table_reader::next() {
  do
    if (!row(fields_)) return false;
  while (fields_.size() == 1 && fields_[0].empty());
  if (fields_.size() != columns_.size())
    from_.fail_at(line_, "has " + std::to_string(fields_.size()) + " fields, and there are " +
                             std::to_string(columns_.size()) + " columns; a field with a comma in it needs quotes");
  return true;
}

bool table_reader::row(std::vector<std::string>& into) {
  const std::string_view text = from_.text();
  if (at_ >= text.size()) return false;
  line_ = next_line_++;
  std::size_t fields = 0;
  for (bool more = true; more;) {
    if (fields == into.size()) into.emplace_back();
    std::string& field = into[fields++];
    field.clear();
    if (at_ < text.size() && text[at_] == '"') {
      quoted(field);
    } else {
      const std::size_t end = std::min(text.find_first_of(",\n", at_), text.size());
      field = text.substr(at_, end - at_);
      if (field.ends_with('\r')) field.pop_back();
      at_ = end;
    }
    more = at_ < text.size() && text[at_] == ',';
    if (at_ < text.size()) ++at_;
  }
  into.resize(fields);
  return true;
}

// From the quote on to behind the one that ends it: at a comma, or at the end of the line.
void table_reader::quoted(std::string& into) {
  const std::string_view text = from_.text();
  for (++at_;;) {
    const std::size_t end = text.find('"', at_);
    if (end == std::string_view::npos) from_.fail_at(line_, "a quote that begins there never ends");
    into += text.substr(at_, end - at_);
    at_ = end + 1;
    if (at_ >= text.size() || text[at_] != '"') break;
    into += '"';
    ++at_;
  }
  next_line_ += static_cast<std::uint32_t>(std::ranges::count(into, '\n'));
  if (at_ < text.size() && text[at_] == '\r') ++at_;
  if (at_ < text.size() && text[at_] != ',' && text[at_] != '\n')
    from_.fail_at(line_, "behind a quote that ends there must be a comma or the end of the line");
}

}  // namespace weft::tool::foreign
