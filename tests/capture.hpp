// What a piece of the program prints on stderr: for the few messages that cannot be thrown. If the process ends in
// there, what a sanitizer said ends with it: ASAN_OPTIONS=log_path=FILE keeps it.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <string>

template <class Work> std::string stderr_of(Work work) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return "no temporary file";
  std::fflush(stderr);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  work();
  std::fflush(stderr);
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  std::string text(static_cast<std::size_t>(::lseek(::fileno(file), 0, SEEK_END)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}
