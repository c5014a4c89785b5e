// What the subcommands share. Each is an object that adds itself to the command line, keeps the variables its options
// set, and runs afterwards; main.cpp knows nothing about any of them but this interface. Exit codes: 0 all is well and
// every check passed; 1 it ran and a check failed; 2 it could not run as asked (usage, input, output), and then stderr
// has one line "weft: ..." that says why, and with --json stdout an object with "error".
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "json.hpp"
#include "weft/weft.hpp"

namespace weft::tool {

inline constexpr int exit_ok = 0;
inline constexpr int exit_check_failed = 1;
inline constexpr int exit_unusable = 2;

class command {
 public:
  virtual ~command() = default;
  // Errors: weft::error, output_error. Returns the exit code.
  virtual int run() = 0;
  [[nodiscard]] bool asked() const { return line_.parsed(); }

 protected:
  command_line line_;
};

[[nodiscard]] std::unique_ptr<command> make_run_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_info_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_bench_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_report_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_import_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_recover_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_check_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_export_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_sim_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_whatif_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_calibrate_command(const command_line& root);
[[nodiscard]] std::unique_ptr<command> make_top_command(const command_line& root);

// --workers --machine --policy --seed, as every command that makes a runtime takes them.
class runtime_flags {
 public:
  void add_to(const command_line& line);
  // Valid as long as this object. What was not given stays at its default, so that WEFT_* is looked at.
  [[nodiscard]] options values() const;

 private:
  unsigned workers_ = 0;
  std::string machine_;
  std::string policy_;
  std::string seed_;
};

// The number of a seed. from: the option or variable, for the message. Errors: weft::error.
[[nodiscard]] std::uint64_t seed_of(const std::string& text, const char* from);

inline constexpr std::size_t workers_max = 1024;  // as weft::options has it

// "a, b, c": for messages that list what is allowed.
template <class Range> [[nodiscard]] std::string names(const Range& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + std::string(one.name);
  return text;
}

}  // namespace weft::tool
