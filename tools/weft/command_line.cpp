// See command_line.hpp.
#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <sstream>
#include <type_traits>

#include "weft/error.hpp"

namespace weft::tool {

const option& option::required() const { return it_->required(), *this; }
const option& option::type_name(const char* name) const { return it_->type_name(name), *this; }
const option& option::default_str(const char* text) const { return it_->default_str(text), *this; }
const option& option::capture_default_str() const { return it_->capture_default_str(), *this; }
const option& option::envname(const char* name) const { return it_->envname(name), *this; }
const option& option::delimiter(char between) const { return it_->delimiter(between), *this; }
const option& option::one_word() const { return it_->allow_extra_args(false), *this; }
const option& option::excludes(const option& other) const { return it_->excludes(other.it_), *this; }

// Unlike the checks as they come, with an empty description: it adds clutter to the help.
const option& option::in_range(std::size_t min, std::size_t max) const {
  return it_->check(CLI::Range(min, max).description("")), *this;
}
const option& option::between(double min, double max) const {
  it_->check(CLI::Validator(
      [min, max](std::string& text) -> std::string {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        if (number && value >= min && value <= max) return "";
        std::ostringstream why;
        why << "'" << text << "' cannot be; it must be a number from " << min << " to " << max;
        return why.str();
      },
      ""));
  return *this;
}
const option& option::one_of(std::initializer_list<const char*> allowed) const {
  return it_->check(CLI::IsMember(std::vector<std::string>(allowed.begin(), allowed.end()))), *this;
}

command_line::command_line(const char* about, const char* name) : app_(std::make_shared<CLI::App>(about, name)) {}
command_line::command_line(std::shared_ptr<CLI::App> app) noexcept : app_(std::move(app)) {}

command_line command_line::add_subcommand(const char* name, const char* about) const {
  return command_line(std::shared_ptr<CLI::App>(app_, app_->add_subcommand(name, about)));
}

namespace {

// What the C library makes of -1 is the largest number there is.
std::string no_minus(const std::string& text) {
  return text.starts_with('-') ? "'" + text + "' cannot be; it must be a whole number, not below 0" : "";
}

}  // namespace

template <class T> option command_line::add(const std::string& name, T& value, const std::string& help) const {
  CLI::Option* const it = app_->add_option(name, value, help);
  if constexpr (std::is_unsigned_v<T> || std::is_same_v<T, std::vector<unsigned>>)
    it->check(CLI::Validator([](const std::string& text) { return no_minus(text); }, ""));
  return option(it);
}
option command_line::add_option(const std::string& name, std::string& value, const std::string& help) const {
  return add(name, value, help);
}
option command_line::add_option(const std::string& name, unsigned& value, const std::string& help) const {
  return add(name, value, help);
}
option command_line::add_option(const std::string& name, std::uint64_t& value, const std::string& help) const {
  return add(name, value, help);
}
option command_line::add_option(const std::string& name, double& value, const std::string& help) const {
  return add(name, value, help);
}
option command_line::add_option(const std::string& name, std::vector<std::string>& value,
                                const std::string& help) const {
  return add(name, value, help);
}
option command_line::add_option(const std::string& name, std::vector<unsigned>& value, const std::string& help) const {
  return add(name, value, help);
}
option command_line::add_flag(const std::string& name, bool& value, const std::string& help) const {
  return option(app_->add_flag(name, value, help));
}
option command_line::get_option(const std::string& name) const { return option(app_->get_option(name)); }

void command_line::footer(const std::string& text) const { app_->footer(text); }
void command_line::set_version_flag(const std::string& text) const { app_->set_version_flag("--version", text); }
void command_line::allow_extras() const { app_->allow_extras(); }
void command_line::prefix_command() const { app_->prefix_command(); }

std::string command_line::parse(int argc, char** argv) const {
  try {
    app_->parse(argc, argv);
    return "";
  } catch (const CLI::CallForHelp&) {
    return app_->help();
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& e) {
    throw weft::error(std::string(e.what()) + "; see weft --help");
  }
}

void command_line::parse_words(const std::vector<std::string>& words) const {
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app_->parse(reversed);
  } catch (const CLI::ParseError& e) {
    throw weft::error(std::string(e.what()) + "; see weft " + app_->get_name() + " --help");
  }
}

bool command_line::parsed() const { return app_->parsed(); }
std::vector<std::string> command_line::remaining() const { return app_->remaining(); }

std::string command_line_library_version() { return CLI11_VERSION; }

}  // namespace weft::tool
