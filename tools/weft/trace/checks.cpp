// See checks.hpp.
#include "checks.hpp"

#include <algorithm>
#include <charconv>

#include "weft/clause.hpp"
#include "weft/error.hpp"

namespace weft::tool::trace {

namespace {

void check_main_waits(const file& f) {
  const wait* before = nullptr;
  for (const wait& w : f.waits) {
    if (w.task != none) continue;
    if (before != nullptr && w.from_ns < before->to_ns)
      throw weft::error(f.path + ": the main thread waits from " + std::to_string(w.from_ns) +
                        " ns on while it waits until " + std::to_string(before->to_ns) +
                        " ns; the file is damaged, record the run again");
    before = &w;
  }
}

}  // namespace

void check_times(const file& f) {
  if (f.workers.size() > workers_max)
    throw weft::error(f.path + ": has " + std::to_string(f.workers.size()) + " workers, and no run has more than " +
                      std::to_string(workers_max) + "; the file is damaged");
  if (f.lost != 0) return;
  check_main_waits(f);
  static_cast<void>(segments(f, false));
}

bool is_kind(std::string_view text) {
  constexpr std::string_view own = "user ";
  if (text.starts_with(own)) {
    unsigned number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, bad] = std::from_chars(text.data() + own.size(), end, number);
    return bad == std::errc() && stop == end && number >= 1 && number <= detail::user_types_max;
  }
  constexpr std::string_view all[] = {"read", "write", "add", "concurrent", "reduce", "resource"};
  return std::find(std::begin(all), std::end(all), text) != std::end(all);
}

}  // namespace weft::tool::trace
