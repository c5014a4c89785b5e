#include "trace/bodies.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/assert.hpp"

namespace weft::trace {

namespace {

constexpr std::uint32_t nobody = ~std::uint32_t{0};

struct pair_hash {
  std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& p) const noexcept {
    std::uint64_t h = (p.first ^ (p.second * 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9;
    return static_cast<std::size_t>(h ^ h >> 31);
  }
};
template <class T> using by_pair = std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, T, pair_hash>;

[[nodiscard]] std::uint64_t bits_of(std::uint8_t mask) noexcept {
  std::uint64_t bits = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    if ((mask >> byte & 1) != 0) bits |= std::uint64_t{0xff} << (8 * byte);
  return bits;
}

// Those of one section.
class words {
 public:
  explicit words(std::vector<touch_row>& out) : out_(out) {}

  // First of all touches.
  void meet(const touched& t) {
    std::vector<std::uint8_t>& parts = parts_[t.address];
    std::uint8_t rest = t.mask;
    for (std::size_t i = 0, n = parts.size(); i < n && rest != 0; ++i) {
      const auto common = static_cast<std::uint8_t>(parts[i] & rest);
      rest = static_cast<std::uint8_t>(rest & ~common);
      if (common == 0 || common == parts[i]) continue;
      parts[i] = static_cast<std::uint8_t>(parts[i] & ~common);
      parts.push_back(common);
    }
    if (rest != 0) parts.push_back(rest);
  }
  // Then of each, in order.
  void add(const touched& t, std::uint32_t body) {
    std::vector<std::uint8_t>& parts = parts_[t.address];
    std::sort(parts.begin(), parts.end());  // in whatever order they were met
    for (const std::uint8_t part : parts)
      if ((part & t.mask) != 0) add_part(t, part, body);
  }

 private:
  struct word {
    std::uint32_t number = 0, body = nobody, row = 0;  // the body that touched it last, and where
    std::uint32_t values = 0, now = 0;
  };

  void add_part(const touched& t, std::uint8_t part, std::uint32_t body) {
    WEFT_ASSERT((part & ~t.mask) == 0);
    word& w = words_[{t.address, part}];
    const std::uint64_t value = t.value & bits_of(part);
    std::uint32_t known = w.number == 0 ? 0 : number_of(w, value);
    if (w.number == 0 || (!t.is_store && known != w.now)) {
      w = {.number = ++last_};
      known = number_of(w, value);
    }
    w.now = known;
    if (w.body != body) {
      w.body = body;
      w.row = static_cast<std::uint32_t>(out_.size());
      out_.push_back({w.number, 0, 0, t.before_ps});
    }
    (t.is_store ? out_[w.row].writes : out_[w.row].reads) = known;
  }
  [[nodiscard]] std::uint32_t number_of(word& w, std::uint64_t value) {
    const auto [at, added] = values_.try_emplace({w.number, value}, w.values + 1);
    if (added) ++w.values;
    return at->second;
  }

  std::vector<touch_row>& out_;
  std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> parts_;
  by_pair<word> words_;
  by_pair<std::uint32_t> values_;
  std::uint32_t last_ = 0;
};

// By the recorders' numbers of runs until here. Runs of one section have that of its first run.
void number_sections(contents& of) {
  std::unordered_map<std::uint32_t, std::uint32_t> runs, sections;
  for (std::uint32_t i = 0; i < of.sections.size(); ++i) {
    section_row& s = of.sections[i];
    if (s.id != 0) runs.emplace(s.id, i + 1);
    if (s.section != 0) s.section = sections.emplace(s.section, sections.size() + 1).first->second;
  }
  const auto renumber = [&runs](auto& rows) {
    std::erase_if(rows, [&runs](auto& row) {
      const auto found = runs.find(row.section);
      row.section = found == runs.end() ? 0 : found->second;
      return row.section == 0;
    });
  };
  renumber(of.crews);
  renumber(of.bodies);
}

}  // namespace

void number_bodies(contents& of, std::vector<touched>& all) {
  number_sections(of);
  std::sort(of.crews.begin(), of.crews.end(), [](const crew_row& a, const crew_row& b) { return a.task < b.task; });
  std::sort(of.bodies.begin(), of.bodies.end(), [](const body_row& a, const body_row& b) {
    return std::tie(a.section, a.timestamp, a.number) < std::tie(b.section, b.timestamp, b.number);
  });
  for (std::size_t begin = 0; begin < of.bodies.size();) {
    std::size_t end = begin;
    words known(of.touches);
    for (; end < of.bodies.size() && of.bodies[end].section == of.bodies[begin].section; ++end)
      for (std::uint32_t i = of.bodies[end].first; i < of.bodies[end].last; ++i) known.meet(all[i]);
    for (; begin < end; ++begin) {
      body_row& b = of.bodies[begin];
      const auto first = static_cast<std::uint32_t>(of.touches.size());
      for (std::uint32_t i = b.first; i < b.last; ++i) known.add(all[i], static_cast<std::uint32_t>(begin));
      b.first = first;
      b.last = static_cast<std::uint32_t>(of.touches.size());
    }
  }
  all = {};
}

}  // namespace weft::trace
