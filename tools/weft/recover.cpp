// `weft recover FILE`: the trace of a program that was killed, from its journal.
#include <sys/stat.h>

#include "base/part_file.hpp"
#include "command.hpp"
#include "output.hpp"
#include "output_file.hpp"
#include "trace/recover.hpp"

namespace weft::tool {

namespace {

class recover_command final : public command {
 public:
  explicit recover_command(const command_line& root) {
    line_ = root.add_subcommand("recover", "Make the trace of a program that was killed");
    line_
        .add_option("FILE", path_,
                    "The name that the trace was to have, or the file that the program left: FILE.part-... beside it")
        .required();
    line_.add_option("-o,--output", output_, "The trace; default: the name that it was to have").type_name("OUT");
    line_.add_flag("--json", json_, "One JSON object on stdout");
    line_.footer("What the program left goes when the trace is whole.\n"
                 "Example:\n  weft recover run.weft");
  }

  int run() override {
    const bool named = trace::is_journal(path_);
    const std::string journal = named ? path_ : trace::journal_of(path_);
    if (journal.empty()) throw weft::error("recover: " + path_ + ": no program left anything that was to become it");
    const std::string out = !output_.empty() ? output_ : target(journal);
    struct stat found {};
    if (::stat(out.c_str(), &found) == 0 && found.st_size != 0)
      throw weft::error("recover: " + out + " is there, the trace of another run; give another name with -o");
    trace::recover(journal, out);
    base::remove_abandoned(journal);
    write_stdout(json_ ? json_text({{"ok", true}, {"from", journal}, {"trace", out}})
                       : printable_lines(journal) + " is now " + printable_lines(out) + "\n");
    return exit_ok;
  }

 private:
  [[nodiscard]] static std::string target(const std::string& journal) {
    const std::size_t at = journal.rfind(".part-");
    if (at == std::string::npos || at == 0)
      throw weft::error("recover: " + journal + ": what shall the trace be called? Name it with -o");
    return journal.substr(0, at);
  }

  std::string path_, output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_recover_command(const command_line& root) {
  return std::make_unique<recover_command>(root);
}

}  // namespace weft::tool
