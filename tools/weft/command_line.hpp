// The command line: what a command declares about its options, and where their values go. CLI11 does the work, behind
// command_line.cpp, the one file that compiles it: it costs more than all of the commands' own text.
// The words are CLI11's. Objects are handles: a copy speaks of the same command line or option.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace weft::tool {

class option {
 public:
  const option& required() const;
  const option& type_name(const char* name) const;    // what stands for the value in the help
  const option& default_str(const char* text) const;  // the default that the help shows
  const option& capture_default_str() const;          // it is what the variable holds now
  const option& envname(const char* name) const;      // the variable that is looked at if the option is not given
  const option& delimiter(char between) const;        // of the values of a list
  const option& one_word() const;                     // of a list: each time it is given it takes one word
  const option& in_range(std::size_t min, std::size_t max) const;  // the error names both
  const option& between(double min, double max) const;             // a number: neither infinite nor NaN
  const option& one_of(std::initializer_list<const char*> allowed) const;
  const option& excludes(const option& other) const;

 private:
  friend class command_line;
  explicit option(CLI::Option* it) noexcept : it_(it) {}
  CLI::Option* it_;
};

class command_line {
 public:
  command_line() noexcept = default;  // of nothing; for a member that a constructor fills
  command_line(const char* about, const char* name);

  // A word that has options of its own. Lives as long as the command line it is part of, at least.
  command_line add_subcommand(const char* name, const char* about) const;

  // name: "--long", "-s,--long", or, of an operand, "NAME". The variable must outlive the parsing.
  option add_option(const std::string& name, std::string& value, const std::string& help) const;
  option add_option(const std::string& name, unsigned& value, const std::string& help) const;
  option add_option(const std::string& name, std::uint64_t& value, const std::string& help) const;
  option add_option(const std::string& name, double& value, const std::string& help) const;
  option add_option(const std::string& name, std::vector<std::string>& value, const std::string& help) const;
  option add_option(const std::string& name, std::vector<unsigned>& value, const std::string& help) const;
  option add_flag(const std::string& name, bool& value, const std::string& help) const;
  [[nodiscard]] option get_option(const std::string& name) const;

  void footer(const std::string& text) const;
  void set_version_flag(const std::string& text) const;
  void allow_extras() const;    // words that it does not know are remaining(), not errors
  void prefix_command() const;  // so is all from the first such word on

  // Returns what was asked for instead of a command: help or the version; empty if nothing was.
  // Errors: weft::error, with a hint at --help.
  [[nodiscard]] std::string parse(int argc, char** argv) const;
  void parse_words(const std::vector<std::string>& words) const;
  [[nodiscard]] bool parsed() const;  // true if this subcommand was given
  [[nodiscard]] std::vector<std::string> remaining() const;

 private:
  explicit command_line(std::shared_ptr<CLI::App> app) noexcept;
  template <class T> option add(const std::string& name, T& value, const std::string& help) const;
  std::shared_ptr<CLI::App> app_;
};

[[nodiscard]] std::string command_line_library_version();

}  // namespace weft::tool
