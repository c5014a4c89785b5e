// A team whose members would all pop the same elements.
// expect: a team has no streams of its own
#include <weft/weft.hpp>

int main() {
  weft::runtime rt;
  weft::stream<int> s;
#ifdef BAD
  rt.submit(weft::team(2), weft::push(s, 1), [](weft::team_context&, std::span<int>) {});
#else
  rt.submit(weft::team(2), [](weft::team_context&) {});
#endif
  rt.wait();
}
