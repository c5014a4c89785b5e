// Names that were nearly right are found again, and others are not guessed at.
#include "base/near_name.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weft::base {

TEST_CASE("near names: edits are counted, swaps as one, capitals not at all") {
  CHECK(edits("", "") == 0);
  CHECK(edits("", "abc") == 3);
  CHECK(edits("load", "laod") == 1);
  CHECK(edits("load", "lode") == 2);
  CHECK(edits("LOAD", "load") == 0);
  CHECK(edits("kitten", "sitting") == 3);
  for (const std::string a : {"epyc", "epic-7551", "x"})
    for (const std::string b : {"epyc-7551-32", "y", ""}) CHECK(edits(a, b) == edits(b, a));
}

TEST_CASE("near names: the best first, nothing that is far, and the beginning of a name will do") {
  const std::vector<std::string> known{"virtual", "epyc-7551-32", "opteron-6282-64", "opteron-6276-bulldozer-64"};
  CHECK(near_names("epic-7551-32", known, 3) == std::vector<std::string>{"epyc-7551-32"});
  CHECK(near_names("epic-7551", known, 1) == std::vector<std::string>{"epyc-7551-32"});
  CHECK(near_names("epyc", known, 3) == std::vector<std::string>{"epyc-7551-32"});
  CHECK(near_names("opteron", known, 3).size() == 2);
  CHECK(near_names("opteron", known, 1).size() == 1);
  CHECK(near_names("cray", known, 3).empty());
  CHECK(near_names(std::string(5'000, 'v'), known, 3).empty());
  CHECK(did_you_mean("virtal", known) == "; did you mean virtual?");
  CHECK(did_you_mean("opteron", known, 2) == "; did you mean opteron-6282-64 or opteron-6276-bulldozer-64?");
  CHECK(did_you_mean("cray", known).empty());
}

}  // namespace weft::base
