// See source.hpp.
#include "source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "tools/weft/output.hpp"
#include "tools/weft/trace/checks.hpp"
#include "weft/error.hpp"

namespace weft::tool::foreign {

namespace {

constexpr std::uint64_t file_bytes_max = std::uint64_t{4} << 30;

struct descriptor {
  int is;
  ~descriptor() {
    if (is > STDIN_FILENO) ::close(is);
  }
};

// As short as can be: -1, 1e+300.
std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// Formats that hold a file, by their first bytes, and what undoes them.
struct packing {
  std::string_view begin;
  const char* what;
};
constexpr packing packings[] = {{"\x1f\x8b", "gzip; unpack it first: gunzip -k FILE.gz, or zcat FILE | weft import -"},
                                {"PK\x03\x04", "zip; unpack it first"},
                                {"BZh", "bzip2; unpack it first: bunzip2 -k FILE"},
                                {"\xfd"
                                 "7zXZ",
                                 "xz; unpack it first: unxz -k FILE"},
                                {"\x28\xb5\x2f\xfd", "zstd; unpack it first: unzstd FILE"}};

}  // namespace

source::source(const std::string& path) : path_(path == "-" ? "standard input" : path) {
  const descriptor file{path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat found {};
  if (file.is < 0 || ::fstat(file.is, &found) != 0) fail(std::string("cannot open: ") + std::strerror(errno));
  if (S_ISDIR(found.st_mode)) fail("is a folder; name a file");
  if (S_ISREG(found.st_mode)) {
    if (static_cast<std::uint64_t>(found.st_size) > file_bytes_max) fail("is larger than 4 GiB");
    text_.reserve(static_cast<std::size_t>(found.st_size) + 1);
  }
  std::string piece(std::size_t{1} << 18, '\0');
  for (;;) {
    const ssize_t got = ::read(file.is, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(std::string("cannot read: ") + std::strerror(errno));
    if (got == 0) break;
    if (text_.size() + static_cast<std::size_t>(got) > file_bytes_max) fail("is larger than 4 GiB");
    text_.append(piece, 0, static_cast<std::size_t>(got));
  }
  if (text_.empty()) fail("is empty");
  for (const packing& p : packings)
    if (text_.starts_with(p.begin)) fail(std::string("is packed by ") + p.what);
  if (text_.starts_with("SQLite format 3"))
    fail("is a database, so perhaps a trace of Weft already: weft report and weft sim read it as it is");
  if (text_.starts_with("\xef\xbb\xbf")) text_.erase(0, 3);  // a mark of the order of bytes, which UTF-8 needs not
}

void source::end_array() {
  if (!trimmed(text_).starts_with('[') || trimmed(text_).ends_with(']')) return;
  text_.resize(text_.find_last_not_of(" \t\r\n,") + 1);
  text_ += ']';
}

void source::fail(const std::string& what) const { throw weft::error(path_ + ": " + what); }

void source::fail_at(std::uint64_t place, const std::string& what) const { fail(place_text(place) + ": " + what); }

void source::lines(const std::function<void(std::uint32_t, std::string_view)>& take) const {
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    std::string_view line = std::string_view(text_).substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (++number == UINT32_MAX) fail("has more lines than " + std::to_string(UINT32_MAX));
    take(number, line);
    at = end + 1;
  }
}

double source::number(std::string_view text, std::uint64_t place, const char* what) const {
  const std::string_view word = trimmed(text);
  double value = 0;
  const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (bad != std::errc() || end != word.data() + word.size())
    fail_at(place, std::string(what) + " '" + printable(text, name_width_max) + "' is no number");
  return value;
}

std::int64_t source::duration(std::string_view text, double scale, std::uint64_t place, const char* what) const {
  return duration(number(text, place, what), scale, place, what);
}

std::int64_t source::duration(double value, double scale, std::uint64_t place, const char* what) const {
  if (!std::isfinite(value)) fail_at(place, std::string(what) + " is no finite number");
  if (value < 0) fail_at(place, std::string(what) + " " + number_text(value) + " is negative");
  if (value * scale > static_cast<double>(trace::time_max))
    fail_at(place, std::string(what) + " " + number_text(value) + " is more than 52 days, as much as a trace can have");
  return std::llround(value * scale);
}

std::int64_t source::moment(std::string_view text, double scale, std::uint64_t place, const char* what) const {
  return moment(number(text, place, what), scale, place, what);
}

std::int64_t source::moment(double value, double scale, std::uint64_t place, const char* what) const {
  constexpr double largest = 0x1p62;  // so that the difference of two is a number
  if (!std::isfinite(value) || std::abs(value * scale) > largest)
    fail_at(place, std::string(what) + " " + number_text(value) + " is no time");
  return std::llround(value * scale);
}

std::uint64_t source::count(std::string_view text, std::uint64_t max, std::uint64_t place, const char* what) const {
  const std::string_view word = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (bad != std::errc() || end != word.data() + word.size() || value > max)
    fail_at(place, std::string(what) + " '" + printable(text, name_width_max) + "' is no whole number from 0 to " +
                       std::to_string(max));
  return value;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blank = " \t\r\n\f\v";
  const std::size_t from = text.find_first_not_of(blank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blank) - from + 1);
}

void words(std::string_view list, const std::function<void(std::string_view)>& take) {
  constexpr std::string_view between = " \t;";
  for (std::size_t at = 0;;) {
    at = list.find_first_not_of(between, at);
    if (at == std::string_view::npos) return;
    const std::size_t end = std::min(list.find_first_of(between, at), list.size());
    take(list.substr(at, end - at));
    at = end;
  }
}

}  // namespace weft::tool::foreign
