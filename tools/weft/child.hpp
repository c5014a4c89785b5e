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

}  // namespace weft::tool
