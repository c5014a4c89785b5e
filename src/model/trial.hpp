// Work that may end the process: tried out in a copy of it first. hwloc asserts things about the XML it reads, and
// follows pointers that a damaged file leaves empty, so its failures cannot be caught where they happen.
#pragma once
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <cerrno>

namespace weft::model {

// Whether a copy of this process comes to the end of `work`, or out of it by an exception. True also where no copy can
// be made: then nothing is known. Cost: a fork, about a millisecond. Who: a process whose other threads hold no lock
// that `work` takes, but for malloc's own.
template <class Work> [[nodiscard]] bool survives(const Work& work) {
  constexpr rlim_t seconds_max = 20;  // a damaged file may also keep its reader busy for ever
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return true;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0}, time{seconds_max, seconds_max};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_CPU, &time);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);  // what is said is said by who does the work then
    if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
    try {
      work();
    } catch (...) {  // an exception is no end of the process: it comes again when the work is done for good
    }
    const bool told = ::write(ends[1], "", 1) == 1;
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  char byte = 0;
  ssize_t got = child < 0 ? 1 : 0;
  while (child > 0 && (got = ::read(ends[0], &byte, 1)) < 0 && errno == EINTR) {
  }
  ::close(ends[0]);
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return got == 1;
}

}  // namespace weft::model
