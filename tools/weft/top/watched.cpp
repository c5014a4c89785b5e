#include "watched.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <memory>
#include <optional>

#include "tools/weft/output.hpp"
#include "weft/error.hpp"

namespace weft::tool {

namespace {

constexpr unsigned patience_ms = 5000;  // a program on a computer with much else to do answers within that
constexpr unsigned slice_ms = 50;
constexpr const char* advice = "start it with WEFT_TOP=1, or give its runtime the option `top`";

[[nodiscard]] std::string path_of(int process, const char* file) {
  return "/proc/" + std::to_string(process) + "/" + file;
}

[[nodiscard]] std::string content(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  std::string text;
  char piece[4096];
  while (file != nullptr) {
    const std::size_t n = std::fread(piece, 1, sizeof piece, file.get());
    text.append(piece, n);
    if (n == 0) break;
  }
  return text;
}

[[nodiscard]] std::string target(const std::string& link) {
  char piece[4096];
  const ssize_t n = ::readlink(link.c_str(), piece, sizeof piece);
  return {piece, n > 0 ? static_cast<std::size_t>(n) : 0};
}

// The names in a folder; nullopt, with errno: it is not to be read.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (open == nullptr) return std::nullopt;
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* const entry = ::readdir(open.get()))
    if (*entry->d_name != '.') names.emplace_back(entry->d_name);
  if (names.empty() && errno != 0) return std::nullopt;
  return names;
}

// What /proc/PID/stat says of a process beside its name, which may hold anything: its state, and when it began.
struct process_state {
  char state = 'X';
  std::string began;
};
[[nodiscard]] process_state state_of(int process) {
  const std::string all = content(path_of(process, "stat"));
  const std::size_t behind_name = all.rfind(')');
  if (behind_name == std::string::npos || behind_name + 2 >= all.size()) return {};
  process_state found{all[behind_name + 2], {}};
  std::size_t at = behind_name + 2;
  for (int field = 3; field < 22 && at != std::string::npos; ++field) at = all.find(' ', at + 1);
  if (at != std::string::npos) found.began = all.substr(at + 1, all.find(' ', at + 1) - at - 1);
  return found;
}
[[nodiscard]] bool has_ended(const process_state& s) noexcept { return s.state == 'X' || s.state == 'Z'; }

// Names of a process: of the command, which has 15 bytes at most, and of the executable.
[[nodiscard]] std::string command_of(int process) {
  std::string name = content(path_of(process, "comm"));
  if (name.ends_with('\n')) name.pop_back();
  return name;
}
[[nodiscard]] bool is_called(int process, const std::string& name) {
  if (command_of(process) == name) return true;
  std::string program = target(path_of(process, "exe"));
  if (constexpr std::string_view gone = " (deleted)"; program.ends_with(gone))
    program.resize(program.size() - gone.size());
  return program.substr(program.rfind('/') + 1) == name;
}

// Its pages, those that it has from another by fork() included.
[[nodiscard]] std::vector<std::string> pages_of(int process) {
  static const std::string wanted = std::string("/memfd:") + trace::live_name;
  const std::string folder = path_of(process, "fd");
  const auto files = names_in(folder);
  if (!files) return {};
  std::vector<std::string> found;
  for (const std::string& name : *files)
    if (target(folder + "/" + name).starts_with(wanted)) found.push_back(folder + "/" + name);
  return found;
}

[[nodiscard]] std::vector<int> processes() {
  std::vector<int> found;
  for (const std::string& name : names_in("/proc").value_or(std::vector<std::string>())) {
    int number = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (bad == std::errc() && end == name.data() + name.size() && number != ::getpid()) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

[[nodiscard]] std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return text;
}

// As the process itself knows it: it may be in a namespace of its own.
[[nodiscard]] int own_number(int process) {
  const std::string status = content(path_of(process, "status"));
  const std::size_t at = status.find("\nNSpid:");
  if (at == std::string::npos) return process;
  const std::string line = status.substr(at + 1, status.find('\n', at + 1) - at - 1);
  int number = process;
  const std::size_t last = line.find_last_of(" \t") + 1;
  std::from_chars(line.data() + last, line.data() + line.size(), number);
  return number;
}

[[nodiscard]] std::string words_of(int process, const std::string& name) {
  return "process " + std::to_string(process) + " (" + printable(name, name_width_max) + ")";
}
// Whether it has a page of its own, and not only one from the process that made it by fork().
[[nodiscard]] bool lets_look(int process, const std::string& words) {
  for (const std::string& path : pages_of(process)) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    try {
      if (file >= 0 && live_page(file, words).head().process == own_number(process)) return true;
    } catch (const weft::error&) {
      return true;  // of another layout, say, of which whoever means this process is to hear
    }
  }
  return false;
}

