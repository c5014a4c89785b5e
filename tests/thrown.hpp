// The message of what a piece of the program throws.
#pragma once
#include <exception>
#include <string>

// "": it throws nothing.
template <class F> [[nodiscard]] std::string thrown(F f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}
