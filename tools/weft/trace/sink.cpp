// See export.hpp.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "../output.hpp"
#include "export.hpp"
#include "weft/error.hpp"

namespace weft::tool::trace {

sink::sink(const std::string& path) : path_(path == "-" ? "standard output" : path) {
  if (path == "-") {
    file_ = stdout;
    return;
  }
  struct stat found;
  const bool exists = ::stat(path.c_str(), &found) == 0;
  if (exists && !S_ISREG(found.st_mode)) {
    file_ = std::fopen(path.c_str(), "wb");
    if (file_ == nullptr) fail("cannot open");
    return;
  }
  // Renaming over a symbolic link would replace the link.
  char resolved[PATH_MAX];
  target_ = exists && ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
  temporary_ = target_ + ".part";
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) fail("cannot create");
}

sink::~sink() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void sink::fail(const char* what) const {
  const std::string text = path_ + ": " + what + ": " + std::strerror(errno);
  if (file_ == stdout) throw output_error(text);  // then an error cannot be told there either
  throw weft::error(text + "; nothing was written");
}

void sink::put(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot write");
  bytes_ += text.size();
}

void sink::finish() {
  errno = 0;
  if (std::fflush(file_) != 0) fail("cannot write");
  if (file_ == stdout) return;
  std::FILE* const file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) fail("cannot write");
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be given its name");
  temporary_.clear();
}

}  // namespace weft::tool::trace
