#include "tiles.hpp"

#include <algorithm>
#include <map>

namespace weft::apps::shallow_water {

std::vector<tile> cut(const std::vector<row>& rows, std::size_t block) {
  std::vector<tile> tiles;
  for (std::size_t first = 0; first < rows.size(); first += block) {
    const std::size_t to = first / block;
    std::map<std::size_t, tile> band;  // by `from`
    for (std::size_t i = first; i < std::min(first + block, rows.size()); ++i)
      for (const entry& e : rows[i]) {
        const std::size_t from = e.column / block;
        tile& t = band.try_emplace(from, tile{to, from, {}, {}}).first->second;
        const auto line = static_cast<std::uint32_t>(i - first);
        const auto at = static_cast<std::uint32_t>(t.entries.size());
        if (t.lines.empty() || t.lines.back().row != line) t.lines.push_back({line, at, at});
        t.entries.push_back({static_cast<std::uint32_t>(e.column - from * block), e.dx, e.dy, e.filter});
        ++t.lines.back().last;
      }
    for (auto& [from, t] : band) tiles.push_back(std::move(t));
  }
  return tiles;
}

void multiply(const tile& t, std::span<const node_state> from, std::span<derivatives> to) noexcept {
  for (const tile::line& l : t.lines) {
    derivatives d = to[l.row];
    for (std::uint32_t i = l.first; i < l.last; ++i) accumulate(d, t.entries[i], from[t.entries[i].column].stage);
    to[l.row] = d;
  }
}

}  // namespace weft::apps::shallow_water
