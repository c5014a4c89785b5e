// What the programs of this folder share: how to fail, and their arguments.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "sanitized.hpp"

// Ends the program at once: a runtime that lost something might never end.
inline void require(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

// All of them as one text.
template <class... Part> [[nodiscard]] std::string in_words(const Part&... part) {
  std::ostringstream text;
  (text << ... << part);
  return text.str();
}

// The i-th argument, a number, or `otherwise` if there is none.
[[nodiscard]] inline long argument(int argc, char** argv, int i, long otherwise) {
  return argc > i ? std::strtol(argv[i], nullptr, 10) : otherwise;
}

// The i-th argument, a word.
[[nodiscard]] inline std::string word(int argc, char** argv, int i, const char* otherwise) {
  return argc > i ? argv[i] : otherwise;
}

// How much of the work: instrumented programs do a part.
[[nodiscard]] inline long amount(long full) { return sanitized ? full / 20 + 1 : full; }
