#include "table.hpp"

#include <doctest/doctest.h>

#include "weft/error.hpp"

namespace weft::tool::foreign {

namespace {

std::string read(const std::string& text) {
  std::string all;
  try {
    const source from("t.csv", text);
    table_reader t(from);
    while (t.next()) {
      all += std::to_string(t.line()) + ":";
      for (std::size_t i = 0; i < t.columns().size(); ++i)
        all += t.columns()[i] + "=" + std::string(t[static_cast<int>(i)]) + ";";
    }
  } catch (const weft::error& e) {
    all += e.what();
  }
  return all;
}

}  // namespace

TEST_CASE("import: tables have quotes, any ends of lines, and empty ones") {
  CHECK(read("a,b\n1,2\n") == "2:a=1;b=2;");
  CHECK(read("a, b \r\n1,\r\n\r\n,2") == "2:a=1;b=;4:a=;b=2;");
  CHECK(read("\n\na,b\n\"1,\"\"2\"\"\",\"x\ny\"\n3,4\n") == "4:a=1,\"2\";b=x\ny;6:a=3;b=4;");
  CHECK(read("a\n") == "");
}

TEST_CASE("import: a table that is none is refused with the line") {
  CHECK(read("\n\n") == "t.csv: has no line that names its columns");
  CHECK(read("a,b\n1\n").find("line 2: has 1 fields, and there are 2 columns") != std::string::npos);
  CHECK(read("a,a\n").find("line 1: the column 'a' is there twice") != std::string::npos);
  CHECK(read("a\n\"x\n").find("line 2: a quote that begins there never ends") != std::string::npos);
  CHECK(read("a\n\"x\"y\n").find("line 2: behind a quote") != std::string::npos);
}

}  // namespace weft::tool::foreign
