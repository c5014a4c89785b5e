// What the subcommands share. Each is an object that adds itself to the parser, keeps the variables its options set,
// and runs afterwards; main.cpp knows nothing about any of them but this interface. Exit codes: 0 all is well and every
// check passed; 1 it ran and a check failed; 2 it could not run as asked (usage, input, output), and then stderr has
// one line "weft: ..." that says why, and with --json stdout an object with "error".
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weft/weft.hpp"

namespace weft::tool {

inline constexpr int exit_ok = 0;
inline constexpr int exit_check_failed = 1;
inline constexpr int exit_unusable = 2;

using json = nlohmann::ordered_json;

class command {
 public:
  virtual ~command() = default;
  // Errors: weft::error, output_error. Returns the exit code.
  virtual int run() = 0;
  [[nodiscard]] CLI::App* parser() const noexcept { return parser_; }

 protected:
  CLI::App* parser_ = nullptr;
};

[[nodiscard]] std::unique_ptr<command> make_run_command(CLI::App& root);
[[nodiscard]] std::unique_ptr<command> make_info_command(CLI::App& root);
[[nodiscard]] std::unique_ptr<command> make_bench_command(CLI::App& root);
[[nodiscard]] std::unique_ptr<command> make_report_command(CLI::App& root);
[[nodiscard]] std::unique_ptr<command> make_check_command(CLI::App& root);
[[nodiscard]] std::unique_ptr<command> make_export_command(CLI::App& root);
[[nodiscard]] std::unique_ptr<command> make_sim_command(CLI::App& root);
[[nodiscard]] std::unique_ptr<command> make_whatif_command(CLI::App& root);
[[nodiscard]] std::unique_ptr<command> make_calibrate_command(CLI::App& root);

// --workers --machine --policy --seed, as every command that makes a runtime takes them.
class runtime_flags {
 public:
  void add_to(CLI::App& parser);
  // Valid as long as this object. What was not given stays at its default, so that WEFT_* is looked at.
  [[nodiscard]] options values() const;

 private:
  unsigned workers_ = 0;
  std::string machine_;
  std::string policy_;
  std::uint64_t seed_ = options{}.seed;
};

inline constexpr std::size_t workers_max = 1024;  // as weft::options has it

// Whole numbers from min to max; the error names both. Unlike CLI::Range it adds no clutter to the help.
[[nodiscard]] CLI::Validator in_range(std::size_t min, std::size_t max);

// One object, newline at the end; bytes that are no UTF-8 (file names) are replaced, a number that is none becomes
// null.
[[nodiscard]] std::string json_text(const json& object);

// "a, b, c": for messages that list what is allowed.
template <class Range> [[nodiscard]] std::string names(const Range& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + std::string(one.name);
  return text;
}

}  // namespace weft::tool
