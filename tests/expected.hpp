// A file beside a test that says what runs must come to, a line for each: what is named, and what it is. With
// WEFT_TEST_UPDATE=1 the lines of the cases that run are written anew; review them like code.
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

class expected {
 public:
  // group: what the names of a case begin with, its alone.
  expected(const char* file, const char* group) : file_(file), group_(group) {
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);)
      if (const auto at = line.find(": "); at != std::string::npos) lines_[line.substr(0, at)] = line.substr(at + 2);
  }
  ~expected() {
    if (!updates()) return;
    std::erase_if(lines_, [this](const auto& x) { return x.first.starts_with(group_) && !seen_.contains(x.first); });
    std::ofstream out(file_);
    for (const auto& [what, is] : lines_) out << what << ": " << is << "\n";
  }
  expected(const expected&) = delete;
  expected& operator=(const expected&) = delete;

  void compare(const std::string& what, std::string is) {
    for (std::size_t at = 0; (at = is.find('\n', at)) != std::string::npos;) is.replace(at, 1, "\\n");
    const std::string whole = group_ + what;
    seen_[whole] = is;
    if (updates())
      lines_[whole] = is;
    else if (lines_[whole] != is)
      FAIL_CHECK("WEFT_TEST_UPDATE=1 if that is right: " << whole << "\n  was " << lines_[whole] << "\n  is  " << is);
  }

 private:
  [[nodiscard]] static bool updates() { return std::getenv("WEFT_TEST_UPDATE") != nullptr; }

  const char* file_;
  std::string group_;
  std::map<std::string, std::string> lines_, seen_;
};
