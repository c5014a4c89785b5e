// The files that the tool writes. Each appears under its name only when it is whole: until then it stands beside it
// under another name, so whatever fails - a full disk, a mistake, a signal - leaves what was there before. And none
// takes the place of what the same command reads.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/part_file.hpp"

namespace weft::tool {

// A file by the words that the command line has for it: {"--html", "run.html"}, {"the trace", "run.weft"}.
struct named_file {
  std::string what;
  std::string path;  // empty: it was not asked for
};

// Errors: weft::error if one of `written` is the same file as one of `read` or as another that is written, by whatever
// name: a symbolic or a hard link, too. Devices may be written by several.
void keep_apart(const char* command, const std::vector<named_file>& read, const std::vector<named_file>& written);

class output_file {
 public:
  // `option` names it in messages. "-" is standard output. What exists and is no plain file (a pipe, a device) is
  // written as it is. Errors: weft::error.
  output_file(std::string option, const std::string& path);
  ~output_file();  // without finish(), removes what was written
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  // Errors: weft::error, or output_error if standard output failed, at the latest from finish(): everything has then
  // reached the file.
  void put(std::string_view text);
  void finish();
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void open_beside(const std::string& path, bool exists);
  [[noreturn]] void fail(const char* what) const;

  std::string name_;                       // for messages
  std::unique_ptr<base::part_file> part_;  // none if the file needs no renaming
  std::FILE* file_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// All of a small file at once.
void write_whole(const std::string& option, const std::string& path, std::string_view text);

// Finds out before a long measurement whether a file can be written after it. Nothing is there afterwards that was not
// there before. Errors: weft::error.
void demand_writable(const std::string& option, const std::string& path);

}  // namespace weft::tool
