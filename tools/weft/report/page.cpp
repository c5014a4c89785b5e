// See page.hpp.
#include "page.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "assets.hpp"
#include "columns.hpp"
#include "text.hpp"
#include "tools/weft/output_file.hpp"

namespace weft::tool::report {

namespace {

// JSON between script tags: nothing in it can end the element or begin a comment. ASCII only, so that no character is
// left that some reader could take for the end of a line.
std::string script_json(const json& value) {
  std::string out;
  for (const char c : value.text(-1, true)) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '&': out += "&amp;"; break;
    case '"': out += "&quot;"; break;
    default: out += c;
    }
  }
  return out;
}

// Columns by name, and beside them, in `directory`, what is needed to read them.
class column_set {
 public:
  void add(const char* name, const std::vector<std::int64_t>& values) {
    packed_column c = pack(values);
    directory_[name] = {{"base", c.base}, {"width", c.width}, {"count", c.count}};
    texts_.emplace_back(name, std::move(c.base64));
  }
  [[nodiscard]] const json& directory() const { return directory_; }
  void write(output_file& out) const {
    for (const auto& [name, text] : texts_) {
      out.put("<script type=\"text/plain\" id=\"column-" + name + "\">");
      out.put(text);
      out.put("</script>\n");
    }
  }

 private:
  json directory_ = json::object();
  std::vector<std::pair<std::string, std::string>> texts_;
};

using numbers = std::vector<std::int64_t>;

// Time since the last one ended, and length: small numbers, because rows are in the order of time.
struct intervals {
  numbers gap, length;
  ns last = 0;
  void row(ns begin) { last = begin; }
  void add(ns from, ns to) {
    gap.push_back(from - last);
    length.push_back(to - from);
    last = to;
  }
};

void add_pieces(const trace::file& r, const analysis& a, column_set& out, json& rows) {
  const pieces& p = a.parts;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < p.all.size(); ++i)
    if (p.all[i].worker < r.workers.size() && (p.all[i].task != none || p.all[i].length() > 0)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
    return std::tuple(p.all[x].worker, p.all[x].from, p.all[x].to) <
           std::tuple(p.all[y].worker, p.all[y].from, p.all[y].to);
  });
  numbers of_task, after;
  numbers counts(r.workers.size(), 0);
  std::vector<std::uint32_t> place(p.all.size(), none);
  intervals times;
  for (const std::uint32_t i : order) {
    const piece& x = p.all[i];
    if (counts[x.worker]++ == 0) times.row(p.begin);
    place[i] = static_cast<std::uint32_t>(of_task.size());
    of_task.push_back(x.task == none ? static_cast<std::int64_t>(r.tasks.size()) : x.task);
    times.add(x.from, x.to);
    after.push_back(x.wait == none ? 0 : 1 + static_cast<std::int64_t>(r.waits[x.wait].why));
  }
  out.add("piece_task", of_task);
  out.add("piece_gap", times.gap);
  out.add("piece_length", times.length);
  out.add("piece_after", after);
  numbers path;
  for (const step& s : a.path.steps)
    if (place[s.piece] != none) path.push_back(place[s.piece]);
  out.add("path", path);
  rows["pieces"] = counts;
}

void add_sleeps(const trace::file& r, const analysis& a, column_set& out, json& rows) {
  numbers counts(r.workers.size(), 0);
  intervals times;
  for (const trace::sleep& s : r.sleeps) {  // by worker, then time
    const ns from = std::max(s.from_ns, a.parts.begin), to = std::min(s.to_ns, a.parts.end);
    if (s.worker >= counts.size() || from >= to) continue;
    if (counts[s.worker]++ == 0) times.row(a.parts.begin);
    times.add(from, to);
  }
  out.add("sleep_gap", times.gap);
  out.add("sleep_length", times.length);
  rows["sleeps"] = counts;
}

