// A file while it is being written: beside the one that it becomes, and under its name only when it is whole.
//
// - Its own name is drawn at random, and it is made anew: nobody can lay a link there before, and two processes that
//   write one file - of one number, in two containers - have two.
// - It is locked while its writer has it open. So whoever comes later tells a file whose writer was killed from one
//   that is being written, and may remove it; the number of a process would not tell.
// - A file that grows beyond what the system allows is an error like a full disk, and no signal (quiet_writing).
#pragma once
#include <sys/types.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

class part_file {
 public:
  part_file() = default;  // none
  // Makes one for `path`, in the same folder. Errors: is_open() says false, and errno why.
  explicit part_file(const std::string& path, mode_t mode = 0666);
  // Removes it, unless it was given its name, or abandoned; a child after fork() removes nothing.
  ~part_file();
  part_file(const part_file&) = delete;
  part_file& operator=(const part_file&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return file_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Gives it the name `path`; what had that name is gone. Returns 0 or an errno.
  [[nodiscard]] int finish() noexcept;
  // It stays when this ends, as if its writer had been killed.
  void abandon() noexcept { abandoned_ = true; }

 private:
  std::string path_, name_;
  int file_ = -1;
  pid_t owner_ = 0;
  bool abandoned_ = false;
};

// The unfinished files of `path` whose writers are gone, this user's own. Where nobody can tell there are none.
[[nodiscard]] std::vector<std::string> abandoned_parts(const std::string& path);
// Whether somebody writes that open file, as far as anybody can tell.
[[nodiscard]] bool has_writer(int file) noexcept;
// Removes one of these, unless a writer has it after all.
void remove_abandoned(const std::string& part) noexcept;

// While this lives, SIGXFSZ does not reach the calling thread: the call that would have brought it fails with EFBIG.
class quiet_writing {
 public:
  quiet_writing() noexcept;
  ~quiet_writing();
  quiet_writing(const quiet_writing&) = delete;
  quiet_writing& operator=(const quiet_writing&) = delete;

 private:
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace weft::base
