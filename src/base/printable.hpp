// What a terminal can show of a text that may hold anything: names that a program gives, what somebody typed, what a
// file says. A control character, or the two bytes of one beyond ASCII, becomes "?": else it could clear the screen, or
// write over the line that tells of it.
#pragma once
#include <string>
#include <string_view>

namespace weft::base {

[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool beyond = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    const bool control = c < 0x20 || c == 0x7f || beyond;
    out += control ? '?' : text[i];
    if (beyond) ++i;
  }
  return out;
}

}  // namespace weft::base
