// Weft's own table of tasks (docs/guide/48-import.md): the door for every system that has no format of its own here.
// Columns come in any order. One that is unknown is refused and not skipped: with "read" in place of "reads" there
// would be a graph, but not the one that was meant.
#include <algorithm>
#include <array>

#include "formats.hpp"
#include "table.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

constexpr std::array column_names = {"task", "name",       "duration", "priority", "reads", "writes",
                                     "adds", "concurrent", "after",    "start",    "worker"};

struct columns {
  int task, name, duration, priority, reads, writes, adds, concurrent, after, start, worker;
};

columns find(const source& from, const table_reader& t) {
  std::string all;
  for (const char* name : column_names) all += std::string(all.empty() ? "" : ", ") + name;
  for (const std::string& name : t.columns())
    if (std::ranges::find(column_names, std::string_view(name)) == column_names.end())
      from.fail_at(t.line(), "the column '" + printable(name, name_width_max) + "' is unknown; there are " + all);
  for (const char* name : {"task", "duration"})
    if (t.column(name) < 0) from.fail_at(t.line(), std::string("there is no column '") + name + "'");
  return {t.column("task"),  t.column("name"),   t.column("duration"), t.column("priority"),
          t.column("reads"), t.column("writes"), t.column("adds"),     t.column("concurrent"),
          t.column("after"), t.column("start"),  t.column("worker")};
}

// "x", or "x=800": of so many bytes.
index datum_of(graph& g, std::string_view word, std::uint32_t line) {
  const std::size_t equals = word.rfind('=');
  const index datum = g.datum_of(word.substr(0, equals));
  if (equals != std::string_view::npos)
    g.data[datum].bytes = g.from().count(word.substr(equals + 1), bytes_max, line, "bytes");
  return datum;
}

}  // namespace

bool is_csv(std::string_view text) {
  const std::string_view head = text.substr(0, text.find('\n'));
  const auto has = [head](std::string_view column) {
    for (std::size_t at = 0; at <= head.size();) {
      const std::size_t end = std::min(head.find(',', at), head.size());
      if (trimmed(head.substr(at, end - at)) == column) return true;
      at = end + 1;
    }
    return false;
  };
  return has("task") && (has("duration") || has("reads") || has("writes") || has("after"));
}

void read_csv(source& from, const reading& how, graph& into) {
  const double unit = how.unit_ns.value_or(1);
  table_reader t(from);
  const columns c = find(from, t);
  struct wish {
    index after;
    std::string before;
  };
  std::vector<wish> wishes;
  while (t.next()) {
    const std::uint32_t line = t.line();
    const std::string_view id = trimmed(t[c.task]);
    if (id.empty()) from.fail_at(line, "the task has no id");
    if (id.find_first_of(" \t;") != std::string_view::npos)
      from.fail_at(line, "the id '" + printable(id, name_width_max) +
                             "' has a space or a semicolon in it, which end a "
                             "word of `after`");
    const index task = into.add(id, trimmed(t[c.name]), from.duration(t[c.duration], unit, line, "duration"), line);
    const auto touches = [&](int column, mode m) {
      words(t[column], [&](std::string_view word) { into.access(task, datum_of(into, word, line), m); });
    };
    touches(c.reads, mode::read);
    touches(c.writes, mode::write);
    touches(c.adds, mode::add);
    touches(c.concurrent, mode::concurrent);
    if (!trimmed(t[c.priority]).empty())
      into.tasks[task].priority = from.count(t[c.priority], UINT32_MAX, line, "priority") != 0;
    if (!trimmed(t[c.start]).empty()) into.tasks[task].begin = from.moment(t[c.start], unit, line, "start");
    if (!trimmed(t[c.worker]).empty())
      into.tasks[task].worker = static_cast<index>(from.count(t[c.worker], workers_max - 1, line, "worker"));
    words(t[c.after], [&](std::string_view before) { wishes.push_back({task, std::string(before)}); });
    if (task % 16384 == 0) how.tell(t.share_read());
  }
  for (const wish& w : wishes) {
    const index before = into.find(w.before);
    if (before == none)
      from.fail_at(into.tasks[w.after].place, "task '" + printable(into.id_of(w.after), name_width_max) +
                                                  "' is to come after '" + printable(w.before, name_width_max) +
                                                  "', and there is no such task");
    into.order(before, w.after);
  }
}

}  // namespace weft::tool::foreign
