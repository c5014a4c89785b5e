// The seal of a trace file: a checksum of all its bytes, in the file itself. SQLite looks at how the pages of a
// database hang together and not at what they say: a page that is a copy of another one, as a faulty disk or an
// interrupted copy leaves it, gives a report that is wrong and says nothing. The row `seal` of the table meta has 24
// hexadecimal digits: the change counter of the database, then the checksum, of a file in which these digits are zeros.
// Whoever changes a trace with SQLite moves the counter on, and the seal says nothing any more. Header only: the
// library writes it, the tool reads it.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace weft::trace {

class seal {
 public:
  static constexpr const char* key = "seal";
  static constexpr std::size_t digits = 24;
  [[nodiscard]] static std::string open() { return std::string(digits, '0'); }

  // Seals a file whose row `seal` says open(). Returns 0 or an errno.
  [[nodiscard]] static int close(int file) {
    const std::int64_t at = find(file, open());
    if (at < 0) return 0;  // a table of settings that takes several pages; then there is none
    char text[digits + 1];
    std::snprintf(text, sizeof text, "%08x%016llx", counter(file), static_cast<unsigned long long>(checksum(file, at)));
    return ::pwrite(file, text, digits, at) == static_cast<ssize_t>(digits) ? 0 : errno != 0 ? errno : EIO;
  }

  enum class state : std::uint8_t { whole, broken, unknown };
  // Of a file whose row `seal` has that text. unknown: it was never sealed, or changed by SQLite since.
  [[nodiscard]] static state of(const std::string& path, std::string_view text) {
    if (text.size() != digits || text == open()) return state::unknown;
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const std::int64_t at = file.is < 0 ? -1 : find(file.is, std::string(text));
    if (at < 0) return state::broken;
    char now[digits + 1];
    std::snprintf(now, sizeof now, "%08x", counter(file.is));
    if (text.substr(0, 8) != now) return state::unknown;
    std::snprintf(now, sizeof now, "%016llx", static_cast<unsigned long long>(checksum(file.is, at)));
    return text.substr(8) == now ? state::whole : state::broken;
  }

 private:
  struct descriptor {
    explicit descriptor(int d) noexcept : is(d) {}
    ~descriptor() {
      if (is >= 0) ::close(is);
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    const int is;
  };

  // Where the digits are: the table meta is made first, so its rows are near the beginning. -1: they are not.
  [[nodiscard]] static std::int64_t find(int file, const std::string& text) {
    std::string begin(std::size_t{1} << 16, '\0');
    const ssize_t got = ::pread(file, begin.data(), begin.size(), 0);
    const std::size_t at = begin.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0))).find(key + text);
    return at == std::string::npos ? -1 : static_cast<std::int64_t>(at + std::strlen(key));
  }

  // Of the header, where SQLite counts who changed the file.
  [[nodiscard]] static unsigned counter(int file) noexcept {
    std::array<unsigned char, 4> b{};
    if (::pread(file, b.data(), b.size(), 24) != static_cast<ssize_t>(b.size())) return 0;
    return unsigned{b[0]} << 24 | unsigned{b[1]} << 16 | unsigned{b[2]} << 8 | b[3];
  }

  // Four lanes, so that the multiplications overlap: as fast as memory. The digits at `at` count as zeros.
  [[nodiscard]] static std::uint64_t checksum(int file, std::int64_t at) {
    std::vector<char> piece(std::size_t{1} << 20);
    std::array<std::uint64_t, 4> lane{0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu, 1};
    std::uint64_t length = 0;
    for (;;) {
      const std::size_t n = fill(file, piece, static_cast<std::int64_t>(length));
      if (n == 0) break;
      for (std::int64_t i = at; i < at + static_cast<std::int64_t>(digits); ++i)
        if (i >= static_cast<std::int64_t>(length) && i < static_cast<std::int64_t>(length + n))
          piece[static_cast<std::size_t>(i) - length] = '0';
      std::fill(piece.begin() + static_cast<std::ptrdiff_t>(n), piece.end(), '\0');
      for (std::size_t i = 0; i < (n + 31) / 32 * 32; i += 32)
        for (std::size_t k = 0; k < 4; ++k) {
          std::uint64_t word = 0;
          std::memcpy(&word, piece.data() + i + 8 * k, 8);
          lane[k] = mixed(lane[k] ^ word);
        }
      length += n;
    }
    std::uint64_t all = length;
    for (const std::uint64_t x : lane) all = mixed(all ^ x);
    return all;
  }
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t x) noexcept {
    x *= 0xff51afd7ed558ccdu;  // odd, so no two values become one
    return x ^ x >> 29;
  }
  [[nodiscard]] static std::size_t fill(int file, std::vector<char>& piece, std::int64_t from) noexcept {
    std::size_t have = 0;
    while (have < piece.size()) {
      const ssize_t n = ::pread(file, piece.data() + have, piece.size() - have, from + static_cast<std::int64_t>(have));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      have += static_cast<std::size_t>(n);
    }
    return have;
  }
};

}  // namespace weft::trace
