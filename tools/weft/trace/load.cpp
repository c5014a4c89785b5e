// See reader.hpp: a trace by its name, whether it was written or its program was killed.
#include <sys/stat.h>

#include <cstdio>

#include "../output.hpp"
#include "../scratch.hpp"
#include "reader.hpp"
#include "recover.hpp"
#include "weft/error.hpp"

namespace weft::tool::trace {

namespace {

// Of a program that was killed its trace has to be made; which journal, the user shall say.
file load_journal(const std::string& path, const std::function<void(double)>& tell) {
  const scratch folder("trace");
  const std::string made = (folder.path() / "recovered.weft").string();
  recover(path, made);
  file f = load_database(made, tell);
  f.path = path;
  return f;
}

}  // namespace

file load(const std::string& path, const std::function<void(double)>& tell) {
  if (is_journal(path)) return load_journal(path, tell);
  struct stat found {};
  const bool there = ::stat(path.c_str(), &found) == 0;
  const std::string left = !there || S_ISREG(found.st_mode) ? journal_of(path) : std::string();
  if (!left.empty() && !there)
    throw weft::error(path +
                      ": is not there; the program that was to write it was killed, and what it recorded is in " +
                      left + ": weft recover " + path + " makes the trace of it");
  if (!left.empty())
    std::fprintf(stderr, "weft: beside %s there is what another run recorded, which was killed: %s\n",
                 printable_lines(path).c_str(), printable_lines(left).c_str());
  return load_database(path, tell);
}

}  // namespace weft::tool::trace
