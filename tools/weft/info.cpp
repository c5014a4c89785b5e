// `weft info`: what a bug report or a measurement must say about where it was made.
#include <cblas.h>
#include <dlfcn.h>
#include <sqlite3.h>

#include <cstdint>
#include <string_view>

#include "command.hpp"
#include "machine_page.hpp"
#include "machine_state.hpp"
#include "output.hpp"

namespace weft::tool {

namespace {

// Asks the library in this process, not the header it was compiled with: they may differ. Absent if it is not linked.
std::string hwloc_version() {
  void* const symbol = dlsym(RTLD_DEFAULT, "hwloc_get_api_version");
  if (symbol == nullptr) return "absent";
  const unsigned v = reinterpret_cast<unsigned (*)()>(symbol)();
  return std::to_string(v >> 16) + "." + std::to_string(v >> 8 & 0xff) + "." + std::to_string(v & 0xff);
}

json libraries() {
  return {{"openblas", openblas_get_config()},
          {"hwloc_api", hwloc_version()},
          {"sqlite", sqlite3_libversion()},
          {"cli11", command_line_library_version()},
          {"nlohmann_json", json_library_version()}};
}

json list(const choices& entries) {
  json out = json::array();
  for (const choice& c : entries) out.push_back({{"name", c.name}, {"summary", c.what}});
  return out;
}

json rule_rows() {
  json out = json::array();
  for (const rule& r : scheduler_rules())
    out.push_back({{"name", r.name},
                   {"value", r.value},
                   {"off", r.off},
                   {"least", r.least},
                   {"most", r.most},
                   {"unit", r.unit},
                   {"decides", r.what},
                   {"counted", r.counted}});
  return out;
}
std::string rules_text(const json& rows, bool colour) {
  table t(false);
  for (const json& r : rows) {
    t.row({r["name"].get<std::string>(),
           std::to_string(r["value"].get<std::uint64_t>()) + " " + r["unit"].get<std::string>(),
           r["decides"].get<std::string>()});
    t.row({"", "", "  counted: " + r["counted"].get<std::string>()});
  }
  return paint("rules", style::bold, colour) + "\n" + t.text({}, colour) +
         "WEFT_RULES=name=off switches one off, name=number sets it; several are separated by commas.\n";
}

std::string section(const char* title, const json& content, bool colour) {
  table t(false);
  if (content.is_array())
    for (const json& one : content) t.row({"  " + one["name"].get<std::string>(), one["summary"].get<std::string>()});
  else
    for (const auto& [key, value] : content.items()) t.row({"  " + key, value.get<std::string>()});
  return paint(title, style::bold, colour) + "\n" + (content.empty() ? "  none\n" : t.text({}, colour));
}

class info_command final : public command {
 public:
  explicit info_command(const command_line& root) {
    line_ = root.add_subcommand("info", "Show versions, usable cores, machines, policies and settings in force");
    line_.add_flag("--json", json_, "One JSON object on stdout");
    line_.add_option("--machine", machine_, "Show this machine instead: its tree, its costs and their sources")
        .type_name("NAME");
    line_.add_flag("--rules", rules_, "Show the scheduler's rules instead: what it decides by which number");
    line_.footer("Example:\n  weft info --machine epyc-7551-32");
  }

  int run() override {
    if (!machine_.empty()) {
      write_stdout(json_ ? json_text(machine_json(machine_)) : machine_text(machine_, colour_wanted()));
      return exit_ok;
    }
    if (rules_) {
      const json rows = rule_rows();
      write_stdout(json_ ? json_text({{"rules", rows}}) : rules_text(rows, colour_wanted()));
      return exit_ok;
    }
    const json all = {{"version", weft::version()},
                      {"compiler", WEFT_COMPILER},
                      {"build", WEFT_BUILD_TYPE},
                      {"usable_cpus", usable_cpus()},
                      {"usable_cpus_reason", usable_cpus_reason()},
                      {"machines", list(machines())},
                      {"policies", list(policies())},
                      {"libraries", libraries()},
                      {"environment", settings_in_environment({"WEFT_"})}};
    write_stdout(json_ ? json_text(all) : text(all));
    return exit_ok;
  }

 private:
  static std::string text(const json& all) {
    const bool colour = colour_wanted();
    table head(false);
    head.row({"weft", all["version"].get<std::string>()});
    head.row({"compiler", all["compiler"].get<std::string>()});
    head.row({"build", all["build"].get<std::string>()});
    head.row({"usable cores", std::to_string(all["usable_cpus"].get<unsigned>()) + ": " +
                                  all["usable_cpus_reason"].get<std::string>()});
    std::string out = head.text({}, colour);
    for (const char* title : {"machines", "policies", "libraries", "environment"})
      out += section(title, all[title], colour);
    return out;
  }

  std::string machine_;
  bool json_ = false;
  bool rules_ = false;
};

}  // namespace

std::unique_ptr<command> make_info_command(const command_line& root) { return std::make_unique<info_command>(root); }

}  // namespace weft::tool
