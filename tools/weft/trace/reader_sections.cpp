#include "reader_sections.hpp"

#include <algorithm>

#include "checks.hpp"

namespace weft::tool::trace {

std::vector<section> read_sections(database& db) {
  std::vector<section> out;
  for (rows r(db, "sections", "executor, began_ns, ended_ns, committed, started, again, in_order, serial_ns");
       r.next();) {
    section s{};
    s.executor = r.text(0);
    s.began_ns = r.time(1);
    s.ended_ns = r.time_after(2, s.began_ns);
    s.committed = r.count_or(3, INT64_MAX, 0);
    s.started = r.count_or(4, INT64_MAX, 0);
    s.again = r.count_or(5, s.started, 0);
    s.in_order = r.count_or(6, s.committed, 0);
    s.serial_ns = r.count_or(7, time_max, -1);
    out.push_back(std::move(s));
  }
  std::ranges::stable_sort(out, {}, &section::began_ns);
  return out;
}

}  // namespace weft::tool::trace
