// See starpu_records.hpp.
#include "starpu_records.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "table.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

// The same words in both forms.
constexpr std::array<std::pair<std::string_view, std::string starpu_record::*>, 13> fields = {{
    {"Control", &starpu_record::control},
    {"JobId", &starpu_record::job},
    {"Name", &starpu_record::name},
    {"Handles", &starpu_record::handles},
    {"Modes", &starpu_record::modes},
    {"Sizes", &starpu_record::sizes},
    {"DependsOn", &starpu_record::depends_on},
    {"MPIRank", &starpu_record::rank},
    {"WorkerId", &starpu_record::worker},
    {"MemoryNode", &starpu_record::node},
    {"SubmitOrder", &starpu_record::submit_order},
    {"StartTime", &starpu_record::start},
    {"EndTime", &starpu_record::end},
}};

void of_table(const source& from, const std::function<void(double)>& tell,
              const std::function<void(const starpu_record&)>& take) {
  table_reader t(from);
  std::array<int, fields.size()> columns{};
  for (std::size_t i = 0; i < fields.size(); ++i) columns[i] = t.column(fields[i].first);
  starpu_record r;
  while (t.next()) {
    r.line = t.line();
    for (std::size_t i = 0; i < fields.size(); ++i) r.*fields[i].second = trimmed(t[columns[i]]);
    take(r);
    if (r.line % 16384 == 0) tell(t.share_read());
  }
}

void of_lines(const source& from, const std::function<void(double)>& tell,
              const std::function<void(const starpu_record&)>& take) {
  starpu_record r;
  bool has_any = false;
  const auto end = [&] {
    if (std::exchange(has_any, false)) take(r);
    r = {};
  };
  std::string* last = nullptr;
  from.lines([&](std::uint32_t number, std::string_view line) {
    if (number % 65536 == 0)
      tell(static_cast<double>(line.data() - from.text().data()) / static_cast<double>(from.text().size()));
    if (trimmed(line).empty()) {
      last = nullptr;
      return end();
    }
    if (line.starts_with('#') || line.starts_with('%')) return;
    if (line.starts_with('+')) {  // the value of the line before goes on
      if (last != nullptr) (*last += ' ') += trimmed(line.substr(1));
      return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      from.fail_at(number, "'" + printable(line, name_width_max) + "' is no line of a record: it has no colon");
    if (!std::exchange(has_any, true)) r.line = number;
    const auto known = std::ranges::find(fields, line.substr(0, colon), [](const auto& f) { return f.first; });
    last = known == fields.end() ? nullptr : &(r.*known->second);
    if (last != nullptr) *last = trimmed(line.substr(colon + 1));
  });
  end();
}

}  // namespace

bool is_starpu_table(std::string_view text) {
  const std::string_view head = text.substr(0, text.find('\n'));
  return head.find("JobId") != std::string_view::npos && head.find("Handles") != std::string_view::npos &&
         head.find(',') != std::string_view::npos;
}

void starpu_records(const source& from, const std::function<void(double)>& tell,
                    const std::function<void(const starpu_record&)>& take) {
  is_starpu_table(from.text()) ? of_table(from, tell, take) : of_lines(from, tell, take);
}

}  // namespace weft::tool::foreign
