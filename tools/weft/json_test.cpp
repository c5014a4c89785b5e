// The value itself: which braces make an object, what a text says, what a reader asks for wrongly.
#include "json.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

using weft::tool::json;

TEST_CASE("braces make an object where each pair begins with a text, and else an array") {
  CHECK(json({{"a", 1}, {"b", "two"}}).text() == R"({"a":1,"b":"two"})");
  CHECK(json({{"a", 1}, {2, "b"}}).text() == R"([["a",1],[2,"b"]])");
  CHECK(json({1, 2, 3}).text() == "[1,2,3]");
  CHECK(json({{"a", {{"b", {1, 2}}}}}).text() == R"({"a":{"b":[1,2]}})");
  CHECK(json({{"only", "texts"}}).text() == R"({"only":"texts"})");
  CHECK(json::array().text() == "[]");
  CHECK(json::object().text() == "{}");
}

TEST_CASE("a value comes from what it is: numbers by their kind, what can be walked through as an array") {
  CHECK(json(true).text() == "true");
  CHECK(json(-1).text() == "-1");
  CHECK(json(18446744073709551615ull).text() == "18446744073709551615");
  CHECK(json(0.5).text() == "0.5");
  CHECK(json(1.0).text() == "1.0");
  CHECK(json(std::nan("")).text() == "null");
  CHECK(json(nullptr).text() == "null");
  CHECK(json(std::vector<std::string>{"a", "b"}).text() == R"(["a","b"])");
  CHECK(json(std::array<unsigned, 2>{1, 2}).text() == "[1,2]");
  CHECK(json(std::vector<std::pair<std::string, int>>{{"a", 1}}).text() == R"([["a",1]])");
}

TEST_CASE("members keep their order, are made when they are first written to, and updating replaces them") {
  json j;
  j["z"] = 1;
  j["a"]["inner"] = 2;
  j.update({{"z", 3}, {"m", 4}});
  CHECK(j.text() == R"({"z":3,"a":{"inner":2},"m":4})");
  CHECK(j.contains("a"));
  CHECK_FALSE(j.contains("b"));
  CHECK(j.size() == 3);
  j["list"].push_back(1);
  j["list"].push_back({{"x", 2}});
  j["list"].back()["x"] = 5;
  CHECK(j["list"].text() == R"([1,{"x":5}])");
}

TEST_CASE("a copy is a value of its own") {
  const json j = {{"a", {{"b", "text"}}}};
  json copy = j;
  CHECK(copy == j);
  copy["a"]["b"] = 1;
  CHECK(copy != j);
  CHECK(j["a"]["b"] == "text");
}

TEST_CASE("equal numbers are equal whatever their kind, and nothing else is") {
  CHECK(json(1) == json(1u));
  CHECK(json(1) == json(1.0));
  CHECK(json(1) != json(true));
  CHECK(json(1) != json("1"));
  CHECK(json(18446744073709551615ull) != json(-1));
  CHECK(json("a") == "a");
  CHECK(json() == json(nullptr));
}

TEST_CASE("a text is read back as the value it was made of") {
  const json j = {{"n", nullptr}, {"yes", true},         {"i", -7},      {"u", 7u},
                  {"d", 0.1},     {"t", "\"\\\n\u00e9"}, {"l", {1, "2"}}};
  CHECK(json::parse(j.text()) == j);
  CHECK(json::parse(j.text(2)) == j);
  CHECK(json("\u00e9").text(-1, true) == "\"\\u00e9\"");
  CHECK(json::parse("{\"a\":").is_null());
  CHECK(json::parse("").is_null());
}

TEST_CASE("bytes that are no UTF-8 are replaced") {
  CHECK(json("a\xff").text() == "\"a\xef\xbf\xbd\"");
  CHECK(weft::tool::valid_utf8("a\xff") == "a\xef\xbf\xbd");
  CHECK(weft::tool::valid_utf8("\"quoted\"\n") == "\"quoted\"\n");
}

TEST_CASE("asking for what is not there is an error") {
  const json j = {{"a", 1}, {"list", {1, 2}}};
  CHECK(j["a"].get<unsigned>() == 1);
  CHECK(j["a"].get<double>() == 1);
  CHECK_THROWS_AS(static_cast<void>(j["b"]), std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(j["list"][2]), std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(j["a"].get<std::string>()), std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(json(-1).get<unsigned>()), std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(json(1ull << 32).get<unsigned>()), std::logic_error);
  CHECK_THROWS_AS(json("text").push_back(1), std::logic_error);
}
