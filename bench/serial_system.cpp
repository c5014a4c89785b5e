// The loop that every task system competes with: program order is a legal order, so calling each body where it would be
// submitted gives the right answer and the lower limit. A fork is two calls.
#include "system.hpp"

namespace weft::bench {

namespace {

class serial_system {
 public:
  serial_system(std::size_t cells, const settings&) : cells_(cells) {}

  template <class Body> void independent_task(cell_index c, Body body) { body(cells_[c]); }
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    job(cells_.data(), reads, writes[0], body)();
  }
  void wait() {}
  [[nodiscard]] value cell(cell_index c) const { return cells_[c]; }

 private:
  std::vector<value> cells_;
};

}  // namespace

struct serial_place {
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    const auto x = first(*this);
    return std::pair(x, second(*this));
  }
};

namespace {

class serial_forks {
 public:
  explicit serial_forks(const settings&) {}

  template <class F> value start(F f) { return f(serial_place{}); }
};

}  // namespace

std::vector<system_entry> systems_here() {
  return {entry_for<serial_system>("serial", "compiler " __VERSION__),
          recursions_for<serial_forks>("serial", "compiler " __VERSION__)};
}

}  // namespace weft::bench
