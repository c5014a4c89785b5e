// See machine_text.hpp. Every number says where it is from: measured here, or assumed and why.
#include "machine_text.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "../output_file.hpp"

namespace weft::tool::calibrate {

namespace {

std::string number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

std::string ns(std::uint64_t ps) { return number(static_cast<double>(ps) / 1000); }

// A text of TOML; what would end it early is left out.
std::string quoted(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; });
  return "\"" + text + "\"";
}

// XML as a literal text of TOML, which ends at the first single quote and, in machine files, has one line. What stands
// before the first element says nothing here, and hwloc without libxml2 wants it on lines of its own.
std::string on_one_line(const std::string& xml) {
  std::string text;
  for (const char c : xml.substr(std::min(xml.find("<topology"), xml.size()))) {
    if (c == '\'')
      text += "&apos;";
    else
      text += c == '\n' ? ' ' : c;
  }
  return "'" + text + "'";
}

std::string list(const std::vector<std::uint64_t>& ps) {
  std::string text;
  for (const std::uint64_t one : ps) text += (text.empty() ? "" : ", ") + ns(one);
  return "[" + text + "]";
}

// Figures taken from far and near may cross by noise, and a file may not say that distance makes things cheaper.
std::vector<std::uint64_t> rising(std::vector<std::uint64_t> ps) {
  for (std::size_t i = 1; i < ps.size(); ++i) ps[i] = std::max(ps[i], ps[i - 1]);
  return ps;
}

class writer {
 public:
  writer(const assembled& a, const std::string& date) : a_(a), m_(a.machine), date_(date) {}

  std::string text() {
    head();
    lines();
    runtime();
    memory();
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }
  // "key = { unit = value, from = ..., why = ... }"
  void put(const char* key, const std::string& unit, const std::string& value, const std::string& source) {
    const auto found = a_.source.find(source);
    const std::string how = found != a_.source.end() ? found->second : "assumed: a default";
    const bool measured = how.starts_with("measured");
    const std::size_t colon = how.find(": ");
    const std::string why = colon == std::string::npos ? how : how.substr(colon + 2);
    line(std::string(key) + " = { " + unit + " = " + value + ", from = " + (measured ? "\"here\"" : "\"assumed\"") +
         ", why = " + quoted(why) + " }");
  }

  void head() {
    line("# This computer as `weft calibrate` measured it. `why` says how each number came about.");
    line("summary = " + quoted(m_.summary));
    put("clock", "GHz", number(m_.ghz), "clock");
    if (m_.speed_when_shared < 1) put("shared_speed", "x", number(m_.speed_when_shared), "speed_when_shared");
    if (m_.speed_when_busy < 1) put("busy_speed", "x", number(m_.speed_when_busy), "speed_when_busy");
    line("\n[topology]\nfrom = \"here\"");
    line(a_.xml.empty() ? "hwloc = " + quoted(m_.topology) : "xml = " + on_one_line(a_.xml));
    line("\n[sources]\nhere = { text = " + quoted("weft calibrate on this computer: " + m_.summary) +
         ", date = " + quoted(date_) + " }");
    if (m_.apart.size() > 1) apart();
  }

  void apart() {
    line("\n[apart]\nfrom = \"here\"\nmatrix = [");
    for (const std::vector<unsigned>& row : m_.apart) {
      std::string numbers;
      for (const unsigned c : row) numbers += (numbers.empty() ? "" : ", ") + std::to_string(c);
      line("  [" + numbers + "],");
    }
    line("]");
  }

  void lines() {
    const model::line_costs& l = m_.lines;
    line("\n[lines]");
    put("load", "ns", ns(l.load_ps), "lines.load_ps");
    put("store", "ns", ns(l.store_ps), "lines.store_ps");
    put("modify", "ns", ns(l.modify_ps), "lines.modify_ps");
    put("memory", "ns", list(rising(l.memory_ps)), "lines.memory_ps");
    put("kept", "count", std::to_string(l.kept), "lines.kept");
    const std::vector<std::uint64_t> ps = rising(l.transfer_ps);
    line("\n[lines.transfer]");
    put("inner", "ns", ns(ps[1]), "lines.transfer.1");
    put("outer", "ns", ns(ps[2]), "lines.transfer.2");
    put("node", "ns", list({ps.begin() + 3, ps.end()}), "lines.transfer.3");
  }

  void runtime() {
    const model::runtime_costs& r = m_.runtime;
    line("\n[runtime]");
    for (std::size_t i = 0; i < model::steps; ++i)
      put(step_names[i], "ns", ns(r.step_ps[i]), std::string("runtime.steps.") + step_names[i]);
    put("relax", "ns", ns(r.relax_ps), "runtime.relax_ps");
    put("switch", "ns", ns(r.switch_ps), "runtime.switch_ps");
    put("body", "ns", ns(r.body_ps), "runtime.body_ps");
    put("sleep", "ns", ns(r.sleep_ps), "runtime.sleep_ps");
    put("waker", "ns", ns(r.waker_ps), "runtime.waker_ps");
    put("wake", "ns", ns(r.wake_ps), "runtime.wake_ps");
  }

  void memory() {
    const model::memory_costs& m = m_.memory;
    line("\n[memory]");
    put("controller", "GBps", number(m.controller_bytes_per_ns), "memory.controller_bytes_per_ns");
    if (m_.classes > 1) {
      std::string rates;
      for (std::size_t c = 1; c < m.link_bytes_per_ns.size(); ++c)
        rates += (rates.empty() ? "" : ", ") + number(m.link_bytes_per_ns[c]);
      put("link", "GBps", "[" + rates + "]", "memory.link_bytes_per_ns");
    }
    put("read_line", "ns", list(rising(m.read_line_ps)), "memory.read_line_ps");
    put("write_line", "ns", list(rising(m.write_line_ps)), "memory.write_line_ps");
    put("lines_in_flight", "count", number(m.lines_in_flight), "memory.lines_in_flight");
    constexpr const char* who[] = {"core", "inner", "outer"};
    for (const model::cache& c : m.caches) {
      line("\n[[memory.caches]]\nshared_by = " + quoted(who[static_cast<std::size_t>(c.who)]));
      put("size", "KiB", number(static_cast<double>(c.bytes) / 1024), "memory.sizes");
      put("rate", "GBps", number(c.bytes_per_ns), "memory.rate." + std::to_string(c.bytes));
    }
  }

  const assembled& a_;
  const model::machine& m_;
  const std::string date_;
  std::string text_;
};

}  // namespace

std::string machine_text(const assembled& a, const std::string& date, const std::string& unusable) {
  return (unusable.empty() ? "" : "unusable = " + quoted(unusable) + "\n") + writer(a, date).text();
}

void write_machine(const std::string& file, const assembled& a, const std::string& date, const std::string& unusable) {
  write_whole("--out", file, machine_text(a, date, unusable));
}

}  // namespace weft::tool::calibrate
