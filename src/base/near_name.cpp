#include "base/near_name.hpp"

#include <algorithm>
#include <utility>

namespace weft::base {

namespace {

char small(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// As many letters of the name as were typed: "epic-7551" is meant to be the machine epyc-7551-32.
std::string_view beginning(std::string_view name, std::string_view typed) { return name.substr(0, typed.size()); }

}  // namespace

unsigned edits(std::string_view a, std::string_view b) {
  std::vector<unsigned> before(b.size() + 1);
  std::vector<unsigned> last(b.size() + 1);
  std::vector<unsigned> row(b.size() + 1);
  for (unsigned j = 0; j <= b.size(); ++j) last[j] = j;
  for (unsigned i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = small(a[i - 1]) == small(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) && small(a[i - 2]) == small(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> near_names(std::string_view typed, const std::vector<std::string>& known, std::size_t count) {
  constexpr std::size_t letters_max = 100;  // longer is no slip of the keyboard, and edits() is quadratic
  if (typed.size() > letters_max) return {};
  const unsigned few = std::max(1u, static_cast<unsigned>(typed.size() / 3));
  std::vector<std::pair<unsigned, const std::string*>> found;
  for (const std::string& name : known) {
    const unsigned whole = edits(typed, name);
    const unsigned begun = typed.size() < 3 ? whole : edits(typed, beginning(name, typed)) + 1;  // whole names first
    if (std::min(whole, begun) <= few) found.emplace_back(std::min(whole, begun), &name);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(count, found.size()); ++i) names.push_back(*found[i].second);
  return names;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known, std::size_t count) {
  std::string text;
  for (const std::string& name : near_names(typed, known, count)) text += (text.empty() ? "" : " or ") + name;
  return text.empty() ? "" : "; did you mean " + text + "?";
}

}  // namespace weft::base
