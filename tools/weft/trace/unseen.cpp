#include "unseen.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace weft::tool::trace {

namespace {

// A number of meta, which may be anything.
[[nodiscard]] unsigned long long number(const file& f, std::string_view key) {
  const std::string text = f.about(key);
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 10);
}

}  // namespace

std::string unseen(const file& f) {
  std::vector<std::string> all;
  const auto several = [](unsigned long long n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  if (const auto forks = number(f, "forks"); forks != 0 && f.strands.empty())
    all.push_back(several(forks, "fork") + " and loops, of whose branches " +
                  std::to_string(number(f, "forks_elsewhere")) + " ran elsewhere");
  const auto shown = static_cast<unsigned long long>(std::ranges::count_if(f.pipelines, &pipeline::is_known));
  if (const auto pipelines = number(f, "pipelines"); pipelines > shown)
    all.push_back(several(pipelines - shown, "pipeline"));
  std::int64_t bodies = 0;
  unsigned long long sections = 0;
  for (const section& s : f.sections) {
    const bool is_shown = f.format >= 10 && (s.is_known || s.executor == "serial" || s.executor == "levels");
    if (is_shown) continue;
    ++sections;
    bodies += s.started;
  }
  if (sections != 0) all.push_back(several(sections, "ordered section") + " of " + std::to_string(bodies) + " calls");
  std::string out;
  for (const std::string& x : all) out += (out.empty() ? "" : ", and ") + x;
  return out.empty() ? out : out + ": parallel inside of what is shown as one piece";
}

}  // namespace weft::tool::trace
