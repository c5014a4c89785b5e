// What the programs near their data have in common (PufferFish §V): how their arrays lie, whether tasks say what they
// are near to, who fills them, and how a loop over rows becomes a tree of tasks. The tree is regular, each task two
// halves, or irregular (PufferFish Fig. 8): tasks of two parts and tasks of four take turns in a fixed pattern, so
// subtrees differ in size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../app.hpp"

namespace weft::apps::near {

struct spread {
  std::string layout = "blocked";
  bool no_hints = false;
  bool irregular = false;
  std::size_t tile = 2;
  std::string fill = "tree";

  // Errors: weft::error for a layout that is none, and for a way to fill that is none.
  [[nodiscard]] memory_placement placement() const;
  enum class filling { tree, blocks, serial };
  [[nodiscard]] filling filled() const;
  // Whether arrays that the program computes before it reads them are filled, too.
  [[nodiscard]] bool fills_all() const { return filled() == filling::tree; }
  [[nodiscard]] static std::vector<option> options(const std::shared_ptr<spread>& s, const char* tile_of);
  void describe(result& r) const;
};

template <class Clause, class Body> void hinted_async(const spread& s, const Clause& clause, Body body) {
  if (s.no_hints)
    async(body);
  else
    async(clause, body);
}

// Rows [from, to) of a sweep, by tasks that belong to the finish around the call. hint(from, to) is a clause;
// body(from, to) does so many rows, at most s.tile of them. Both outlive the finish.
template <class Hint, class Body> class tree {
 public:
  tree(const spread& s, const Hint& hint, const Body& body) : spread_(s), hint_(hint), body_(body) {}

  void run(std::size_t from, std::size_t to) const { spread_.irregular ? two_of_a_kind(from, to) : halves(from, to); }

 private:
  using part = void (tree::*)(std::size_t, std::size_t) const;

  void halves(std::size_t from, std::size_t to) const {
    if (to - from <= spread_.tile) return body_(from, to);
    const part parts[] = {&tree::halves, &tree::halves};
    split(from, to, parts, 2);
  }
  void two_of_a_kind(std::size_t from, std::size_t to) const {
    if (to - from <= spread_.tile) return body_(from, to);
    const part parts[] = {&tree::quarters, &tree::two_of_a_kind};
    split(from, to, parts, 2);
  }
  void quarters(std::size_t from, std::size_t to) const {
    if (to - from <= spread_.tile || to - from < 4) return leaves(from, to);
    const part parts[] = {&tree::two_of_a_kind, &tree::two_of_a_kind, &tree::quarters, &tree::two_of_a_kind};
    split(from, to, parts, 4);
  }
  void leaves(std::size_t from, std::size_t to) const {
    for (; from < to; from += spread_.tile) body_(from, from + spread_.tile < to ? from + spread_.tile : to);
  }
  void split(std::size_t from, std::size_t to, const part* parts, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = from + (to - from) * i / count, end = from + (to - from) * (i + 1) / count;
      hinted_async(spread_, hint_(begin, end), [this, what = parts[i], begin, end] { (this->*what)(begin, end); });
    }
  }

  const spread& spread_;
  const Hint& hint_;
  const Body& body_;
};

// All rows, and a wait for them.
template <class Hint, class Body>
void sweep(const spread& s, std::size_t from, std::size_t to, const Hint& hint, const Body& body) {
  const tree<Hint, Body> t(s, hint, body);
  finish([&] { t.run(from, to); });
}

// The first values, before time counts. With first touch this decides where pages lie. By a tree as the sweeps are,
// thieves spread them evenly; a block for each worker, they lie in large pieces; by one task, all on one node, but for
// those of arrays that are not filled, which the sweeps touch first. body(from, to) does so many rows, all if it must.
template <class Hint, class Body>
void fill(const spread& s, unsigned workers, std::size_t rows, const Hint& hint, const Body& body) {
  switch (s.filled()) {
  case spread::filling::tree: return sweep(s, 0, rows, hint, body);
  case spread::filling::serial: return finish([&] { async([&] { body(0, rows); }); });
  case spread::filling::blocks: break;
  }
  finish([&] {
    for (std::size_t w = 0; w < workers; ++w) {
      const std::size_t from = rows * w / workers, to = rows * (w + 1) / workers;
      if (from < to) hinted_async(s, hint(from, to), [&body, from, to] { body(from, to); });
    }
  });
}

// A matrix of doubles by rows, on pages that lie as the program was told.
class matrix {
 public:
  matrix(std::size_t rows, std::size_t columns, const memory_placement& how)
      : rows_(rows), columns_(columns), cells_(rows * columns, how) {}
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] double* row(std::size_t r) noexcept { return cells_.data() + r * columns_; }
  [[nodiscard]] const double* row(std::size_t r) const noexcept { return cells_.data() + r * columns_; }
  [[nodiscard]] detail::near_clause near_rows(std::size_t from, std::size_t to) const noexcept {
    return weft::near(cells_, from * columns_, to * columns_);
  }
  // What a body does with rows; of a row that is not there nothing.
  [[nodiscard]] data_use loads(std::size_t from, std::size_t to) const noexcept {
    return weft::loads(cells_, from * columns_, (to < rows_ ? to : rows_) * columns_);
  }
  [[nodiscard]] data_use stores(std::size_t from, std::size_t to) const noexcept {
    return weft::stores(cells_, from * columns_, to * columns_);
  }
  [[nodiscard]] data_use updates(std::size_t from, std::size_t to) const noexcept {
    return weft::updates(cells_, from * columns_, to * columns_);
  }

 private:
  std::size_t rows_, columns_;
  numa_array<double> cells_;
};

// Of a value between 0 and 1 that depends on nothing but the place.
[[nodiscard]] inline double noise(std::uint64_t cell) noexcept {
  cell = (cell ^ (cell >> 31)) * 0x9e3779b97f4a7c15u;
  cell = (cell ^ (cell >> 29)) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>((cell ^ (cell >> 32)) >> 11) * 0x1p-53;
}

[[nodiscard]] check same_bits(const matrix& found, const std::vector<double>& expected);

}  // namespace weft::apps::near
