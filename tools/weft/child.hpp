// A program started on its own: in a session of its own, nothing on its standard input, its output kept, and killed
// when its time is over or this program ends.
#pragma once
#include <string>
#include <vector>

namespace weft::tool {

struct child_result {
  int status = -1;  // exit status; -1 if it was killed by a signal
  int signal = 0;   // that signal
  bool late = false;
  std::string out, err;
};

// `settings`, each NAME=VALUE, come before the environment of this program. Errors: weft::error if it cannot be
// started.
[[nodiscard]] child_result run_child(const std::vector<std::string>& command, double seconds_max,
                                     const std::vector<std::string>& settings = {});

// A program in this one's place: with its standard input and output, in its process group, so that the keyboard's
// signals reach it; a request to end that comes here is passed on. Returns its exit status, or minus the signal that
// killed it. `command[0]` is looked for in PATH if it has no slash. environment: all of it, "NAME=value".
// Errors: weft::error if it cannot be started.
[[nodiscard]] int run_in_place(const std::vector<std::string>& command, const std::vector<std::string>& environment);

}  // namespace weft::tool
