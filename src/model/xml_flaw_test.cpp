#include "model/xml_flaw.hpp"

#include <doctest/doctest.h>

#include <string>

using weft::model::first_flaw;

namespace {

std::string told(const std::string& text) {
  const auto flaw = first_flaw(text);
  return flaw ? std::to_string(flaw->line) + ": " + flaw->what : "";
}

}  // namespace

TEST_CASE("xml flaw: what is well-formed has none") {
  CHECK(told("<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version='2.0'>\n"
             "  <!-- <object> a > b -->\n  <object type=\"PU\" cpuset=\"0x0000000f,,0xffffffff\" name=\"a>b\"/>\n"
             "  <object nodeset='0x1' complete_cpuset=\"0xf...f,0x1\">\n  </object>\n</topology>\n") == "");
}

TEST_CASE("xml flaw: the line of each kind") {
  CHECK(told("") == "1: there is no <topology>");
  CHECK(told("hello\n") == "1: there is no <topology>");
  CHECK(told("<topology>\n<object>\n</topology>\n") == "3: </topology> ends what has not begun; <object> is open");
  CHECK(told("<topology>\n\n<object>\n") == "3: <object> does not end");
  CHECK(told("<topology>\n<object type=\"PU\n</topology>\n") == "2: an element does not end");
  CHECK(told("<topology>\n<object <object/>\n</topology>\n") == "2: an element does not end");
  CHECK(told("<topology>\n<!-- so\n</topology>\n") == "2: a comment does not end");
  CHECK(told("<topology>\n<>\n</topology>\n") == "2: an element has no name");
  CHECK(told("<topology/>\n</topology>\n") == "2: </topology> ends what has not begun");
  CHECK(told("<topology>\n<object type=\"PU\"\n complete_cpuset=\",x0000000f\"/></topology>") ==
        "3: \",x0000000f\" is no set of numbers");
}