// The one process that is meant.
[[nodiscard]] int process_named(const std::string& name) {
  std::vector<int> named, shown;
  for (const int process : processes()) {
    if (!name.empty() && !is_called(process, name)) continue;
    named.push_back(process);
    if (lets_look(process, words_of(process, command_of(process)))) shown.push_back(process);
  }
  const std::string quoted = "'" + printable(name, name_width_max) + "'";
  if (shown.size() == 1) return shown[0];
  if (shown.size() > 1)
    throw weft::error("top: several programs" + (name.empty() ? std::string() : " called " + quoted) +
                      " let others look: " + list(shown) + "; give the number of one");
  if (name.empty()) throw weft::error("top: no program here lets you look; " + std::string(advice));
  if (named.empty()) throw weft::error("top: there is no program called " + quoted);
  throw weft::error("top: " + quoted + " (" + list(named) + ") lets nobody look; " + advice);
}

void pause_ms(unsigned ms) noexcept {
  const timespec time{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000) * 1'000'000};
  ::nanosleep(&time, nullptr);
}

}  // namespace

watched_program::watched_program(const std::string& who) {
  const auto [end, bad] = std::from_chars(who.data(), who.data() + who.size(), process_);
  if (bad != std::errc() || end != who.data() + who.size()) process_ = process_named(who);
  const process_state state = state_of(process_);
  if (has_ended(state))
    throw weft::error("top: there is no process " + std::to_string(process_) +
                      (state.state == 'Z' ? " any more: it has ended" : ""));
  began_ = state.began;
  name_ = command_of(process_);
  find_pages();
  if (pages_.empty())
    throw weft::error("top: " + words() +
                      " lets nobody look: it was started without, has no runtime yet or none any "
                      "more, or is no program of Weft; " +
                      advice);
}

std::string watched_program::words() const { return words_of(process_, name_); }

bool watched_program::ended() const {
  const process_state state = state_of(process_);
  return has_ended(state) || state.began != began_;
}

// Adds those that are new.
void watched_program::find_pages() {
  if (!names_in(path_of(process_, "fd"))) {
    const int why = errno;
    if (ended()) return;
    struct stat owner {};
    const bool known = ::stat(path_of(process_, "").c_str(), &owner) == 0 && owner.st_uid != ::geteuid();
    throw weft::error("top: the system does not let you look at " + words() + " (" + std::strerror(why) + ")" +
                      (known ? ": it belongs to user " + std::to_string(owner.st_uid) : std::string()) +
                      "; look as its user, or as root");
  }
  std::optional<int> other;
  for (const std::string& path : pages_of(process_)) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) continue;  // it was closed meanwhile
    live_page s(file, words());
    if (s.head().process != own_number(process_))
      other = s.head().process;
    else if (!s.over())
      pages_.try_emplace(s.head().runtime, std::move(s));
  }
  if (pages_.empty() && other)
    throw weft::error("top: " + words() + " is a child that process " + std::to_string(*other) +
                      " made by fork(), and the runtime is there: weft top " + std::to_string(*other));
}

// Whether somebody who has waited for so long goes on waiting; false: nothing comes any more.
bool watched_program::waits_on(unsigned passed_ms) const {
  if (ended()) return false;
  const char state = state_of(process_).state;
  if (state == 'T' || state == 't') throw weft::error("top: " + words() + " is stopped and does not answer");
  if (passed_ms >= patience_ms)
    throw weft::error("top: " + words() + " has not answered for " + std::to_string(patience_ms / 1000) + " s");
  return true;
}

bool watched_program::ask(live_page& s, live_answer& answer) const {
  for (unsigned ms = 0; !s.take_turn(); ms += slice_ms) {
    if (s.over() || !waits_on(ms)) return false;
    pause_ms(slice_ms);
  }
  s.ask();
  unsigned ms = 0;
  for (; !s.answered(slice_ms); ms += slice_ms)
    if (s.over() || !waits_on(ms)) return false;
  answer = s.read();
  s.give_turn();
  return true;
}

std::vector<live_answer> watched_program::look() {
  find_pages();
  std::vector<live_answer> all;
  for (auto s = pages_.begin(); s != pages_.end();) {
    live_answer answer;
    const bool is_over = s->second.over() || !ask(s->second, answer);
    if (!is_over) all.push_back(std::move(answer));
    s = is_over ? pages_.erase(s) : std::next(s);
  }
  return all;
}

}  // namespace weft::tool
