// A folder of its own, gone afterwards.
#pragma once
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "weft/error.hpp"

namespace weft::tool {

class scratch {
 public:
  // Errors: weft::error that names the place, and the variable that says where.
  explicit scratch(const char* command) {
    std::error_code bad;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(bad);
    const auto refuse = [&](const std::string& why) {
      const char* const set = std::getenv("TMPDIR");
      throw weft::error(std::string(command) + ": cannot make a folder for temporary files in " +
                        (set != nullptr ? set : "/tmp") + ": " + why + "; TMPDIR says where they go");
    };
    if (bad) refuse(bad.message());
    std::string pattern = (folder / ("weft-" + std::string(command) + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) refuse(std::strerror(errno));
    path_ = pattern;
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft::tool
