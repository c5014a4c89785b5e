#include "weft/ordered_for.hpp"

#include <string>

namespace weft::detail {

void throw_bad_round(std::uint64_t least, std::uint64_t round, std::uint64_t most) {
  throw error("weft: a round of ordered_for begins with " + std::to_string(round) + " iterations and has from " +
              std::to_string(least) + " to " + std::to_string(most) +
              "; that must be 1 at least, and the three in this order: least, round, most");
}

void throw_not_done(std::uint64_t i) {
  throw error("weft: iteration " + std::to_string(i) +
              " of ordered_for was not done, though no earlier one was left, and would be tried for ever. Its commit "
              "must return true when it holds what its reserve asks for, and each must release what it holds");
}

}  // namespace weft::detail
