// See columns.hpp.
#include "columns.hpp"

#include <algorithm>

#include "weft/error.hpp"

namespace weft::tool::report {

namespace {

constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

class base64_writer {
 public:
  explicit base64_writer(std::size_t bytes) { text_.reserve((bytes + 2) / 3 * 4); }

  void byte(unsigned b) {
    bits_ = bits_ << 8 | b;
    if (++held_ == 3) flush(4);
  }

  std::string take() {
    if (held_ != 0) {
      const unsigned characters = held_ + 1;
      bits_ <<= 8 * (3 - held_);
      flush(characters);
      text_.append(4 - characters, '=');
    }
    return std::move(text_);
  }

 private:
  void flush(unsigned characters) {
    for (unsigned i = 0; i < characters; ++i) text_ += digits[bits_ >> (18 - 6 * i) & 63];
    bits_ = held_ = 0;
  }

  std::string text_;
  unsigned bits_ = 0;
  unsigned held_ = 0;
};

unsigned width_for(std::uint64_t largest) {
  for (const unsigned w : {1u, 2u, 4u, 6u})
    if (largest >> (8 * w) == 0) return largest == 0 ? 0 : w;
  throw weft::error("report: times further apart than 78 hours do not fit into a page");
}

}  // namespace

packed_column pack(const std::vector<std::int64_t>& values) {
  packed_column c;
  c.count = values.size();
  if (values.empty()) return c;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  c.base = *least;
  c.width = width_for(static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least));
  base64_writer out(c.width * values.size());
  for (const std::int64_t v : values) {
    const std::uint64_t x = static_cast<std::uint64_t>(v) - static_cast<std::uint64_t>(c.base);
    for (unsigned i = 0; i < c.width; ++i) out.byte(static_cast<unsigned>(x >> (8 * i) & 0xff));
  }
  c.base64 = out.take();
  return c;
}

}  // namespace weft::tool::report
