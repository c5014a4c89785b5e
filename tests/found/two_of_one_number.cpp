// Two processes of one number, in two containers that share a volume, record to one name: they had one unfinished file
// and destroyed each other's trace, so that there was none in the end, or one that no tool reads. The last that is
// whole stays. Machines: own Creation: own Policies: own Workers: own
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "found.hpp"
#include "weft/weft.hpp"

namespace {

void record(const std::string& path, int round) {
  weft::runtime rt({.workers = 2, .machine = "virtual", .trace = path.c_str()});
  for (int i = 0; i < 200 + 100 * (round % 3); ++i) rt.submit([] {});
  rt.wait();
  rt.write_trace();  // throws if there is none
}

// A process that has the number 1, in a container of its own.
pid_t contained(const std::string& path, int round) {
  const auto child =
      static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child != 0) return child;
  record(path, round);
  ::_exit(::getpid() == 1 ? 0 : 2);
}

}  // namespace

int main() {
  if (sanitized) return 0;  // a sanitizer does not survive such a clone
  std::string folder = (std::filesystem::temp_directory_path() / "weft-two-XXXXXX").string();
  require(::mkdtemp(folder.data()) != nullptr, "no temporary folder");
  const std::string path = folder + "/run.weft";
  bool can = true;
  for (int round = 0; round < 8 && can; ++round) {
    const pid_t a = contained(path, round), b = contained(path, round + 1);
    can = a > 0 && b > 0;
    for (const pid_t child : {a, b}) {
      int status = 0;
      if (child <= 0) continue;
      const bool ended = ::waitpid(child, &status, 0) == child && status == 0;
      require(ended, in_words("a process ended with ", status));
    }
    if (!can) break;
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    require(bytes.starts_with("SQLite format 3"), "there is no trace");
    // The header says how many pages of how many bytes there are.
    const auto at = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
    const std::size_t page = at(16) << 8 | at(17), pages = at(28) << 24 | at(29) << 16 | at(30) << 8 | at(31);
    require(page * pages == bytes.size(), "the trace is not whole");
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      require(entry.path() == path, "left: " + entry.path().string());
    std::filesystem::remove(path);
  }
  if (!can) std::puts("skipped: no process of a number of its own can be made here");
  std::filesystem::remove_all(folder);
}
