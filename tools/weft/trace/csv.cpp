// A trace as the table that `weft import` reads (docs/guide/48-import.md): the way back, and the way on, to whatever
// reads tables. It holds what a graph of tasks has. What is not in it is counted.
#include <algorithm>

#include "export.hpp"
#include "tools/weft/json.hpp"

namespace weft::tool::trace {

namespace {

// In quotes, with those in it doubled.
std::string field(const std::string& text) {
  std::string out = "\"";
  for (const char c : valid_utf8(text)) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// By the flags of a kind, which are all that matters for the order; none: it orders nothing.
enum column : std::size_t { reads, writes, adds, concurrent, columns };
column column_of(const kind_flags& k) noexcept {
  if (k.readonly) return reads;
  if (!k.commutative || !k.known) return writes;
  return k.exclusive ? adds : concurrent;
}

std::string datum(const file& f, index h) {
  std::string text = "h" + std::to_string(f.handles[h].id);
  if (f.handles[h].bytes > 0) text += "=" + std::to_string(f.handles[h].bytes);
  return text;
}

}  // namespace

table_size write_table(const file& f, output_file& out, const std::function<void(double)>& tell) {
  table_size size;
  // Tasks that lie in each other on one worker have no times that a table of tasks could hold.
  const bool timed = std::ranges::all_of(f.tasks, [](const task& t) { return t.parent == none && !t.is_call; });
  out.put(std::string("task,name,duration,priority,reads,writes,adds,concurrent") + (timed ? ",start,worker\n" : "\n"));
  std::size_t a = 0;
  for (index t = 0; t < f.tasks.size(); ++t) {
    if (tell && t % 4096 == 0) tell(static_cast<double>(t) / static_cast<double>(f.tasks.size()));
    const task& x = f.tasks[t];
    std::string lists[columns];
    for (; a < f.accesses.size() && f.accesses[a].task == t; ++a) {
      if (f.accesses[a].next_version == no_version) {
        ++size.resources;
        continue;
      }
      std::string& list = lists[column_of(f.flags[f.accesses[a].kind])];
      list += (list.empty() ? "" : " ") + datum(f, f.accesses[a].handle);
    }
    if (!x.ran()) {
      ++size.not_run;
      continue;
    }
    size.nested += x.parent != none ? 1 : 0;
    std::string line = "t" + std::to_string(x.id) + "," + (x.name == none ? "" : field(f.names[x.name])) + "," +
                       std::to_string(x.finished_ns - x.started_ns) + "," + (x.priority ? "1" : "0");
    for (const std::string& list : lists) line += "," + list;
    if (timed) line += "," + std::to_string(x.started_ns) + "," + std::to_string(f.workers[x.worker].id);
    out.put(line + "\n");
    ++size.tasks;
  }
  return size;
}

}  // namespace weft::tool::trace
