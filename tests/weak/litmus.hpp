// Programs of a few accesses, and what they may end with: by the axioms of C++20, for every way to choose what each
// load reads and in which order the stores of a word come (axioms.cpp); and by the machine's memory, for every choice
// that it leaves open (litmus.cpp). The two share nothing.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "weak/memory.hpp"

namespace weft::weak::litmus {

enum class does { load, store, exchange, add };
struct access {
  does what;
  unsigned word;
  base::order order;
  unsigned value = 0;  // stored, or added
};
using steps = std::vector<access>;  // of a thread
using program = std::vector<steps>;

// An outcome: what each load and read-modify-write read, thread by thread, and what each word is in the end.
// "1 0 | 1 1".
using outcomes = std::set<std::string>;
[[nodiscard]] std::string outcome(const std::vector<std::vector<unsigned>>& read, const std::vector<unsigned>& last);

[[nodiscard]] outcomes by_axioms(const program& p);
[[nodiscard]] outcomes by_memory(const program& p, broken what = broken::nothing);

}  // namespace weft::weak::litmus
