// See sweep.hpp. A process writes lines to its pipe: "p 0.25", then "r " and the row.
#include "sweep.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::tool::sim {

namespace {

volatile std::sig_atomic_t interrupted = 0;
struct sigaction before_interruption;

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(to, text.data(), text.size());
    if (n < 0 && errno != EINTR) return;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

[[noreturn]] void be_child(int to, const point& p, const point_work& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::signal(SIGINT, SIG_DFL);
  json out;
  try {
    const worked done = work(p, [to](double part) { write_all(to, "p " + std::to_string(part) + "\n"); });
    out = {{"run", to_json(done.run)}, {"speedup", done.speedup}};
  } catch (const std::exception& e) {
    out = {{"error", e.what()}};
  }
  write_all(to, "r " + out.text() + "\n");
  std::fflush(stderr);
  ::_exit(0);
}

class sweeper {
 public:
  sweeper(const std::vector<point>& points, unsigned at_once, const point_work& work,
          const std::function<void(double)>& tell)
      : points_(points), at_once_(std::max(1u, at_once)), work_(work), tell_(tell), rows_(points.size()),
        done_(points.size(), 0) {
    for (std::size_t i = 0; i < points.size(); ++i) rows_[i].at = points[i];
  }
  ~sweeper() {
    for (const child& c : running_) {
      ::kill(c.pid, SIGTERM);
      ::close(c.from);
      ::waitpid(c.pid, nullptr, 0);
    }
  }
  sweeper(const sweeper&) = delete;
  sweeper& operator=(const sweeper&) = delete;

  std::vector<row> run() {
    std::size_t next = 0;
    while (!interruption::wanted() && (next < points_.size() || !running_.empty())) {
      while (next < points_.size() && running_.size() < at_once_) start(next++);
      listen();
    }
    if (interruption::wanted())
      for (row& r : rows_)
        if (r.run.workers == 0) r.error = "interrupted";
    return std::move(rows_);
  }

 private:
  struct child {
    pid_t pid;
    int from;
    std::size_t at;
    std::string text;
  };

  void start(std::size_t at) {
    std::array<int, 2> ends{};
    std::fflush(nullptr);
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw weft::error(std::string("whatif: no pipe: ") + std::strerror(errno));
    const pid_t pid = ::fork();
    if (pid < 0) throw weft::error(std::string("whatif: no process: ") + std::strerror(errno));
    if (pid == 0) {
      ::close(ends[0]);
      be_child(ends[1], points_[at], work_);
    }
    ::close(ends[1]);
    running_.push_back({pid, ends[0], at, {}});
  }

  void listen() {
    std::vector<pollfd> open;
    for (const child& c : running_) open.push_back({c.from, POLLIN, 0});
    if (::poll(open.data(), open.size(), -1) < 0) return;
    for (std::size_t i = open.size(); i-- > 0;)
      if (open[i].revents != 0 && !read_from(running_[i])) end(i);
    double sum = 0;
    for (const double d : done_) sum += d;
    tell_(sum / static_cast<double>(points_.size()));
  }

  // False at the end.
  bool read_from(child& c) {
    std::array<char, 4096> piece;
    const ssize_t n = ::read(c.from, piece.data(), piece.size());
    if (n > 0) c.text.append(piece.data(), static_cast<std::size_t>(n));
    for (std::size_t line; (line = c.text.find('\n')) != std::string::npos; c.text.erase(0, line + 1)) {
      if (c.text.starts_with("p ")) done_[c.at] = std::clamp(std::atof(c.text.c_str() + 2), 0.0, 1.0);
      if (c.text.starts_with("r ")) take(rows_[c.at], json::parse(c.text.substr(2, line - 2)));
    }
    return n > 0 || (n < 0 && errno == EINTR);
  }

  static void take(row& r, const json& j) {
    if (j.contains("error")) {
      r.error = j["error"].get<std::string>();
      return;
    }
    r.run = from_json(j["run"]);
    r.speedup = j["speedup"].get<double>();
  }

  void end(std::size_t i) {
    const child c = running_[i];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    ::close(c.from);
    int status = 0;
    while (::waitpid(c.pid, &status, 0) < 0 && errno == EINTR) {
    }
    done_[c.at] = 1;
    if (!rows_[c.at].error.empty() || rows_[c.at].run.workers != 0) return;
    rows_[c.at].error = WIFSIGNALED(status)
                            ? "ended by signal " + std::to_string(WTERMSIG(status)) + " (out of memory?)"
                            : "ended without a result";
  }

  const std::vector<point>& points_;
  const unsigned at_once_;
  const point_work& work_;
  const std::function<void(double)>& tell_;
  std::vector<row> rows_;
  std::vector<double> done_;
  std::vector<child> running_;
};

}  // namespace

std::vector<row> sweep(const std::vector<point>& points, unsigned at_once, const point_work& work,
                       const std::function<void(double)>& tell) {
  return sweeper(points, at_once, work, tell).run();
}

interruption::interruption() {
  interrupted = 0;
  struct sigaction ours {};
  ours.sa_handler = [](int) { interrupted = 1; };
  ::sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_RESETHAND;  // who asks twice means it; and no SA_RESTART: poll() is to come back
  ::sigaction(SIGINT, &ours, &before_interruption);
}
interruption::~interruption() { ::sigaction(SIGINT, &before_interruption, nullptr); }

bool interruption::wanted() noexcept { return interrupted != 0; }

void interruption::obey() {
  ::signal(SIGINT, SIG_DFL);
  ::raise(SIGINT);
}

settings settings_at(const point& p, settings asked) {
  asked.set("MACHINE", p.machine);
  asked.set("POLICY", p.policy);
  asked.set("CREATION", p.creation);
  asked.set("WORKERS", std::to_string(p.workers));
  return asked;
}

json to_json(const row& r) {
  json out = {{"machine", r.at.machine}, {"policy", r.at.policy}, {"creation", r.at.creation},
              {"grain", r.at.grain},     {"team", r.at.team},     {"workers", r.at.workers}};
  if (!r.error.empty()) {
    out["error"] = r.error;
    return out;
  }
  json run = to_json(r.run);
  run.update({{"machine", r.at.machine},
              {"policy", r.at.policy},
              {"creation", r.at.creation},
              {"grain", r.at.grain},
              {"team", r.at.team},
              {"workers", r.at.workers},
              {"speedup", r.speedup},
              {"efficiency", r.efficiency()}});
  out.update(std::move(run));
  return out;
}

}  // namespace weft::tool::sim
