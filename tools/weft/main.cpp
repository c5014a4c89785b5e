// weft, the one program beside the library. This file only parses, dispatches, and turns every way to fail into one
// line on stderr and an exit code (command.hpp); with --json, stdout holds an object even then.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "command.hpp"
#include "output.hpp"

namespace weft::tool {

void runtime_flags::add_to(const command_line& line) {
  line.add_option("--workers", workers_, "Number of workers; default: all usable cores, or all of the machine's")
      .in_range(1, workers_max)
      .type_name("N");
  line.add_option("--machine", machine_, "Where to run: host, virtual, a name that `weft info` lists, or a file")
      .type_name("NAME");
  line.add_option("--policy", policy_, "Scheduling policy, one that weft info lists; default: local").type_name("NAME");
  line.add_option("--seed", seed_, "Seed of everything random; default: 1").type_name("N");
}

options runtime_flags::values() const {
  options opt;
  opt.workers = workers_;
  if (!machine_.empty()) opt.machine = machine_.c_str();
  if (!policy_.empty()) opt.policy = policy_.c_str();
  if (const char* const set = std::getenv("WEFT_SEED"); !seed_.empty())
    opt.seed = seed_of(seed_, "--seed");
  else if (set != nullptr && *set != '\0')
    opt.seed = seed_of(set, "WEFT_SEED");
  return opt;
}

std::uint64_t seed_of(const std::string& text, const char* from) {
  std::uint64_t seed = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (bad != std::errc() || end != text.data() + text.size() || seed == 0)
    throw weft::error(std::string(from) + " = '" + text + "' cannot be; it must be a whole number above 0");
  return seed;
}

namespace {

// Looked for by hand, because parsing may be what fails.
bool json_asked(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--json") == 0) return true;
  return false;
}

// What a library underneath throws says neither what was asked for nor by which file.
int run(command& c, int argc, char** argv) {
  try {
    return c.run();
  } catch (const weft::error&) {
    throw;
  } catch (const output_error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    std::string asked;
    for (int i = 1; i < argc; ++i) asked += (i > 1 ? " " : "") + std::string(argv[i]);
    throw weft::error(asked + ": cannot go on: " + e.what());
  }
}

int dispatch(int argc, char** argv) {
  const command_line root("Weft: a task-parallel runtime, on this computer or on a modelled one.", "weft");
  root.set_version_flag(std::string("weft ") + weft::version());
  root.footer("Exit codes: 0 every check passed, 1 a check failed, 2 it could not run as asked.\n"
              "Example:\n  weft run cholesky --n 4096 --workers 2");
  std::vector<std::unique_ptr<command>> commands;
  commands.push_back(make_run_command(root));
  commands.push_back(make_info_command(root));
  commands.push_back(make_bench_command(root));
  commands.push_back(make_report_command(root));
  commands.push_back(make_export_command(root));
  commands.push_back(make_import_command(root));
  commands.push_back(make_recover_command(root));
  commands.push_back(make_check_command(root));
  commands.push_back(make_sim_command(root));
  commands.push_back(make_whatif_command(root));
  commands.push_back(make_calibrate_command(root));
  commands.push_back(make_top_command(root));
  if (const std::string asked = root.parse(argc, argv); !asked.empty()) {
    write_stdout(asked);
    return exit_ok;
  }
  for (const auto& c : commands)
    if (c->asked()) return run(*c, argc, argv);
  throw weft::error(
      "a command is missing: run, info, bench, report, export, import, recover, check, sim, whatif, calibrate "
      "or top; "
      "see weft --help");
}

int fail(std::string_view why, bool json_wanted) {
  if (why.starts_with("weft: ")) why.remove_prefix(6);  // the library says who speaks, and so do we
  // It may quote anything: a name of a file, a word of the command line.
  std::fprintf(stderr, "weft: %s\n", printable_lines(why).c_str());
  try {
    if (json_wanted) write_stdout(json_text({{"ok", false}, {"error", why}}));
  } catch (const output_error& e) {
    std::fprintf(stderr, "weft: %s\n", e.what());
  }
  return exit_unusable;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  const bool json_wanted = json_asked(argc, argv);
  try {
    return dispatch(argc, argv);
  } catch (const output_error& e) {
    return fail(e.what(), false);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; choose a smaller size", json_wanted);
  } catch (const std::exception& e) {
    return fail(e.what(), json_wanted);
  }
}

}  // namespace weft::tool

int main(int argc, char** argv) { return weft::tool::main(argc, argv); }
