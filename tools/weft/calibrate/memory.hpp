// How fast data come, from each level of cache and from each memory node: the figures of model::memory_costs.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "probe.hpp"

namespace weft::tool::calibrate {

// Memory in large pages where the system gives them, so that address translation is not what is measured. The node that
// it lies on is that of the core which constructs it: the constructor touches every page.
class block {
 public:
  // Errors: std::bad_alloc.
  explicit block(std::size_t bytes);
  [[nodiscard]] char* begin() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct free_block {
    void operator()(char* p) const noexcept;
  };
  std::size_t bytes_;
  std::unique_ptr<char, free_block> memory_;
};

// Bytes per nanosecond of a triad (a = b + s c) in `where`, on the calling core, counted as STREAM does: 24 bytes for
// each element of 8.
[[nodiscard]] summary bandwidth(const effort& e, const block& where);
// One pass of that triad. Errors: none.
void stream(const block& where) noexcept;
// The same of all these cores together, each in a block of so many bytes that core `home` has touched first.
[[nodiscard]] summary bandwidth_of_all(const effort& e, const std::vector<unsigned>& cpus, std::size_t bytes_each,
                                       unsigned home);

// Nanoseconds that one line of 64 bytes takes to come, or, with `write`, to come and go: a chain of loads through the
// lines of `where` in random order, on the calling core.
[[nodiscard]] summary line_latency(const effort& e, const block& where, bool write);

}  // namespace weft::tool::calibrate
