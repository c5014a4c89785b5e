// The options of a modelled run, as the commands of this folder take them, and what is at their target: a trace to
// replay, or a program to start.
#pragma once
#include <string>
#include <vector>

#include "settings.hpp"
#include "tools/weft/command_line.hpp"
#include "tools/weft/trace/reader.hpp"

namespace weft::tool::sim {

class flags {
 public:
  // workers, policies, machines and creations: only where one value is meant, not a list.
  void add_to(const command_line& line, bool single);
  // As asked, over what must not leak into a modelled run from this process's environment.
  [[nodiscard]] settings values() const;
  // Of a trace: the main program computes between its submissions, as it did.
  [[nodiscard]] bool keep_gaps() const { return submitter_ == "trace"; }

  double speed = 1;
  std::string seed;

 private:
  struct text_option {
    const char* option;
    const char* name;
    std::string value;
  };
  std::vector<text_option> texts_;
  unsigned workers_ = 0;
  std::string submitter_;
};

enum class target { trace, program };
// Errors: weft::error if it is neither: what is wrong and what is expected.
[[nodiscard]] target what_is(const std::string& path);

// Makes a runtime with these settings and ends it, so that what cannot be is said before anything runs. Returns the
// number of its workers. Errors: weft::error.
unsigned try_out(const settings& s);

// Sets `name` to what the trace says of itself under `key`. Errors: weft::error that names the file, if that cannot be.
void take_recorded(settings& s, const char* name, const trace::file& f, const char* key);

}  // namespace weft::tool::sim
