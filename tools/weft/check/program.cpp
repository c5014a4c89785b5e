#include "program.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../child.hpp"
#include "weft/weft.hpp"

namespace weft::tool::check {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "there is no file " + path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string how_it_ended(const child_result& r, double seconds_max) {
  if (r.late) {
    std::ostringstream text;
    text << "did not end within " << seconds_max << " s";
    return text.str();
  }
  if (r.signal != 0) return "killed by signal " + std::to_string(r.signal) + " (" + strsignal(r.signal) + ")";
  return "status " + std::to_string(r.status);
}

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_-./:=,+%@", c) != nullptr;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string replay_line(const settings& s, const std::vector<std::string>& command) {
  std::string line =
      "WEFT_MACHINE=virtual WEFT_WORKERS=" + std::to_string(s.workers) + " WEFT_SCHEDULE=" + quoted(s.schedule);
  if (s.schedule != "time" && !s.schedule.starts_with("order:")) line += " WEFT_SEED=" + std::to_string(s.seed);
  for (const std::string& word : command) line += " " + quoted(word);
  return line;
}

difference first_difference(const result& a, const result& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const std::vector<std::string> left = lines_of(a[i].second), right = lines_of(b[i].second);
    std::size_t at = 0;
    while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
    const auto line = [at](const std::vector<std::string>& all) {
      return at < all.size() ? all[at] : "(no such line)";
    };
    return {a[i].first, at + 1, line(left), line(right)};
  }
  return {};
}

// GNU's matcher of expressions calls itself for each letter, and a line of 10^5 of them ends the stack. It has another
// one that does not, nor tries again what it has tried; what it cannot do is repeat what a group has matched.
constexpr std::regex::flag_type how_to_match =
#if defined(__GLIBCXX__)
    std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
    std::regex::ECMAScript;
#endif

program::program(rules r) : rules_(std::move(r)) {
  for (const std::string& text : rules_.ignore) {
    try {
      ignored_.emplace_back(text, how_to_match);
    } catch (const std::regex_error& e) {
      throw weft::error("check: --ignore '" + text + "' is no regular expression: " + e.what());
    }
  }
}

bool program::writes_files() const {
  return std::any_of(rules_.compare.begin(), rules_.compare.end(),
                     [](const std::string& c) { return c != "exit" && c != "stdout" && c != "stderr"; });
}

std::string program::cleaned(std::string text) const {
  for (const std::regex& e : ignored_) text = std::regex_replace(text, e, "");
  return text;
}

observation program::run(const settings& s) const {
  static std::atomic<unsigned> runs{0};
  const std::string log = folder_.path().string() + "/" + std::to_string(runs++) + ".log";
  const child_result r =
      run_child(rules_.command, rules_.seconds_max,
                {"WEFT_MACHINE=virtual", "WEFT_WORKERS=" + std::to_string(s.workers), "WEFT_SCHEDULE=" + s.schedule,
                 "WEFT_SEED=" + std::to_string(s.seed), "WEFT_ORDER_LOG=" + log, "WEFT_TRACE="});
  observation seen;
  seen.late = r.late;
  for (const std::string& c : rules_.compare) {
    const std::string text = c == "exit"     ? how_it_ended(r, rules_.seconds_max)
                             : c == "stdout" ? r.out
                             : c == "stderr" ? r.err
                                             : content(c);
    seen.got.emplace_back(c, c == "exit" ? text : cleaned(text));
  }
  seen.seen = read_history(log);
  std::error_code ignored;
  std::filesystem::remove(log, ignored);
  return seen;
}

observation program::run(const order& steps) const {
  const std::string file = folder_.path().string() + "/order";
  write_order(file, steps);
  return run(settings{.schedule = "order:" + file});
}

}  // namespace weft::tool::check
