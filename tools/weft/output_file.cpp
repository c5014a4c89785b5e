// See output_file.hpp.
#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "output.hpp"
#include "weft/error.hpp"

namespace weft::tool {

namespace {

// By what they are if both are there, else by where they would be.
bool same_file(const std::string& a, const std::string& b) {
  struct stat x {};
  struct stat y {};
  const bool has_a = ::stat(a.c_str(), &x) == 0, has_b = ::stat(b.c_str(), &y) == 0;
  if (has_a && has_b) return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  if (has_a || has_b) return false;
  std::error_code bad;
  const std::filesystem::path p = std::filesystem::weakly_canonical(a, bad);
  if (bad) return a == b;
  const std::filesystem::path q = std::filesystem::weakly_canonical(b, bad);
  return bad ? a == b : p == q;
}

}  // namespace

void keep_apart(const char* command, const std::vector<named_file>& read, const std::vector<named_file>& written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const named_file& out = written[i];
    if (out.path.empty() || out.path == "-") continue;
    const auto refuse = [&](const named_file& other, const char* how) {
      if (other.path.empty() || !same_file(out.path, other.path)) return;
      throw weft::error(std::string(command) + ": " + out.what + " " + out.path + how + other.what + " " + other.path +
                        "; give it another name");
    };
    for (const named_file& in : read) refuse(in, " would replace ");
    for (std::size_t k = 0; k < i; ++k) refuse(written[k], " is the same file as ");
  }
}

output_file::output_file(std::string option, const std::string& path)
    : name_(path == "-" ? "standard output" : std::move(option) + " " + path) {
  if (path == "-") {
    file_ = stdout;
    return;
  }
  struct stat found {};
  const bool exists = ::stat(path.c_str(), &found) == 0;
  if (exists && !S_ISREG(found.st_mode)) {
    file_ = std::fopen(path.c_str(), "wb");
    if (file_ == nullptr) fail("cannot open");
    return;
  }
  open_beside(path, exists);
}

void output_file::open_beside(const std::string& path, bool exists) {
  // Renaming over a symbolic link would replace the link.
  char resolved[PATH_MAX];
  const std::string target = exists && ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
  errno = 0;
  if (exists && ::access(target.c_str(), W_OK) != 0) fail("cannot write");  // a rename would not ask
  struct stat before {};
  const mode_t mode = exists && ::stat(target.c_str(), &before) == 0 ? before.st_mode & 0777 : 0666;
  auto part = std::make_unique<base::part_file>(target, mode);
  if (!part->is_open()) fail("cannot create");
  for (const std::string& left : base::abandoned_parts(target)) base::remove_abandoned(left);
  if (exists) static_cast<void>(::fchmod(part->descriptor(), mode));       // as open as it was, whatever the umask says
  const int descriptor = ::fcntl(part->descriptor(), F_DUPFD_CLOEXEC, 0);  // the part keeps its own, and so the lock
  file_ = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  if (file_ == nullptr) {
    if (descriptor >= 0) ::close(descriptor);
    fail("cannot open");
  }
  part_ = std::move(part);
}

output_file::~output_file() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void output_file::fail(const char* what) const {
  const std::string text = name_ + ": " + what + ": " + std::strerror(errno);
  if (file_ == stdout) throw output_error(text);  // then an error cannot be told there either
  throw weft::error(text + "; nothing was written");
}

void output_file::put(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot write");
  bytes_ += text.size();
}

void output_file::finish() {
  errno = 0;
  if (std::fflush(file_) != 0) fail("cannot write");
  if (file_ == stdout) return;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("cannot write");
  if (part_ == nullptr) return;
  errno = part_->finish();
  if (errno != 0) fail("cannot be given its name");
}

void write_whole(const std::string& option, const std::string& path, std::string_view text) {
  output_file out(option, path);
  out.put(text);
  out.finish();
}

void demand_writable(const std::string& option, const std::string& path) {
  if (!path.empty()) static_cast<void>(output_file(option, path));
}

}  // namespace weft::tool
