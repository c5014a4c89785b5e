// std::exit(7) in a body of a runtime of static storage: its destructor waited for the body that it was called from,
// and the program ended with 134. Right: the status that the program asked for.
// Run: own
// Run: nested
// Status: 7
// Workers: 1 2
// Creation: inline
#include <weft/weft.hpp>

#include "found.hpp"

namespace {
weft::runtime& common() {
  static weft::runtime rt;
  return rt;
}
}  // namespace

int main(int argc, char** argv) {
  const std::string how = word(argc, argv, 1, "own");
  if (how == "own") common().submit([] { std::exit(7); });
  if (how == "nested")
    common().submit([] {
      weft::runtime other({.workers = 1});
      other.submit([] { std::exit(7); });
      other.wait();
    });
  common().wait();
  return 1;
}
