// `weft calibrate`: measures this computer and writes it down as a machine file, so that the virtual machine has
// its costs.
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "../command.hpp"
#include "../machine_state.hpp"
#include "../output.hpp"
#include "../output_file.hpp"
#include "../scratch.hpp"
#include "apps/progress.hpp"
#include "machine_text.hpp"
#include "report.hpp"

namespace weft::tool {

namespace {

// A machine that others use, or that a host moves about, spoils one try in two, and seldom three.
constexpr unsigned usual_tries = 3, quick_tries = 2;

using namespace calibrate;
namespace fs = std::filesystem;

// Where machine files of this user's own are looked for.
fs::path own_machines() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config != '\0') return fs::path(config) / "weft" / "machines";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    throw weft::error("calibrate: neither XDG_CONFIG_HOME nor HOME is set; name a file with --out FILE");
  return fs::path(home) / ".config" / "weft" / "machines";
}

std::vector<comparison> compare(const std::vector<measured_part>& measured, const std::vector<double>& modelled) {
  std::vector<comparison> all;
  for (std::size_t i = 0; i < measured.size(); ++i) all.push_back({measured[i].name, measured[i].ns, modelled[i]});
  return all;
}

class calibrate_command final : public command {
 public:
  explicit calibrate_command(const command_line& root) {
    line_ = root.add_subcommand("calibrate", "Measure this computer and write its machine file, for virtual time");
    line_.add_option("--out", out_, "The file to write; default: this-host.toml where your own machine files are")
        .type_name("FILE");
    line_.add_flag("--quick", quick_, "In a few seconds: to try things out, not to quote");
    line_
        .add_option("--tries", tries_,
                    "Measure again while the file's own checks fail, so many times at most; "
                    "default: 3, with --quick 2")
        .in_range(1, 100)
        .type_name("N");
    line_.add_flag("--json", json_, "One JSON object on stdout");
    line_.footer("Takes up to a minute, on all cores; let nothing else run meanwhile.\n"
                 "Example:\n  weft calibrate\n  WEFT_MACHINE=this-host weft run cholesky --workers 2");
  }

  int run() override {
    forget_settings();
    const std::string file = target();
    demand_writable("--out", file);
    const auto start = std::chrono::steady_clock::now();
    const host_description host = describe_host();
    attempt best = measure(host, 1);
    disagreements between;
    between.add(best.measured.found, best.c.checks);
    unsigned tries = 1;
    const unsigned most = tries_ != 0 ? tries_ : quick_ ? quick_tries : usual_tries;
    while (!unusable(best.c.checks).empty() && tries < most) {
      attempt next = measure(host, ++tries);
      between.add(next.measured.found, next.c.checks);
      if (worst_error(next.c.checks) < worst_error(best.c.checks)) best = std::move(next);
    }
    calibration& c = best.c;
    c.file = file;
    c.date = date_and_time();
    c.quick = quick_;
    c.tries = tries;
    c.moved = between.text();
    c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    c.found = &best.measured.found;
    c.result = &best.result;
    const std::string why = unusable(c.checks);
    write_machine(file, best.result, c.date, why);
    write_stdout(json_ ? json_text(report_json(c)) : report_text(c, colour_wanted()));
    for (const std::string& w : warnings(c)) std::fprintf(stderr, "weft: calibrate: %s\n", printable_lines(w).c_str());
    return why.empty() ? exit_ok : exit_check_failed;
  }

 private:
  struct attempt {
    survey measured;
    assembled result;
    calibration c;
  };

  [[nodiscard]] attempt measure(const host_description& host, unsigned number) const {
    attempt a;
    const load_watch watch;
    apps::progress bar(number == 1 ? "weft calibrate" : "weft calibrate, once more", stderr);
    a.measured = measure_host(host, {quick_, [&bar](double part) { bar.report(part); }});
    const load_watch::load load = watch.so_far();
    a.c.load = {{"known", load.known}, {"others", load.others}, {"stolen", load.stolen}};
    a.c.computer = machine_facts();
    a.result = assemble(host, a.measured.found, a.c.computer["processor"].get<std::string>());
    const scratch folder("calibrate");  // for the machines that are only asked for their times
    const auto ask = [&](const std::vector<program_kind>& programs, const model::machine& m) {
      assembled asked = a.result;
      asked.machine = m;
      asked.machine.runtime.body_ps = 0;  // the programs' bodies are empty, or wait for the clock
      asked.machine.speed_when_shared = asked.machine.speed_when_busy = 1;
      const std::string asked_file = (folder.path() / "asked.toml").string();
      write_machine(asked_file, asked, "asked");
      return modelled_ns(programs, asked_file);  // as options::machine
    };
    const survey& s = a.measured;
    add_steps(a.result, s.steps, s.found, [&](const model::machine& m) { return ask(step_programs(), m); });
    a.c.steps = compare(s.steps, ask(step_programs(), a.result.machine));
    const auto workers = static_cast<unsigned>(std::min<std::size_t>(2, host.cores.size()));
    a.c.checks = compare(s.checks, ask(check_programs(workers), a.result.machine));
    bar.finish();
    return a;
  }

  // A setting of the user's own runs would change what is measured, or how the model runs.
  static void forget_settings() {
    const json settings = settings_in_environment({"WEFT_"});
    for (const auto& [name, value] : settings.items()) unsetenv(name.c_str());
  }

  [[nodiscard]] std::string target() const {
    if (!out_.empty()) return out_;
    const fs::path folder = own_machines();
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw weft::error("calibrate: cannot make the folder " + folder.string() + ": " + failed.message());
    return (folder / "this-host.toml").string();
  }

  std::string out_;
  unsigned tries_ = 0;  // 0: as many as usual
  bool quick_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_calibrate_command(const command_line& root) {
  return std::make_unique<calibrate_command>(root);
}

}  // namespace weft::tool
