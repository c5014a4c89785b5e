// What a modelled run is asked to be: as the options of a runtime for a replay in this process, and as the environment
// for a program that is started.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "weft/weft.hpp"

namespace weft::tool::sim {

// Values of options by their names in the environment without "WEFT_"; "" means unset.
class settings {
 public:
  // The environment's own settings are noted and taken out of it, so that no runtime of this process sees them but by
  // options(). Who: a command, before it does anything; once.
  static void hold_environment();

  // The last value of a name counts.
  void set(const char* name, std::string value);
  // The value set, else what the environment had; "".
  [[nodiscard]] std::string value(const char* name) const;

  // For a runtime of this process. The texts are this object's: it must outlive the call that takes them, unchanged.
  // Errors: weft::error that names the option, or the variable it is from.
  [[nodiscard]] weft::options options() const;
  // The text of an error that a runtime threw for options(), with the options called what the user calls them.
  [[nodiscard]] std::string blamed(std::string why) const;

  // "NAME=value" for a program: these settings over this process's environment.
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] const char* text(const char* name) const;
  template <class Number> void number(const char* name, Number& into) const;
  // "--policy", or "WEFT_POLICY" where that says it.
  [[nodiscard]] std::string called(std::string_view name) const;

  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace weft::tool::sim
