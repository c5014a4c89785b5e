// The files of a program that turns one into another: the input stays as it is, whatever fails, and the output is there
// whole or not at all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft::apps::pipeline {

class input_file {
 public:
  // Errors: weft::error if it cannot be read or is no plain file.
  explicit input_file(std::string path);
  ~input_file();
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  // when it was opened
  // Who: any thread. Errors: weft::error, also if the file has become shorter.
  void read(std::uint64_t from, std::span<char> to) const;
  // Whether a path leads to this file, by whatever name.
  [[nodiscard]] bool is_at(const std::string& path) const;

 private:
  std::string path_;
  int file_;
  std::uint64_t size_ = 0;
};

// Written under another name beside it, until it is whole.
class output_file {
 public:
  // Errors: weft::error if it cannot be written, or what is there is no plain file.
  explicit output_file(std::string path);
  ~output_file();  // without finish(), removes what was written
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  // Errors, of all: weft::error.
  void write(std::span<const char> bytes);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  void read(std::uint64_t from, std::span<char> to) const;
  void finish();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_, temporary_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace weft::apps::pipeline
