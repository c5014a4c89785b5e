// The Standard Task Graph Set: how many tasks there are; then of each a line with its number, its processing time, how
// many it comes after, and which. Files with communication costs have one behind each of these. Two tasks of no time,
// the entry and the exit, are not counted in the first line. What follows a # is a comment.
#include <charconv>
#include <vector>

#include "formats.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

constexpr std::uint64_t number_max = tasks_max;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> all;
  words(line.substr(0, line.find('#')), [&](std::string_view word) { all.push_back(word); });
  return all;
}

class stg_reader {
 public:
  stg_reader(source& from, double unit, graph& into) : from_(from), unit_(unit), into_(into) {}

  void line(std::uint32_t number, std::string_view text) {
    const std::vector<std::string_view> f = fields_of(text);
    if (f.empty()) return;
    if (!has_count_) {
      if (f.size() != 1) from_.fail_at(number, "the first line must be the number of tasks, and nothing else");
      count_ = from_.count(f[0], number_max, number, "number of tasks");
      has_count_ = true;
      return;
    }
    if (f.size() < 3)
      from_.fail_at(number, "a task has a number, a time, and how many tasks it comes after; here are " +
                                std::to_string(f.size()) + " numbers");
    const std::uint64_t id = from_.count(f[0], number_max, number, "number of the task");
    const index task =
        into_.add(std::to_string(id), {}, from_.duration(f[1], unit_, number, "processing time"), number);
    const std::uint64_t before = from_.count(f[2], number_max, number, "number of predecessors");
    const bool has_costs = before != 0 && f.size() == 3 + 2 * before;
    if (!has_costs && f.size() != 3 + before)
      from_.fail_at(number, "says that " + std::to_string(before) + " tasks come before it, and " +
                                std::to_string(f.size() - 3) + " numbers follow");
    for (std::size_t i = 3; i < f.size(); i += has_costs ? 2 : 1)
      wishes_.emplace_back(from_.count(f[i], number_max, number, "predecessor"), task);
    if (has_costs) costs_ += before;
  }

  void end() {
    if (!has_count_) from_.fail("has no line with the number of tasks");
    const std::uint64_t found = into_.tasks.size();
    if (found != count_ && found != count_ + 2)
      from_.fail("its first line says " + std::to_string(count_) + " tasks, and there are " + std::to_string(found) +
                 "; it was cut off, or is no STG file");
    for (const auto& [id, after] : wishes_) {
      const index before = into_.find(std::to_string(id));
      if (before == none)
        from_.fail_at(into_.tasks[after].place, "task " + into_.id_of(after) + " is to come after task " +
                                                    std::to_string(id) + ", and there is no such task");
      into_.order(before, after);
    }
    into_.note(costs_, "communication costs are left out: what they cost depends on where tasks run");
  }

 private:
  source& from_;
  const double unit_;
  graph& into_;
  bool has_count_ = false;
  std::uint64_t count_ = 0, costs_ = 0;
  std::vector<std::pair<std::uint64_t, index>> wishes_;
};

bool is_number(std::string_view word) noexcept {
  double value = 0;
  const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), value);
  return bad == std::errc() && end == word.data() + word.size();
}

}  // namespace

// A line of one number, then one of at least three.
bool is_stg(std::string_view text) {
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size() && lines < 2;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = trimmed(text.substr(at, std::min<std::size_t>(end - at, 4096)));
    at = end + 1;
    const auto fields = fields_of(line);
    if (fields.empty()) continue;
    if (lines == 0 ? fields.size() != 1 : fields.size() < 3) return false;
    for (const std::string_view f : std::span(fields).first(lines == 0 ? 1 : 3))
      if (!is_number(f)) return false;
    ++lines;
  }
  return lines == 2;
}

void read_stg(source& from, const reading& how, graph& into) {
  stg_reader reader(from, how.unit_ns.value_or(millisecond_ns), into);
  from.lines([&](std::uint32_t number, std::string_view line) {
    reader.line(number, line);
    if (number % 16384 == 0)
      how.tell(static_cast<double>(line.data() - from.text().data()) / static_cast<double>(from.text().size()));
  });
  reader.end();
  if (!how.unit_ns) into.note("its numbers have no unit, and 1 is taken for 1 ms; --unit says otherwise");
}

}  // namespace weft::tool::foreign
