// Every way a file can be wrong that we know of, each with the line its message must name.
#include "matrix_market.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace weft::apps::cholesky {
namespace {

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_matrix_market(text, "f.mtx"));
  } catch (const weft::error& e) {
    return e.what();
  }
  return "no error";
}

constexpr const char* sparse = "%%MatrixMarket matrix coordinate real symmetric\n";
constexpr const char* sparse_general = "%%MatrixMarket matrix coordinate real general\n";
constexpr const char* dense = "%%MatrixMarket matrix array real symmetric\n";
constexpr const char* dense_general = "%%MatrixMarket matrix array real general\n";

struct wrong {
  std::string text;
  const char* message;  // must occur in the error
};

void expect(const std::vector<wrong>& all) {
  for (const wrong& w : all) {
    CAPTURE(w.text);
    const std::string message = error_of(w.text);
    CAPTURE(message);
    CHECK(message.find(w.message) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("matrix market: the banner") {
  expect({{"", "f.mtx: the file is empty"},
          {"\n", "f.mtx:1: not a Matrix Market file"},
          {"1 1 1\n1 1 1.0\n", "f.mtx:1: not a Matrix Market file"},
          {"%%MatrixMarket matrix array\n", "f.mtx:1: the banner must have five words"},
          {"%%MatrixMarket vector array real general\n", "f.mtx:1: the banner announces a \"vector\""},
          {"%%MatrixMarket matrix blocks real general\n", "f.mtx:1: the format \"blocks\""},
          {"%%MatrixMarket matrix array complex general\n", "f.mtx:1: entries of kind \"complex\""},
          {"%%MatrixMarket matrix coordinate pattern symmetric\n", "f.mtx:1: entries of kind \"pattern\""},
          {"%%MatrixMarket matrix array real skew-symmetric\n", "f.mtx:1: the symmetry \"skew-symmetric\""},
          {"%%MatrixMarket matrix array real hermitian\n", "f.mtx:1: the symmetry \"hermitian\""}});
}

TEST_CASE("matrix market: the sizes") {
  const std::string s = sparse;
  expect({{s, "f.mtx:1: the file ends before its size line"},
          {s + "% only\n% comments\n", "f.mtx:3: the file ends before its size line"},
          {s + "2 2\n", "f.mtx:2: the size line must have 3 numbers"},
          {s + "%\n\n2 3 1\n", "f.mtx:4: the matrix must be square, it is 2 by 3"},
          {s + "0 0 0\n", "f.mtx:2: the matrix is empty"},
          {s + "-2 -2 1\n", "f.mtx:2: the number of rows must be a whole number, not \"-2\""},
          {s + "2 2 1.5\n", "f.mtx:2: the number of entries must be a whole number"},
          {s + "99999999 99999999 1\n", "f.mtx:2: order 99999999 is too large"},
          {s + "99999999999999999999999 1 1\n", "f.mtx:2: the number of rows must be a whole number"},
          {s + "2000000 2000000 1\n", "of memory"}});
}

TEST_CASE("matrix market: the entries of a sparse file") {
  const std::string s = sparse;
  expect(
      {{s + "2 2 2\n1 1 1\n", "f.mtx:3: too few entries: the size line promises 2, the file ends after 1"},
       {s + "2 2 1\n1 1 1\n2 2 1\n", "f.mtx:4: too many entries"},
       {s + "2 2 1\n1 1\n", "f.mtx:3: an entry must have a row, a column and a value, this line has 2"},
       {s + "2 2 1\n0 1 1\n", "f.mtx:3: the entry (0, 1) is outside"},
       {s + "2 2 1\n3 1 1\n", "f.mtx:3: the entry (3, 1) is outside"},
       {s + "2 2 1\n1 -1 1\n", "f.mtx:3: the column must be a whole number"},
       {s + "2 2 2\n1 1 1\n1 1 1\n", "f.mtx:4: the entry (1, 1) was given before"},
       {s + "2 2 1\n1 2 1\n", "f.mtx:3: the entry (1, 2) is above the diagonal"},
       {s + "2 2 1\n1 1 one\n", "f.mtx:3: not a number: \"one\""},
       {s + "2 2 1\n1 1 1.5x\n", "f.mtx:3: not a number: \"1.5x\""},
       {s + "2 2 1\n1 1 +-1\n", "f.mtx:3: not a number"},
       {s + "2 2 1\n1 1 nan\n", "f.mtx:3: the value \"nan\" is not finite"},
       {s + "2 2 1\n1 1 -inf\n", "f.mtx:3: the value \"-inf\" is not finite"},
       {s + "2 2 1\n1 1 1e999\n", "f.mtx:3: the value \"1e999\" is not finite"},
       {"%%MatrixMarket matrix coordinate integer symmetric\n1 1 1\n1 1 1.5\n", "f.mtx:3: the banner says integer"}});
}

TEST_CASE("matrix market: a general file must hold a symmetric matrix") {
  const std::string s = sparse_general;
  const std::string d = dense_general;
  expect({{s + "2 2 4\n1 1 1\n2 1 5\n1 2 6\n2 2 1\n", "f.mtx:5: the matrix is not symmetric: the entry (1, 2) is 6"},
          {s + "2 2 4\n1 1 1\n1 2 6\n2 1 5\n2 2 1\n", "f.mtx:5: the matrix is not symmetric: the entry (2, 1) is 5"},
          {s + "2 2 3\n1 1 1\n2 1 5\n2 2 1\n", "f.mtx:4: the matrix is not symmetric: the entry (2, 1) is 5"},
          {s + "2 2 3\n% c\n1 1 1\n1 2 5\n2 2 1\n", "f.mtx:5: the matrix is not symmetric: the entry (1, 2) is 5"},
          {s + "2 2 2\n1 2 1\n1 2 1\n", "f.mtx:4: the entry (1, 2) was given before"},
          {d + "2 2\n1\n2\n3\n1\n", "f.mtx:5: the matrix is not symmetric: the entry (1, 2) is 3 and (2, 1) is 2"},
          {d + "2 2\n1\n2\n2\n", "f.mtx:5: too few entries"},
          {d + "2 2\n1 2\n2 1\n", "f.mtx:3: an array line must have one value"},
          {dense + std::string("2 2\n1\n2\n3\n4\n"), "f.mtx:6: too many entries"}});
}

TEST_CASE("matrix market: all four kinds give the same matrix") {
  const std::string texts[] = {sparse + std::string("% comment\n3 3 4\n1 1 2.5\n2 2 +3\n\n3 3 4e0\n3 1 -1\n"),
                               sparse_general +
                                   std::string("3 3 6\n1 3 -1\r\n1 1 2.5\r\n2 2 3\r\n2 1 0\r\n3 3 4\r\n3 1 -1\r\n"),
                               dense + std::string("3 3\n2.5\n0\n-1\n3\n0\n4"),
                               dense_general + std::string("3 3\n2.5\n0\n-1\n0\n3\n0\n-1\n0\n4\n"),
                               "%%matrixmarket MATRIX Array REAL Symmetric\n3 3\n25e-1\n1e-400\n-1.0\n3\n-0\n4\n"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    const matrix m = parse_matrix_market(text, "f.mtx");
    REQUIRE(m.n == 3);
    CHECK(m.at(0, 0) == 2.5);
    CHECK(m.at(1, 0) == 0);
    CHECK(m.at(2, 0) == -1);
    CHECK(m.at(1, 1) == 3);
    CHECK(m.at(2, 1) == 0);
    CHECK(m.at(2, 2) == 4);
  }
}

TEST_CASE("matrix market: files") {
  const auto message = [](const std::string& path) -> std::string {
    try {
      static_cast<void>(read_matrix_market(path));
    } catch (const weft::error& e) {
      return e.what();
    }
    return "no error";
  };
  CHECK(message("no-such.mtx") == "no-such.mtx: cannot open the file: No such file or directory");
  const auto folder = std::filesystem::temp_directory_path();
  CHECK(message(folder).find("this is a directory") != std::string::npos);
  const auto empty = folder / "weft_empty_test.mtx";
  std::ofstream(empty).close();
  CHECK(message(empty).find("the file is empty") != std::string::npos);
  std::filesystem::remove(empty);
}

TEST_CASE("matrix market: the shipped matrix") {
  const matrix bar = read_matrix_market(WEFT_DATA_DIR "/bar.mtx");
  CHECK(bar.n == 600);
  CHECK(bar.at(0, 0) == 122.8632478632);
  CHECK(frobenius_norm(bar) > 0);
}

}  // namespace weft::apps::cholesky
