#include "energy.hpp"

#include "output.hpp"

namespace weft::tool {

json energy_json(const joules& e) {
  if (!e.modelled) return nullptr;
  return {{"total", e.total()}, {"running", e.running}, {"searching", e.searching},
          {"asleep", e.asleep}, {"local", e.local},     {"remote", e.remote}};
}

joules energy_from(const json& j) {
  if (j.is_null()) return {};
  const auto part = [&j](const char* key) { return j[key].get<double>(); };
  return {.modelled = true,
          .running = part("running"),
          .searching = part("searching"),
          .asleep = part("asleep"),
          .local = part("local"),
          .remote = part("remote")};
}

std::string energy_text(const joules& e) { return e.modelled ? short_number(e.total()) : "not modelled"; }

std::string energy_kinds(const joules& e) {
  if (!e.modelled) return "";
  return "cores running " + short_number(e.running) + ", searching " + short_number(e.searching) + ", asleep " +
         short_number(e.asleep) + "; bytes local " + short_number(e.local) + ", remote " + short_number(e.remote);
}

}  // namespace weft::tool
