// OpenMetrics text: one family after the other, each with its samples, and "# EOF" behind the last.
#include <functional>

#include "tools/weft/output.hpp"
#include "view.hpp"

namespace weft::tool {

namespace {

using trace::live_row;

// Between quotes only these three have to be written otherwise.
[[nodiscard]] std::string label_value(std::string_view value) {
  std::string text = "\"";
  for (const char c : valid_utf8(value)) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text + '"';
}

// Seconds with every digit of the nanoseconds that were counted: a double would lose them after some months.
[[nodiscard]] std::string exact_seconds(std::uint64_t ns) {
  std::string digits = std::to_string(ns);
  if (digits.size() < 10) digits.insert(0, 10 - digits.size(), '0');
  return digits.insert(digits.size() - 9, ".");
}

class exposition {
 public:
  exposition(const watched_program& program, std::span<const live_answer> runtimes)
      : of_("pid=\"" + std::to_string(program.process()) + "\",program=" + label_value(program.name())),
        runtimes_(runtimes) {}

  // A family begins. unit: "" or what the name ends in.
  void family(const char* name, const char* type, const char* unit, const char* help) {
    name_ = name;
    text_ += "# TYPE " + name_ + " " + type + "\n";
    if (*unit != '\0') text_ += "# UNIT " + name_ + " " + unit + "\n";
    text_ += "# HELP " + name_ + " " + help + "\n";
    suffix_ = std::string_view(type) == "counter" ? "_total" : "";
  }
  void each_runtime(const std::function<std::string(const live_answer&)>& value) {
    for (const live_answer& a : runtimes_) sample(labels(a), value(a));
  }
  void each_worker(const std::function<std::string(const live_row&)>& value) {
    for (const live_answer& a : runtimes_)
      for (const live_row& r : a.rows) sample(labels(a, r), value(r));
  }
  void each_state(const std::function<std::string(const live_row&, std::size_t)>& value) {
    static constexpr const char* states[trace::live_does_count] = {"busy", "searching", "asleep", "outside"};
    for (const live_answer& a : runtimes_)
      for (const live_row& r : a.rows)
        for (std::size_t i = 0; i < trace::live_does_count; ++i)
          sample(labels(a, r) + ",state=\"" + states[i] + "\"", value(r, i));
  }
  [[nodiscard]] std::string text() && { return std::move(text_) + "# EOF\n"; }

 private:
  [[nodiscard]] std::string labels(const live_answer& a) const {
    return of_ + ",runtime=\"" + std::to_string(a.head.runtime) + "\"";
  }
  [[nodiscard]] std::string labels(const live_answer& a, const live_row& r) const {
    return labels(a) + ",worker=\"" + (r.role == trace::live_role::reserve ? "reserve" : std::to_string(r.worker)) +
           "\"";
  }
  void sample(const std::string& labels, const std::string& value) {
    text_ += name_ + suffix_ + "{" + labels + "} " + value + "\n";
  }

  std::string of_;
  std::span<const live_answer> runtimes_;
  std::string name_, suffix_, text_;
};

}  // namespace

std::string open_metrics(const watched_program& program, std::span<const live_answer> runtimes) {
  exposition e(program, runtimes);
  const auto count = [](std::uint64_t live_row::*field) {
    return [field](const live_row& r) { return std::to_string(r.*field); };
  };
  e.family("weft_tasks", "counter", "", "Tasks that a worker has begun.");
  e.each_worker(count(&live_row::tasks));
  e.family("weft_called_tasks", "counter", "", "Of these, those that were calls where they were submitted.");
  e.each_worker(count(&live_row::called));
  e.family("weft_stolen_tasks", "counter", "", "Tasks that a worker took from others.");
  e.each_worker(count(&live_row::steals));
  e.family("weft_stolen_branches", "counter", "", "Branches of forks of others that a worker ran.");
  e.each_worker(count(&live_row::elsewhere));
  e.family("weft_sleeps", "counter", "", "Times that a worker went to sleep.");
  e.each_worker(count(&live_row::sleeps));
  e.family("weft_suspends", "counter", "", "Waits for which a stack was set aside.");
  e.each_worker(count(&live_row::suspends));
  e.family("weft_worker_time_seconds", "counter", "seconds", "What the time of a worker went into.");
  e.each_state([](const live_row& r, std::size_t i) { return exact_seconds(r.spent_ns[i]); });
  e.family("weft_queued_tasks", "gauge", "", "Tasks in the deque of a worker.");
  e.each_worker([](const live_row& r) { return std::to_string(r.queued); });
  e.family("weft_body_seconds", "gauge", "seconds", "For how long at least a worker has been in one body.");
  e.each_worker([](const live_row& r) { return exact_seconds(r.body_ns); });
  e.family("weft_live_tasks", "gauge", "", "Tasks that are submitted and not done, children not counted.");
  e.each_runtime([](const live_answer& a) { return std::to_string(a.head.live); });
  e.family("weft_runtime_age_seconds", "gauge", "seconds", "Since the runtime was made.");
  e.each_runtime([](const live_answer& a) { return exact_seconds(a.head.now_ns - a.head.began_ns); });
  return std::move(e).text();
}

}  // namespace weft::tool
