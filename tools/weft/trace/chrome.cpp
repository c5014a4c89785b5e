// The JSON of chrome://tracing ("Trace Event Format"): one array of events, written one by one. Only texts need a JSON
// library's care, and there are few different ones, so they are prepared once; all else is whole numbers.
#include "export.hpp"
#include "tools/weft/json.hpp"

namespace weft::tool::trace {

namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

std::string quoted(const std::string& text) { return json(text).text(); }

// Microseconds, the unit of the format, with all three decimals that nanoseconds have: a double would not hold the
// nanoseconds of a long run.
std::string micros(std::int64_t ns) {
  std::string out = std::to_string(ns / 1000) + ".000";
  for (std::size_t i = 1, rest = static_cast<std::size_t>(ns % 1000); i <= 3; ++i, rest /= 10)
    out[out.size() - i] = static_cast<char>('0' + rest % 10);
  return out;
}

class chrome_writer {
 public:
  chrome_writer(const file& f, const timeline_options& opt, sink& out)
      : f_(f), time_(f), flows_(f, time_, opt), out_(out) {
    for (const std::string& n : f.names) names_.push_back(quoted(n));
    for (const std::string& n : f.counter_names) counters_.push_back(quoted(n));
  }

  written write() {
    buffer_ = "{\"displayTimeUnit\":\"ns\",\"otherData\":{";
    for (const auto& [key, value] : f_.meta) separated(quoted(key) + ":" + quoted(value));
    buffer_ += "},\"traceEvents\":[";
    first_ = true;
    const std::string program = f_.about("program");
    const std::string title = (program.empty() ? "weft" : program) + " (" + f_.about("machine") + ")";
    separated("\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":" + quoted(title) + "}}");
    for (std::size_t w = 0; w < f_.workers.size(); ++w)
      separated("\n{\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(w + 1) +
                ",\"name\":\"thread_name\",\"args\":{\"name\":\"worker " + std::to_string(f_.workers[w].id) + "\"}}");
    for (std::size_t s = 0; s < time_.slices.size(); ++s) write_slice(s);
    write_counter(time_.running, "running workers");
    write_counter(time_.live, "live tasks");
    buffer_ += "\n]}\n";
    flush();
    return {time_.slices.size(), flows_.count()};
  }

 private:
  // One element of an object or array.
  void separated(const std::string& text) {
    if (!first_) buffer_ += ',';
    first_ = false;
    buffer_ += text;
    if (buffer_.size() >= buffer_bytes) flush();
  }

  void flush() {
    out_.put(buffer_);
    buffer_.clear();
  }

  void write_slice(std::size_t s) {
    const slice& of = time_.slices[s];
    const std::string at = ",\"pid\":1,\"tid\":" + std::to_string(of.worker + 1) + ",\"ts\":" + micros(of.from_ns);
    std::string text = "\n{\"ph\":\"X\"" + at + ",\"dur\":" + micros(of.to_ns - of.from_ns);
    if (of.kind == slice::what::main_thread)
      text += ",\"cat\":\"main\",\"name\":\"main\"}";
    else if (of.kind == slice::what::sleep)
      text += ",\"cat\":\"sleep\",\"name\":\"sleep\"}";
    else
      text += described(of);
    separated(text);
    // An arrow leaves and reaches the slice that encloses its moment, on the same track: the begin is inside of it.
    for (const std::uint32_t id : flows_.out(s)) write_flow("\"s\"", at, id);
    for (const std::uint32_t id : flows_.in(s)) write_flow("\"f\",\"bp\":\"e\"", at, id);
  }

  void write_flow(const char* phase, const std::string& at, std::uint32_t id) {
    separated(std::string("\n{\"ph\":") + phase + at + ",\"id\":" + std::to_string(id) +
              ",\"cat\":\"dependency\",\"name\":\"dependency\"}");
  }

  std::string described(const slice& of) const {
    const task& t = f_.tasks[of.task];
    std::string text = ",\"cat\":\"task\",\"name\":" + (t.name == none ? "\"task\"" : names_[t.name]) +
                       ",\"args\":{\"task\":" + std::to_string(t.id);
    if (t.parent != none) text += ",\"parent\":" + std::to_string(f_.tasks[t.parent].id);
    if (t.result != outcome::done) text += std::string(",\"outcome\":\"") + trace::text(t.result) + "\"";
    if (of.first) {
      if (const index victim = time_.stolen_from[of.task]; victim != none)
        text += ",\"stolen_from\":" + std::to_string(f_.workers[victim].id);
      std::string counts;
      for (const counter& c : counters_of(f_, of.task))
        counts += (counts.empty() ? "" : ",") + counters_[c.name] + ":" + std::to_string(c.value);
      if (!counts.empty()) text += ",\"counters\":{" + counts + "}";
    }
    return text + "}}";
  }

  void write_counter(const std::vector<sample>& samples, const char* name) {
    for (const sample& s : samples)
      separated("\n{\"ph\":\"C\",\"pid\":1,\"ts\":" + micros(s.time_ns) + ",\"name\":\"" + name +
                "\",\"args\":{\"value\":" + json(s.value).text() + "}}");
  }

  const file& f_;
  timeline time_;
  flows flows_;
  sink& out_;
  std::vector<std::string> names_, counters_;  // as JSON texts
  std::string buffer_;
  bool first_ = true;
};

}  // namespace

written write_chrome(const file& f, const timeline_options& opt, sink& out) {
  return chrome_writer(f, opt, out).write();
}

}  // namespace weft::tool::trace
