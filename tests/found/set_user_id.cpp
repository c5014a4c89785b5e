// A program that runs with more rights than its caller wrote the files that WEFT_TRACE and WEFT_ORDER_LOG named, with
// its own rights: whoever may start it could replace any trace, and append to any file, of its owner's. It has no
// variables. Machines: own Creation: own Policies: own Workers: own Alone: it changes who it is
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "found.hpp"
#include "weft/weft.hpp"

namespace {

constexpr int skipped = 77, obeyed = 3;

// What the copy does, with the caller's variables.
int record() {
  if (::getauxval(AT_SECURE) == 0) return skipped;
  weft::runtime rt;
  rt.submit([] {});
  rt.wait();
  return rt.trace_path() != nullptr ? obeyed : 0;
}

// As nobody, who may start the copy but not write where it may.
int start_as_nobody(const std::string& copy, const std::string& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(skipped);
    ::setenv("WEFT_MACHINE", "virtual", 1);
    ::setenv("WEFT_TRACE", (folder + "/trace").c_str(), 1);
    ::setenv("WEFT_ORDER_LOG", (folder + "/log").c_str(), 1);
    ::execl(copy.c_str(), copy.c_str(), "record", nullptr);
    ::_exit(skipped);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

int main(int argc, char** argv) {
  if (word(argc, argv, 1, "") == "record") return record();
  if (::geteuid() != 0) {
    std::puts("skipped: only root can make a program that runs as somebody else");
    return 0;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "weft-suid-XXXXXX").string();
  require(::mkdtemp(folder.data()) != nullptr, "no temporary folder");
  const auto gone = [](const std::string* f) { std::filesystem::remove_all(*f); };
  const std::unique_ptr<const std::string, decltype(gone)> until_the_end(&folder, gone);
  const std::string copy = folder + "/copy", own = folder + "/own";
  std::filesystem::copy_file("/proc/self/exe", copy);
  require(::mkdir(own.c_str(), 0700) == 0, "no folder of its own");
  require(::chmod(folder.c_str(), 0755) == 0 && ::chmod(copy.c_str(), 04755) == 0, "no rights");
  const int status = start_as_nobody(copy, own);
  if (status == skipped) {
    std::puts("skipped: here no program runs as somebody else (nosuid, or a sandbox)");
    return 0;
  }
  require(status == 0, in_words("the program ended with ", status, status == obeyed ? ": it obeyed WEFT_TRACE" : ""));
  require(std::filesystem::is_empty(own), "it wrote where its caller may not");
}
