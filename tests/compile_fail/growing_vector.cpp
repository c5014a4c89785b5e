// A vector that grows moves what it holds, and a handle cannot be moved; what never moves its elements is fine.
// expect in 5: a_handle_cannot_move|a handle cannot move
#include <deque>
#include <map>
#include <optional>
#include <vector>
#include <weft/weft.hpp>

int main() {
  std::vector<weft::handle<int>> fixed(10);
  std::map<int, weft::handle<int>> found;
  found.try_emplace(1, 2);
  std::optional<weft::handle<int>> late;
  late.emplace(3);
#ifdef BAD
  std::vector<weft::handle<int>> all;
#else
  std::deque<weft::handle<int>> all;
#endif
  all.emplace_back(1);
}
