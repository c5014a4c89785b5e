// `weft top PID|NAME`: the counters of a running program, live.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "tools/weft/command.hpp"
#include "tools/weft/output.hpp"
#include "view.hpp"
#include "watched.hpp"

namespace weft::tool {

namespace {

constexpr double interval_min_s = 0.01, interval_max_s = 86'400;
constexpr const char* home_and_clear = "\033[H\033[J";

class top_command final : public command {
 public:
  explicit top_command(const command_line& root) {
    line_ = root.add_subcommand("top", "Show the counters of a running program, live");
    line_.add_option("PROGRAM", who_,
                     "Number or name of a process that runs with WEFT_TOP=1; default: the only one that there is");
    line_.add_option("--interval", interval_s_, "Seconds between two looks")
        .between(interval_min_s, interval_max_s)
        .capture_default_str()
        .type_name("S");
    const option once = line_.add_flag("--once", once_, "Look for one interval, show that, and end");
    line_.add_flag("--json", json_, "A JSON object a line for each interval; with --once one object");
    line_.add_flag("--openmetrics", open_metrics_, "Look once, and write OpenMetrics text")
        .excludes(once)
        .excludes(line_.get_option("--json"));
    line_.footer("It ends when the program does, or by Ctrl-C.\n"
                 "Example:\n  WEFT_TOP=1 ./solver &\n  weft top solver");
  }

  int run() override {
    watched_program program(who_);
    if (open_metrics_) {
      const std::vector<live_answer> now = look(program);
      write_stdout(open_metrics(program, now));
      return exit_ok;
    }
    if (once_) {
      std::vector<live_answer> before = look(program);
      if (!pause(program)) throw weft::error("top: " + program.words() + " has ended");
      const std::vector<live_change> changes = between(std::move(before), look(program));
      write_stdout(json_ ? json_text(live_json(program, changes)) : live_text(program, changes, colour_wanted()));
      return exit_ok;
    }
    return watch(program);
  }

 private:
  // For who wants one answer: that there is none any more is an error.
  [[nodiscard]] static std::vector<live_answer> look(watched_program& program) {
    std::vector<live_answer> now = program.look();
    if (now.empty())
      throw weft::error("top: " + program.words() + (program.ended() ? " has ended" : " has no runtime any more"));
    return now;
  }

  int watch(watched_program& program) {
    const bool screen = ::isatty(STDOUT_FILENO) == 1 && !json_;
    std::vector<live_answer> before = program.look();
    for (bool first = true; pause(program); first = false) {
      std::vector<live_answer> now = program.look();
      if (now.empty()) {
        if (program.ended()) break;
        continue;  // between two runtimes
      }
      const std::vector<live_change> changes = between(std::move(before), now);
      if (json_)
        write_stdout(live_json(program, changes).text() + "\n");
      else
        write_stdout((screen ? home_and_clear : first ? "" : "\n") + live_text(program, changes, colour_wanted()));
      before = std::move(now);
    }
    if (!json_) write_stdout(program.words() + " has ended\n");
    return exit_ok;
  }

  [[nodiscard]] static std::vector<live_change> between(std::vector<live_answer> before, std::vector<live_answer> now) {
    std::vector<live_change> changes;
    for (live_answer& a : now) {
      std::optional<live_change> change;
      for (live_answer& b : before)
        if (b.head.runtime == a.head.runtime && b.rows.size() == a.rows.size()) change = {std::move(b), std::move(a)};
      changes.push_back(change ? std::move(*change) : since_it_began(std::move(a)));
    }
    return changes;
  }

  // Returns whether the program is still there, and at once when it is not.
  [[nodiscard]] bool pause(const watched_program& program) const {
    using clock = std::chrono::steady_clock;
    const auto until =
        clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(interval_s_));
    while (!program.ended()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
      if (left <= 0) return true;
      static_cast<void>(::poll(nullptr, 0, static_cast<int>(left < 100 ? left : 100)));
    }
    return false;
  }

  std::string who_;
  double interval_s_ = 1;
  bool once_ = false, json_ = false, open_metrics_ = false;
};

}  // namespace

std::unique_ptr<command> make_top_command(const command_line& root) { return std::make_unique<top_command>(root); }

}  // namespace weft::tool
