// The value itself: which braces make an object, what a text says, what a reader asks for wrongly.
#include "json_sieve.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/error.hpp"

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

namespace {

// What a sieve gets: "path item value".
std::string sifted(const std::string& text, const std::vector<std::string>& wanted) {
  class kept final : public weft::tool::json_sieve {
   public:
    explicit kept(const std::vector<std::string>& wanted) : wanted_(wanted) {}
    bool wants(std::string_view path) override {
      return std::find(wanted_.begin(), wanted_.end(), path) != wanted_.end();
    }
    void take(std::string_view path, std::size_t item, json value) override {
      all += std::string(path) + " " + std::to_string(item) + " " + value.text() + "; ";
    }
    std::string all;

   private:
    const std::vector<std::string>& wanted_;
  };
  kept into(wanted);
  try {
    weft::tool::sift(text, into);
  } catch (const weft::error& e) {
    into.all += e.what();
  }
  return into.all;
}

}  // namespace

TEST_CASE("a sieve makes what is wanted, and says where it was") {
  const std::string text = R"({"a":{"b":[{"x":1},{"x":[2,{"y":null}]}],"c":true},"d":[[1,2],[3]]})";
  CHECK(sifted(text, {"a.b[]"}) == R"(a.b[] 0 {"x":1}; a.b[] 1 {"x":[2,{"y":null}]}; )");
  CHECK(sifted(text, {"a.c", "a.b[].x"}) == R"(a.b[].x 0 1; a.b[].x 1 [2,{"y":null}]; a.c 0 true; )");
  CHECK(sifted(text, {"d[][]"}) == "d[][] 0 1; d[][] 1 2; d[][] 0 3; ");
  CHECK(sifted("[1,\"t\"]", {"[]"}) == "[] 0 1; [] 1 \"t\"; ");
  CHECK(sifted("7", {""}) == " 0 7; ");
  CHECK(sifted(R"({"a":1,"a":2})", {"a"}) == "a 0 1; a 0 2; ");
}

TEST_CASE("a sieve says the line of what is no JSON, and refuses what lies too deep") {
  CHECK(sifted("[1,\n 2,,3]", {"[]"}).starts_with("[] 0 1; [] 1 2; parse error at line 2, column 4"));
  CHECK(sifted("", {}).starts_with("parse error at line 1"));
  CHECK(sifted("[1e999]", {}).find("1e999") != std::string::npos);
  CHECK(sifted(std::string(100'000, '['), {}) == "values lie deeper in each other than 64");
  CHECK(sifted("[\"\xff\"]", {}).find("UTF-8") != std::string::npos);
}
