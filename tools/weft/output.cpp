// See output.hpp. One fwrite and one flush per program run, so there is no partial report to explain.
#include "output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/printable.hpp"

namespace weft::tool {

void write_stdout(std::string_view text) {
  errno = 0;
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0) return;
  throw output_error(std::string("cannot write to standard output: ") + std::strerror(errno));
}

bool colour_wanted() {
  const char* const term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

std::string paint(std::string_view text, style s, bool on) {
  constexpr const char* codes[] = {"", "\033[1m", "\033[32m", "\033[31m"};
  if (!on || s == style::plain) return std::string(text);
  return codes[static_cast<int>(s)] + std::string(text) + "\033[0m";
}

std::string short_number(double x) {
  const double size = std::fabs(x);
  const int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  char text[64];
  std::snprintf(text, sizeof text, (size >= 1e-3 && size < 1e9) || size == 0 ? "%.*f" : "%.*e", decimals, x);
  return text;
}

std::string printable(std::string_view name, std::size_t characters_max) {
  std::size_t characters = 0, end = 0;
  for (; end < name.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(name[end]) & 0xc0) != 0x80;  // of UTF-8, not a later byte of one
    if (begins && characters++ == characters_max) break;
  }
  return base::printable(name.substr(0, end)) + (end < name.size() ? "..." : "");
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    out += printable(text.substr(0, end), SIZE_MAX) + "\n";
  return out + printable(text, SIZE_MAX);
}

namespace {

// Cells on a terminal, as far as one can tell without its font: characters, not bytes.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

void table::row(std::vector<std::string> cells) {
  while (!cells.empty() && cells.back().empty()) cells.pop_back();
  rows_.push_back(std::move(cells));
}

std::string table::text(const std::vector<std::vector<style>>& styles, bool colour) const {
  std::vector<std::size_t> widths;
  for (const auto& cells : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], width(cells[c]));
  }
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      const std::string& cell = rows_[r][c];
      const bool last = c + 1 == rows_[r].size();
      const bool right = numeric_ && c > 0;
      const std::string pad(widths[c] - width(cell), ' ');
      const bool styled = r < styles.size() && c < styles[r].size();
      out += (right ? pad : "") + paint(cell, styled ? styles[r][c] : style::plain, colour);
      if (!last) out += (right ? "" : pad) + "  ";
    }
    out += '\n';
  }
  return out;
}

}  // namespace weft::tool
