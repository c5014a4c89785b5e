// A step of the Lagrangian shock hydrodynamics as LULESH has it (LLNL-TR-490254; PufferFish §V, Table I), phase by
// phase: forces on nodes, by stress and against hourglassing; how nodes move; how elements change by that; artificial
// viscosity; the equation of state, an ideal gas; and what bounds the next step. A phase is a loop over all elements or
// over all nodes whose rounds are independent: each writes only what is its own, and reads what earlier phases wrote.
// So it may be cut anywhere, and the bits are the same. Corner forces are kept by element and gathered by node.
#pragma once
#include <cstddef>
#include <span>

#include "domain.hpp"
#include "weft/data_use.hpp"

namespace weft::apps::lulesh {

// What a phase moves for the rounds [from, to).
class moves {
 public:
  moves(const domain& d, std::size_t from, std::size_t to) : domain_(d), from_(from), to_(to) {}
  // Of each round its own.
  template <class... Fields> moves& loads(const Fields&... f) { return (add(weft::loads(f, from_, to_)), ..., *this); }
  template <class... Fields> moves& stores(const Fields&... f) {
    return (add(weft::stores(f, from_, to_)), ..., *this);
  }
  template <class... Fields> moves& updates(const Fields&... f) {
    return (add(weft::updates(f, from_, to_)), ..., *this);
  }
  // Of elements the nodes at their corners; of nodes the elements around.
  template <class... Fields> moves& of_nodes(const Fields&... f) {
    return (both(f, domain_.nodes_of(from_, to_)), ..., *this);
  }
  template <class... Fields> moves& of_elements(const Fields&... f) {
    return (both(f, domain_.elements_at(from_, to_)), ..., *this);
  }
  // Of elements also those beside.
  moves& with_neighbours(const field<vec3>& f);

  [[nodiscard]] std::size_t rounds() const noexcept { return to_ - from_; }
  [[nodiscard]] std::span<const data_use> all() const noexcept { return {uses_, count_}; }

 private:
  void add(const data_use& u) noexcept;
  template <class Field> void both(const Field& f, const std::array<domain::range, 2>& ranges) {
    for (const domain::range& r : ranges)
      if (r.from < r.to) add(weft::loads(f, r.from, r.to));
  }
  const domain& domain_;
  std::size_t from_, to_, count_ = 0;
  data_use uses_[32];
};

struct phase {
  enum class over : std::uint8_t { elements, nodes };
  const char* name;
  over what;
  double ns;  // of computing, a round, on modelled machines
  void (*rounds)(domain& d, std::size_t from, std::size_t to);
  void (*moved)(const domain& d, moves& m);
};

[[nodiscard]] std::span<const phase> phases() noexcept;

}  // namespace weft::apps::lulesh
