// No control character reaches a terminal.
#include "base/printable.hpp"

#include <doctest/doctest.h>

namespace weft::base {

TEST_CASE("printable: control characters become question marks, letters of any language stay") {
  CHECK(printable("plain text") == "plain text");
  CHECK(printable("a\033[31m\nb\x7f\t") == "a?[31m?b??");
  CHECK(printable("\xc2\x9b"
                  "2J") == "?2J");  // the one-character form of ESC [
  CHECK(printable("\xc3\xa9\xf0\x9f\x98\x80\xc2\xa7") == "\xc3\xa9\xf0\x9f\x98\x80\xc2\xa7");
  CHECK(printable("\xc2") == "\xc2");
}

}  // namespace weft::base
