#include "page.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "ledger.hpp"

namespace faults {

namespace {

constexpr std::string_view begins = "<!-- table -->\n", ends = "<!-- end of the table -->\n";

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
  std::fprintf(stderr, "%s: %s; write it anew with weft_faults --whole --write\n", path.c_str(), what.c_str());
  return false;
}

// How many runs of a row fell; -1: it does not say.
[[nodiscard]] long fallen(const std::string& row) {
  std::size_t at = 0;
  for (int column = 0; column < 6; ++column) {
    at = row.find('|', at);
    if (at == std::string::npos) return -1;
    ++at;
  }
  return std::strtol(row.c_str() + at, nullptr, 10);
}

}  // namespace

void page::add(std::string_view front, std::string_view machine, const tally& t) {
  rows_ += row_begin(front, machine);
  for (const long n : {t.runs, t.right, t.told, t.fell}) rows_.append(" ").append(std::to_string(n)).append(" |");
  for (const long n : t.points) rows_.append(" ").append(n == 0 ? "-" : std::to_string(n)).append(" |");
  rows_ += "\n";
}

bool page::write(const std::string& path) const {
  std::string text = read(path);
  std::size_t from = 0, to = 0;
  if (!find_table(text, from, to)) return complain(path, "it has no table");
  std::string head = "| front | machine | runs | right | with an error | fell |", line = "|---|---|---|---|---|---|";
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
      if (fallen(row) != 0)
        return complain(path, std::string("runs of ") + all[i].name + " on " + std::string(machine) + " fell");
    }
  if (rows != 2 + count * std::size(machines)) return complain(path, "it has rows for fronts that are no more");
  return true;
}

}  // namespace faults
