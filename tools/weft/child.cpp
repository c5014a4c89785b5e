// See child.hpp. posix_spawn, because fork() of a program with threads is a trap, and this one may have some.
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>

#include "weft/weft.hpp"

namespace weft::tool {

namespace {

class pipe_ends {
 public:
  pipe_ends() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw weft::error(std::string("cannot make a pipe: ") + strerror(errno));
  }
  ~pipe_ends() {
    for (int end : ends_)
      if (end >= 0) close(end);
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_write_end() {
    close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& t : texts) all.push_back(const_cast<char*>(t.c_str()));
  all.push_back(nullptr);
  return all;
}

// `settings`, then what this program has that is not among them.
std::vector<char*> environment(const std::vector<std::string>& settings) {
  std::vector<char*> all = pointers(settings);
  all.pop_back();
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view name = std::string_view(*v).substr(0, std::string_view(*v).find('=') + 1);
    const auto hides = [name](const std::string& s) { return s.starts_with(name); };
    if (std::none_of(settings.begin(), settings.end(), hides)) all.push_back(*v);
  }
  all.push_back(nullptr);
  return all;
}

pid_t start(const std::vector<std::string>& command, const std::vector<std::string>& settings, const pipe_ends& out,
            const pipe_ends& err) {
  const std::vector<char*> arguments = pointers(command);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.write_end(), STDERR_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t not_ignored;  // as the tool does, whose own files shall end in a message
  sigemptyset(&not_ignored);
  sigaddset(&not_ignored, SIGXFSZ);
  posix_spawnattr_setsigdefault(&how, &not_ignored);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, arguments[0], &files, &how, arguments.data(), environment(settings).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw weft::error("cannot start " + command[0] + ": " + strerror(failed));
  return pid;
}

// Reads what there is; false at the end.
bool read_some(int from, std::string& to) {
  std::array<char, 4096> piece;
  const ssize_t n = ::read(from, piece.data(), piece.size());
  if (n > 0) to.append(piece.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

volatile std::sig_atomic_t in_place = 0;  // the process that run_in_place() waits for

extern "C" void pass_on(int signal) {
  if (in_place != 0) kill(static_cast<pid_t>(in_place), signal);
}

// While it lives, the keyboard's signals are the child's affair, and requests to end are passed on to it.
class signals_aside {
 public:
  signals_aside() {
    struct sigaction ours {};
    for (std::size_t i = 0; i < all.size(); ++i) {
      ours.sa_handler = i < 2 ? SIG_IGN : &pass_on;
      sigaction(all[i], &ours, &before_[i]);
    }
  }
  ~signals_aside() {
    for (std::size_t i = 0; i < all.size(); ++i) sigaction(all[i], &before_[i], nullptr);
  }
  signals_aside(const signals_aside&) = delete;
  signals_aside& operator=(const signals_aside&) = delete;

  static constexpr std::array<int, 4> all = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  // Those that this process did not ignore before, which the child shall not ignore either.
  [[nodiscard]] sigset_t to_restore() const {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (before_[i].sa_handler != SIG_IGN) sigaddset(&set, all[i]);
    return set;
  }

 private:
  std::array<struct sigaction, 4> before_{};
};

}  // namespace

child_result run_child(const std::vector<std::string>& command, double seconds_max,
                       const std::vector<std::string>& settings) {
  using clock = std::chrono::steady_clock;
  pipe_ends out, err;
  const pid_t pid = start(command, settings, out, err);
  out.close_write_end();
  err.close_write_end();
  const auto deadline =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds_max));
  child_result result;
  std::array<pollfd, 2> open = {pollfd{out.read_end(), POLLIN, 0}, pollfd{err.read_end(), POLLIN, 0}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
    if (left <= 0) {
      result.late = true;
      kill(-pid, SIGKILL);  // a session leader leads its process group
      break;
    }
    if (poll(open.data(), open.size(), static_cast<int>(left)) <= 0) continue;  // a signal, or the deadline
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i].revents != 0 && !read_some(open[i].fd, i == 0 ? result.out : result.err)) open[i].fd = -1;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

int run_in_place(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  const signals_aside until_ended;
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  const sigset_t restored = until_ended.to_restore();
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&how, &restored);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, arguments[0], nullptr, &how, arguments.data(), variables.data());
  posix_spawnattr_destroy(&how);
  if (failed != 0) throw weft::error("cannot start " + command[0] + ": " + strerror(failed));
  in_place = pid;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  in_place = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace weft::tool
