#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "weft/error.hpp"

namespace weft::apps::pipeline {

namespace {

// 0, the error, or -1 if the file ends too early.
int read_all(int file, std::uint64_t from, std::span<char> to) noexcept {
  while (!to.empty()) {
    const ssize_t n = ::pread(file, to.data(), to.size(), static_cast<off_t>(from));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : -1;
    from += static_cast<std::uint64_t>(n);
    to = to.subspan(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace

input_file::input_file(std::string path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) throw error("--input " + path_ + ": " + std::strerror(errno));
  struct stat found {};
  if (::fstat(file_, &found) == 0 && S_ISREG(found.st_mode)) {
    size_ = static_cast<std::uint64_t>(found.st_size);
    return;
  }
  ::close(file_);
  throw error("--input " + path_ + " is no plain file; its size must be known, and any part of it readable");
}

input_file::~input_file() { ::close(file_); }

void input_file::read(std::uint64_t from, std::span<char> to) const {
  const int code = read_all(file_, from, to);
  if (code == 0) return;
  throw error(
      "--input " + path_ +
      (code > 0 ? std::string(": ") + std::strerror(code) : " became shorter while it was read; nothing was written"));
}

bool input_file::is_at(const std::string& path) const {
  struct stat mine {};
  struct stat other {};
  return ::fstat(file_, &mine) == 0 && ::stat(path.c_str(), &other) == 0 && mine.st_dev == other.st_dev &&
         mine.st_ino == other.st_ino;
}

output_file::output_file(std::string path) : path_(std::move(path)) {
  struct stat found {};
  const bool exists = ::stat(path_.c_str(), &found) == 0;
  if (exists && !S_ISREG(found.st_mode))
    throw error("--output " + path_ + " is there and is no plain file; give another name");
  // Renaming over a symbolic link would replace the link, and would not ask whether the file may be written.
  if (char* const resolved = exists ? ::realpath(path_.c_str(), nullptr) : nullptr; resolved != nullptr) {
    path_ = resolved;
    std::free(resolved);
  }
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail("cannot be written");
  const mode_t mode = exists ? found.st_mode & 0777 : 0666;
  // Anew, under a name that nobody can foresee: what is there already is a stranger's.
  std::random_device draw;
  std::string wanted;
  for (int tries = 0; tries < 100 && file_ < 0; ++tries) {
    wanted = path_ + ".part-" + std::to_string(draw()) + std::to_string(draw());
    file_ = ::open(wanted.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode);
    if (file_ < 0 && errno != EEXIST) break;
  }
  if (file_ < 0) fail("cannot be made");
  temporary_ = wanted;
  if (exists) static_cast<void>(::fchmod(file_, mode));  // as open as it was, whatever the umask says
}

output_file::~output_file() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void output_file::fail(const char* what) const {
  throw error("--output " + path_ + " " + what + ": " + std::strerror(errno) + "; nothing was written");
}

void output_file::write(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written");
    size_ += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void output_file::read(std::uint64_t from, std::span<char> to) const {
  const int code = read_all(file_, from, to);
  if (code == 0) return;
  errno = code > 0 ? code : EIO;
  fail("cannot be read again");
}

void output_file::finish() {
  if (::close(std::exchange(file_, -1)) != 0) fail("cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be given its name");
  temporary_.clear();
}

}  // namespace weft::apps::pipeline