void add_tasks(const trace::file& r, const analysis& a, column_set& out) {
  numbers id, name, parent, submitted, data, queue, result, near, placed;
  std::int64_t last_id = 0, last_submitted = 0;
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    const trace::task& x = r.tasks[t];
    id.push_back(x.id - last_id);
    name.push_back(a.names[t]);
    parent.push_back(x.parent == none ? 0 : 1 + std::int64_t{x.parent});
    submitted.push_back(x.submitted_ns - last_submitted);
    data.push_back(a.ready[t] - x.submitted_ns);
    queue.push_back(x.ran() ? std::max<ns>(0, x.started_ns - a.ready[t]) : 0);
    result.push_back(static_cast<std::int64_t>(x.result));
    near.push_back(std::int64_t{x.near} - trace::unhinted);
    placed.push_back((x.is_call ? 1 : 0) + (x.at_near >= 0 ? 2 : 0) + (x.at_near > 0 ? 4 : 0));
    last_id = x.id;
    last_submitted = x.submitted_ns;
  }
  out.add("task_id", id);
  out.add("task_name", name);
  out.add("task_parent", parent);
  out.add("task_submitted", submitted);
  out.add("task_data", data);
  out.add("task_queue", queue);
  out.add("task_result", result);
  out.add("task_near", near);
  out.add("task_placed", placed);
}

void add_accesses(const trace::file& r, column_set& out) {
  numbers per_task(r.tasks.size(), 0), handle, kind, version, step;
  for (const trace::access& x : r.accesses) {  // by task
    ++per_task[x.task];
    handle.push_back(x.handle);
    kind.push_back(x.kind);
    version.push_back(x.version == trace::no_version ? 0 : x.version);
    step.push_back(x.version == trace::no_version ? 0 : x.next_version - x.version);
  }
  out.add("task_accesses", per_task);
  out.add("access_handle", handle);
  out.add("access_kind", kind);
  out.add("access_version", version);
  out.add("access_step", step);
}

void add_counters(const trace::file& r, column_set& out) {
  numbers task, name, value;
  std::int64_t last = 0;
  for (const trace::counter& c : r.counters) {  // by task
    task.push_back(c.task - last);
    name.push_back(c.name);
    value.push_back(c.value);
    last = c.task;
  }
  out.add("counter_task", task);
  out.add("counter_name", name);
  out.add("counter_value", value);
}

json workers(const trace::file& r) {
  json all = json::array();
  for (const trace::worker& w : r.workers) all.push_back(w.place == none ? "" : r.places[w.place].name);
  return all;
}

// The page has marks, each once and in this order, where the parts go.
class page_template {
 public:
  explicit page_template(output_file& out) : out_(out) {}
  void until(std::string_view mark) {
    const std::size_t at = rest_.find(mark);
    assert(at != std::string_view::npos && "page.html has all marks");
    out_.put(rest_.substr(0, at));
    rest_.remove_prefix(at + mark.size());
  }
  void finish() { out_.put(rest_); }

 private:
  output_file& out_;
  std::string_view rest_ = assets::page_html;
};

json about_run(const trace::file& r, const analysis& a) {
  json handles = json::array();
  for (std::uint32_t h = 0; h < r.handles.size(); ++h) handles.push_back(r.handle_name(h));
  return {{"figures", to_json(r, a)}, {"begin", a.parts.begin},     {"end", a.parts.end},
          {"names", r.names},         {"kinds", r.kinds},           {"handles", std::move(handles)},
          {"workers", workers(r)},    {"counters", r.counter_names}};
}

}  // namespace

void write_page(const std::string& path, const trace::file& r, const analysis& a) {
  column_set columns;
  json run = about_run(r, a);
  json rows = json::object();
  add_pieces(r, a, columns, rows);
  add_sleeps(r, a, columns, rows);
  add_tasks(r, a, columns);
  add_accesses(r, columns);
  add_counters(r, columns);
  run["rows"] = rows;
  run["columns"] = columns.directory();
  output_file out("--html", path);
  page_template page(out);
  page.until("<!-- title -->");
  out.put(html_text(printable(r.about("program"), 200)));
  page.until("/* style */");
  out.put(assets::page_css);
  page.until("<!-- data -->");
  columns.write(out);
  out.put("<script type=\"application/json\" id=\"run\">" + script_json(run) + "</script>\n");
  page.until("/* script */");
  for (const std::string_view script : {assets::data_js, assets::coverage_js, assets::timeline_js, assets::curves_js,
                                        assets::selection_js, assets::page_js, assets::input_js})
    out.put(script);
  page.finish();
  out.finish();
}

}  // namespace weft::tool::report
