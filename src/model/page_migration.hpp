// Pages of placed ranges, and a system that moves them to the node that uses them, as Linux's automatic NUMA balancing
// does (OpenStream §6). Every now and then the system takes a page away from the processors, so that the next core that
// touches it faults, and sees where it runs. The page goes there if the fault before came from the same node: one touch
// in passing moves nothing. Looks at a page that lies where it is used get rarer, to half as often each time; one that
// lies elsewhere is looked at as often as the machine file says.
// The moves of all cores are one after the other: each needs locks and an answer of all other cores. A core that has to
// wait for them is slowed down by memory.hpp, which shares that lock like a controller.
// Not here: which part of the address space the system looks at when (it is all of it), groups of threads, moves that
// fail, the traffic of the copies, and that a page's lines leave the caches with it.
// Who: one thread. Results depend on the calls alone.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/machine.hpp"

namespace weft::model {

class page_migration {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // What is kept as one is a page, or a chunk of so many bytes that is larger: then its pages go together.
  page_migration(const page_costs& costs, std::uint64_t chunk_bytes);

  // Whether ranges have pages at all.
  [[nodiscard]] bool is_on() const noexcept { return costs_.bytes != 0; }
  [[nodiscard]] std::uint64_t unit_bytes() const noexcept { return unit_bytes_; }

  // The page in which byte `at` of a range is, if it has been there; none: make() it, with the node where it lies.
  [[nodiscard]] std::uint32_t find(std::uint64_t range, std::uint64_t at) const;
  std::uint32_t make(std::uint64_t range, std::uint64_t at, std::size_t home);
  [[nodiscard]] std::size_t home(std::uint32_t page) const noexcept { return pages_[page].home; }

  // What a touch costs its core beside moving the data: itself alone, and of that what nobody else can do meanwhile.
  struct cost {
    std::uint64_t alone_ps = 0, locked_ps = 0;
  };
  // A core of that node touches the page. Calls come in order of time.
  cost touch(std::uint32_t page, std::size_t node, std::uint64_t now_ps);

  // So far.
  [[nodiscard]] std::uint64_t faults() const noexcept { return faults_; }
  [[nodiscard]] std::uint64_t moved() const noexcept { return moved_; }

 private:
  struct place {
    std::uint32_t home;
    std::uint32_t last;                // node of the fault before
    std::uint64_t next_ps, period_ps;  // no fault before then, and how long until then it was
  };
  [[nodiscard]] std::uint64_t key(std::uint64_t range, std::uint64_t at) const noexcept;

  const page_costs costs_;
  const std::uint64_t unit_bytes_, pages_each_;
  std::vector<place> pages_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // only looked up, never walked
  std::uint64_t faults_ = 0, moved_ = 0;
};

}  // namespace weft::model
