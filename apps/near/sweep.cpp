#include "sweep.hpp"

#include <bit>
#include <limits>

namespace weft::apps::near {

memory_placement spread::placement() const {
  if (layout == "blocked") return memory_placement::blocked();
  if (layout == "interleaved") return memory_placement::interleaved();
  if (layout == "first-touch") return memory_placement::first_touch();
  throw error("--layout " + layout + " is none: blocked, interleaved or first-touch");
}

spread::filling spread::filled() const {
  if (fill == "tree") return filling::tree;
  if (fill == "blocks") return filling::blocks;
  if (fill == "serial") return filling::serial;
  throw error("--fill " + fill + " is none: tree, blocks or serial");
}

std::vector<option> spread::options(const std::shared_ptr<spread>& s, const char* tile_of) {
  return {{"layout", "how the arrays lie on memory nodes: blocked, interleaved or first-touch", &s->layout},
          {"no-hints", "tasks do not say what they are near to", &s->no_hints},
          {"irregular", "tasks of two parts and of four, in turns, instead of two", &s->irregular},
          {"tile", tile_of, &s->tile, 1, 1'000'000},
          {"fill", "who fills the arrays: a tree of tasks, blocks by a task for each worker, or serial, one task",
           &s->fill}};
}

void spread::describe(result& r) const {
  r.add("layout", layout);
  r.add("hints", !no_hints);
  r.add("irregular", irregular);
  r.add("tile", std::uint64_t{tile});
  r.add("fill", fill);
}

check same_bits(const matrix& found, const std::vector<double>& expected) {
  std::size_t different = 0;
  bool finite = true;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double x = found.row(0)[i];
    different += std::bit_cast<std::uint64_t>(x) != std::bit_cast<std::uint64_t>(expected[i]) ? 1 : 0;
    finite = finite && x - x == 0;
  }
  return {"same_bits_as_serial", different == 0 && finite,
          std::to_string(different) + " of " + std::to_string(expected.size()) + " cells differ" +
              (finite ? "" : ", and not all are finite")};
}

}  // namespace weft::apps::near
