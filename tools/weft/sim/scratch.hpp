// A folder of its own, gone afterwards.
#pragma once
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "weft/error.hpp"

namespace weft::tool::sim {

class scratch {
 public:
  scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-sim-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw weft::error("cannot make a folder " + pattern + ": " + std::strerror(errno));
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

}  // namespace weft::tool::sim
