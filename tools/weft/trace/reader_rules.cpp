#include "reader_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

namespace weft::tool::trace {

std::vector<rule> read_rules(database& db) {
  std::vector<rule> all;
  for (rows r(db, "rules", "name, value, off, decided"); r.next();) {
    rule x{};
    x.name = std::string(r.text(0));
    x.value = r.count_or(1, INT64_MAX, 0);
    x.is_off = x.value == r.count_or(2, INT64_MAX, -1);
    x.decided = r.count_or(3, INT64_MAX, 0);
    all.push_back(x);
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &rule::decided);
  return all;
}

}  // namespace weft::tool::trace
