#include "page.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "ledger.hpp"

namespace faults {

namespace {

constexpr std::string_view begins = "<!-- table -->\n", ends = "<!-- end of the table -->\n";

// Empty: all there are.
struct entry {
  std::string_view front, machine, kind;
};
constexpr entry open_entries[] = {
    {"", "", "malloc"},         // hwloc and glibc end the program, or read what they did not get
    {"", "virtual", "memory"},  // the machine itself has no way back out of an access that needs a line
    {"", "virtual", "map"},     // the same of stacks
};

[[nodiscard]] std::string read(const std::string& path) {
  const std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
// What stands between the two marks; false: they are missing.
[[nodiscard]] bool find_table(const std::string& text, std::size_t& from, std::size_t& to) {
  from = text.find(begins);
  to = text.find(ends);
  if (from == std::string::npos || to == std::string::npos) return false;
  from += begins.size();
  return from <= to;
}
[[nodiscard]] std::string row_begin(std::string_view front, std::string_view machine) {
  return std::string("| `").append(front).append("` | ").append(machine).append(" |");
}
[[nodiscard]] bool complain(const std::string& path, const std::string& what) {
  std::fprintf(stderr, "%s: %s; write it anew with weft_faults --whole --open --write\n", path.c_str(), what.c_str());
  return false;
}

// Whether a row calls open what is.
[[nodiscard]] bool says_what_is_open(std::string_view row, std::string_view front, std::string_view machine) {
  std::size_t at = row_begin(front, machine).size();
  for (const std::string_view kind : call_names) {
    const std::size_t end = row.find('|', at);
    if (end == std::string_view::npos) return false;
    const bool is_said = row.substr(at, end - at).find("open") != std::string_view::npos;
    if (is_said != page::is_open(front, machine, kind)) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

bool page::is_open(std::string_view front, std::string_view machine, std::string_view kind) noexcept {
  for (const entry& e : open_entries)
    if ((e.front.empty() || e.front == front) && (e.machine.empty() || e.machine == machine) &&
        (e.kind.empty() || e.kind == kind))
      return true;
  return false;
}

void page::add(std::string_view front, std::string_view machine, const counts& points) {
  rows_ += row_begin(front, machine);
  for (std::size_t c = 0; c < std::size(points); ++c)
    rows_ += (points[c] == 0 ? std::string(" -") : " " + std::to_string(points[c])) +
             (is_open(front, machine, call_names[c]) ? " open |" : " |");
  rows_ += "\n";
}

bool page::write(const std::string& path) const {
  std::string text = read(path);
  std::size_t from = 0, to = 0;
  if (!find_table(text, from, to)) return complain(path, "it has no table");
  std::string head = "| front | machine |", line = "|---|---|";
  for (const std::string_view kind : call_names) head.append(" ").append(kind).append(" |"), line += "---|";
  text.replace(from, to - from, head + "\n" + line + "\n" + rows_);
  std::ofstream out(path);
  out << text;
  return static_cast<bool>(out.flush());
}

bool page::check(const std::string& path) {
  const std::string text = read(path);
  std::size_t from = 0, to = 0;
  if (!find_table(text, from, to)) return complain(path, "it has no table");
  const std::string table = text.substr(from, to - from);
  std::size_t rows = 0, count = 0;
  for (const char c : table) rows += c == '\n' ? 1 : 0;
  const front* const all = fronts(count);
  for (std::size_t i = 0; i < count; ++i)
    for (const std::string_view machine : machines) {
      const std::size_t at = table.find(row_begin(all[i].name, machine));
      if (at == std::string::npos)
        return complain(path, std::string("the front ") + all[i].name + " has no row for " + std::string(machine));
      const std::string row = table.substr(at, table.find('\n', at) - at);
      if (!says_what_is_open(row, all[i].name, machine))
        return complain(path, std::string("the row of ") + all[i].name + " on " + std::string(machine) +
                                  " does not call open what is");
    }
  if (rows != 2 + count * std::size(machines)) return complain(path, "it has rows for fronts that are no more");
  return true;
}

}  // namespace faults
