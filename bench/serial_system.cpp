// The loop that every task system competes with: program order is a legal order, so calling each body where it would be
// submitted gives the right answer and the lower limit.
#include "system.hpp"

namespace weft::bench {

namespace {

class serial_system {
 public:
  serial_system(std::size_t cells, const settings&) : cells_(cells) {}

  void independent_task(cell_index c) { touch(cells_[c]); }
  template <std::size_t R, std::size_t W>
  void task(const std::array<cell_index, R>&, const std::array<cell_index, W>& writes) {
    touch(cells_[writes[0]]);
  }
  void wait() {}
  [[nodiscard]] value cell(cell_index c) const { return cells_[c]; }

 private:
  std::vector<value> cells_;
};

}  // namespace

system_entry serial_entry() { return entry_for<serial_system>("serial", "a plain loop, no tasks", false); }

}  // namespace weft::bench
