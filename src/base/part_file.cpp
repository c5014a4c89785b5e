#include "base/part_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/random.hpp"

namespace weft::base {

namespace {

constexpr std::string_view infix = ".part-";
constexpr std::size_t digits = 16;

// Where the system has no random numbers, the time: O_EXCL keeps files apart in any case.
[[nodiscard]] std::uint64_t drawn() noexcept {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto seed = static_cast<std::uint64_t>(now.tv_nsec) ^ static_cast<std::uint64_t>(now.tv_sec) << 30;
  return random(seed ^ static_cast<std::uint64_t>(::getpid()) << 48).next();
}

[[nodiscard]] bool is_part(std::string_view name, std::string_view of) noexcept {
  return name.size() == of.size() + infix.size() + digits && name.starts_with(of) &&
         name.substr(of.size()).starts_with(infix) &&
         name.find_first_not_of("0123456789abcdef", of.size() + infix.size()) == std::string_view::npos;
}

// Of the open file and not of the process: a runtime beside it in this process is a stranger, too.
[[nodiscard]] bool lock(int file) noexcept {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &whole) == 0;
}

// Of a file without a writer, with its lock; else -1.
[[nodiscard]] int open_abandoned(const char* part) noexcept {
  const int file = ::open(part, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat what {};
  if (::fstat(file, &what) == 0 && S_ISREG(what.st_mode) && what.st_uid == ::geteuid() && lock(file)) return file;
  ::close(file);
  return -1;
}

}  // namespace

part_file::part_file(const std::string& path, mode_t mode) : path_(path), owner_(::getpid()) {
  constexpr int tries_max = 100;
  for (int i = 0; i < tries_max; ++i) {
    char text[digits + 1];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(drawn()));
    name_ = path_ + std::string(infix) + text;
    file_ = ::open(name_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, mode);
    if (file_ < 0 && errno != EEXIST) return;
    if (file_ < 0) continue;
    static_cast<void>(lock(file_));  // a file system without locks: nobody else gets one either
    // Who removes what was abandoned may have come between the two.
    struct stat what {};
    if (::fstat(file_, &what) == 0 && what.st_nlink != 0) return;
    ::close(std::exchange(file_, -1));
  }
}

part_file::~part_file() {
  if (file_ < 0) return;
  if (!name_.empty() && !abandoned_ && owner_ == ::getpid()) ::unlink(name_.c_str());
  ::close(file_);
}

int part_file::finish() noexcept {
  if (std::rename(name_.c_str(), path_.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

std::vector<std::string> abandoned_parts(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  std::vector<std::string> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), &::closedir);
  if (entries == nullptr) return all;
  while (const dirent* const entry = ::readdir(entries.get())) {
    if (!is_part(entry->d_name, name)) continue;
    std::string part = path + (entry->d_name + name.size());
    const int file = open_abandoned(part.c_str());
    if (file < 0) continue;
    ::close(file);
    all.push_back(std::move(part));
  }
  return all;
}

bool has_writer(int file) noexcept {
  struct flock whole {};
  whole.l_type = F_RDLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

void remove_abandoned(const std::string& part) noexcept {
  const int file = open_abandoned(part.c_str());
  if (file < 0) return;
  ::unlink(part.c_str());
  ::close(file);
}

quiet_writing::quiet_writing() noexcept {
  sigset_t pending;
  ::sigpending(&pending);
  was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
  sigset_t this_one;
  ::sigemptyset(&this_one);
  ::sigaddset(&this_one, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &this_one, &before_);
}

quiet_writing::~quiet_writing() {
  const int kept = errno;
  sigset_t this_one;
  ::sigemptyset(&this_one);
  ::sigaddset(&this_one, SIGXFSZ);
  const timespec at_once{};
  if (!was_pending_)
    while (::sigtimedwait(&this_one, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = kept;
}

}  // namespace weft::base
