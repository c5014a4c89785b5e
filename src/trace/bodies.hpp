// Bodies of ordered sections, from what was recorded of them. Addresses become words with numbers, and what was there
// becomes numbers too: whoever looks at them needs to know which are the same, and they must not depend on where
// memory lay. A word is a part of 8 bytes that all bodies of a section touch together or not at all. Where one reads
// what nobody wrote, it is another word from then on: memory that was released, or that the program changed between
// two runs.
#pragma once
#include <cstdint>
#include <vector>

#include "trace/collect.hpp"

namespace weft::trace {

// Bytes that a body touched, before they have numbers.
struct touched {
  std::uint64_t address;  // of 8 bytes
  std::uint64_t value;
  float before_ps;
  std::uint8_t mask;  // bit i: byte i
  bool is_store;
};

// Sorts `bodies`, `crews` and `sections` of these, gives each section its number, and to bodies their touches; first
// and last of a body are in `all`, and what it read is there before what it wrote. Rows of sections that are not there
// are left out. Errors: std::bad_alloc.
void number_bodies(contents& of, std::vector<touched>& all);

}  // namespace weft::trace
