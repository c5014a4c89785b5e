// Instances of WfCommons: runs of scientific workflows. From format 1.5 on what a task is and what it took are two
// lists, of one id; before they were one, called tasks or, at first, jobs, whose ids were their names.
// What orders tasks are parents and children. Files are not taken for data: the list is in no order in which tasks that
// read could come behind those that write, and the two kinds of lists say the same.
#include <algorithm>
#include <cmath>

#include "formats.hpp"
#include "json_fields.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

constexpr ns no_duration = -1;

// Tasks that do the same have the same name but for a number: "sort_ID0000012", "SORT_8".
std::string_view kind_of(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  if (end == name.size()) return name;
  if (name.substr(0, end).ends_with("_ID")) end -= 2;
  return end > 1 && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

class wfcommons_reader final : public json_sieve {
 public:
  wfcommons_reader(source& from, const reading& how, graph& into) : from_(from), how_(how), into_(into) {}

  bool wants(std::string_view path) override {
    return is_task(path) || is_execution(path) || is_machine(path) || is_makespan(path) || path == "name" ||
           path == "schemaVersion";
  }
  void read(double share) override { how_.tell(share); }

  void take(std::string_view path, std::size_t item, json value) override {
    if (path == "name")
      into_.program = text_of(value);
    else if (is_makespan(path))
      makespan(value);
    else if (is_machine(path))
      machine(value, item);
    else if (is_task(path))
      task(path, value, item);
    else if (is_execution(path))
      execution(value, item);
  }

  void end() {
    counts("workflow.tasks[", "]");
    for (const auto& [task, other, comes_before] : wishes_) {
      const index found = named(other);
      if (found == none)
        from_.fail_at(into_.tasks[task].place, into_.called(task) +
                                                   (comes_before ? " has the child '" : " has the parent '") +
                                                   printable(other, name_width_max) + "', and there is no such task");
      comes_before ? into_.order(task, found) : into_.order(found, task);
    }
    for (index t = 0; t < into_.tasks.size(); ++t)
      if (into_.tasks[t].duration == no_duration)
        from_.fail_at(into_.tasks[t].place,
                      into_.called(t) +
                          " has no runtimeInSeconds: the file says what there is to do, and not how long it "
                          "took");
    into_.workers = static_cast<unsigned>(cores_);
    into_.note(wide_, "tasks had several cores each; here they have one, for as long");
    if (cores_ == 0 && into_.makespan != no_time)
      into_.note("no machine says how many cores it has; --workers says how many there were");
    if (into_.makespan != no_time)
      into_.note("when each task began is not in the file, nor what waiting for queues and transfers took");
  }

 private:
  struct wish {
    index task;
    std::string other;
    bool comes_before;  // the task before the other
  };

  static bool is_task(std::string_view path) {
    return path == "workflow.specification.tasks[]" || path == "workflow.tasks[]" || path == "workflow.jobs[]";
  }
  static bool is_execution(std::string_view path) { return path == "workflow.execution.tasks[]"; }
  static bool is_machine(std::string_view path) {
    return path == "workflow.execution.machines[]" || path == "workflow.machines[]";
  }
  static bool is_makespan(std::string_view path) {
    return path == "workflow.execution.makespanInSeconds" || path == "workflow.makespanInSeconds" ||
           path == "workflow.makespan";
  }
  void counts(const char* before, const char* after) { from_.counts_in(before, after); }

  void makespan(const json& value) {
    const std::optional<double> seconds = number_of(value);
    if (!seconds) from_.fail("makespanInSeconds is no number");
    counts("run ", "");
    if (*seconds > 0) into_.makespan = from_.duration(*seconds, second_ns, 1, "makespanInSeconds");
  }

  void machine(const json& value, std::size_t item) {
    counts("workflow.machines[", "]");
    const json* const cpu = value.is_object() ? value.find("cpu") : nullptr;
    if (cpu == nullptr) return;
    const std::optional<double> cores = number_of(*cpu, {"coreCount", "count"}, from_, item);
    if (!cores) return;
    if (!(*cores >= 0 && *cores <= 1e6)) from_.fail_at(item, "has " + short_number(*cores) + " cores, which cannot be");
    cores_ += std::llround(*cores);
  }

  void task(std::string_view path, const json& value, std::size_t item) {
    counts(path == "workflow.jobs[]"    ? "workflow.jobs["
           : path == "workflow.tasks[]" ? "workflow.tasks["
                                        : "workflow.specification.tasks[",
           "]");
    if (!value.is_object()) from_.fail_at(item, "is no task: it must be an object");
    const std::string name = text_of(value, "name");
    std::string id = text_of(value, "id");
    if (id.empty()) id = name;
    if (id.empty()) from_.fail_at(item, "has neither an id nor a name");
    const index t = into_.add(id, kind_of(name.empty() ? id : name), no_duration, static_cast<index>(item));
    if (name != id && !name.empty()) {
      const auto [at, fresh] = by_name_.try_emplace(name, t);
      if (!fresh) at->second = none;  // several have it, so it names none
    }
    time_of(t, value, item);
    for (const auto& [key, comes_before] : {std::pair("parents", false), std::pair("children", true)})
      if (const json* const others = value.find(key); others != nullptr && others->is_array())
        for (const json& one : *others) wishes_.push_back({t, word(one, item), comes_before});
  }

  [[nodiscard]] std::string word(const json& value, std::size_t item) const {
    std::string text = text_of(value);
    if (text.empty()) from_.fail_at(item, "a parent or child is no name of a task");
    return text;
  }

  void execution(const json& value, std::size_t item) {
    counts("workflow.execution.tasks[", "]");
    const std::string id = text_of(value, "id");
    const index t = named(id);
    if (t == none)
      from_.fail_at(item, "says what '" + printable(id, name_width_max) + "' took, and there is no such task");
    time_of(t, value, item);
  }

  void time_of(index t, const json& value, std::size_t item) {
    const std::optional<double> seconds = number_of(value, {"runtimeInSeconds", "runtime"}, from_, item);
    if (seconds) into_.tasks[t].duration = from_.duration(*seconds, second_ns, item, "runtimeInSeconds");
    const std::optional<double> cores = number_of(value, {"coreCount", "cores"}, from_, item);
    if (cores && *cores > 1) ++wide_;
  }

  [[nodiscard]] index named(const std::string& id) const {
    if (const index found = into_.find(id); found != none) return found;
    const auto at = by_name_.find(id);
    return at == by_name_.end() ? none : at->second;
  }

  source& from_;
  const reading& how_;
  graph& into_;
  std::vector<wish> wishes_;
  std::unordered_map<std::string, index> by_name_;
  std::int64_t cores_ = 0;
  std::uint64_t wide_ = 0;
};

}  // namespace

bool is_wfcommons(std::string_view text) {
  if (!trimmed(text.substr(0, 4096)).starts_with('{') || text.find("\"workflow\"") == std::string_view::npos)
    return false;
  return text.find("\"schemaVersion\"") != std::string_view::npos || text.find("\"jobs\"") != std::string_view::npos ||
         text.find("\"tasks\"") != std::string_view::npos;
}

void read_wfcommons(source& from, const reading& how, graph& into) {
  wfcommons_reader reader(from, how, into);
  sift(from, reader);
  reader.end();
}

}  // namespace weft::tool::foreign
