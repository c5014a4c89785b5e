// Shared words on a modelled machine: each lies in a cache line that one core has written last and that others may hold
// copies of. Who has what it needs goes on at the price of a hit; who has not waits until the line has come, from as
// far as the machine file says, and behind those who asked for it before. Who writes waits until all copies elsewhere
// are gone: as long as the farthest takes, and a little more for each further one. So contention on a lock or a queue,
// the latency of a steal, of a barrier and of a flag that many wait for are not parameters: they come out.
//
// A line is known by its address, but nothing depends on addresses: lines are numbered as they are first touched.
// While a line travels, its holder goes on using it, as real cores do; it changes hands at the time of arrival.
// What of a core's copies has been crowded out by others is a miss again; which, is decided by the lines' numbers.
// Not modelled: which words beyond those of one 64-byte line are fetched with it, and the order of weak accesses - a
// store is visible at once, as in a sequentially consistent machine, but costs its core no more than a store buffer.
#pragma once
#include <cstdint>
#include <vector>

#include "model/machine.hpp"

namespace weft::machine {

class lines {
 public:
  using number = std::uint32_t;

  // seats[i]: the model's core on which worker i sits. Each keeps `kept` lines, or somewhat fewer, and a few at least.
  lines(const model::machine& m, const std::vector<unsigned>& seats, unsigned kept);

  // The line that the address lies in.
  [[nodiscard]] number of(const void* address) noexcept {
    const std::uintptr_t a = reinterpret_cast<std::uintptr_t>(address) >> line_bits;
    std::size_t slot = hash(a) & mask_;
    while (table_[slot].address != a) {
      if (table_[slot].address == 0) return enter(a);
      slot = (slot + 1) & mask_;
    }
    if (table_[slot].line == forgotten) [[unlikely]]
      table_[slot].line = next_number();
    return table_[slot].line;
  }

  // Whether `core` can read, or write, the line without asking for it.
  [[nodiscard]] bool readable(unsigned core, number l) const noexcept {
    const copy& c = copies_[core * kept_ + (l & (kept_ - 1))];
    return c.line == l && c.version == lines_[l].version;
  }
  [[nodiscard]] bool writable(unsigned core, number l) const noexcept {
    return lines_[l].owner == core && lines_[l].copies == 0 && readable(core, l);
  }

  // Whether another core has written it last.
  [[nodiscard]] bool of_another(unsigned core, number l) const noexcept {
    return lines_[l].owner != core && lines_[l].owner != nobody;
  }
  // Whether others than its owner have copies.
  [[nodiscard]] bool copied(number l) const noexcept { return lines_[l].copies != 0; }

  // `core` asks for the line at `now`, to read it or to have it alone. Returns when it arrives; then call arrived().
  [[nodiscard]] std::uint64_t ask(unsigned core, number l, std::uint64_t now, bool alone) noexcept;
  void arrived(unsigned core, number l, bool alone) noexcept;
  // A plain store to a line that is not here alone: others lose their copies, and the writer does not wait. Who wants
  // to see what was written waits for what several copies take longer to go than one.
  void take(unsigned core, number l, std::uint64_t now) noexcept;

  // The memory at the address is new: nobody has its lines. They are numbered when they are touched next, as lines that
  // were never seen: whether memory is used again, and which, is the allocator's affair and may be another each time.
  void forget(const void* address, std::size_t bytes);

  struct counts {
    std::uint64_t transfers = 0;  // lines that came from another core, or whose copies elsewhere had to go
    std::uint64_t fetches = 0;    // from memory
    std::uint64_t waits_ps = 0;   // time spent behind others who wanted the same line
  };
  [[nodiscard]] const counts& total() const noexcept { return counts_; }

  // Whether there was no memory for a line. It and those after it share one that there is: their times are wrong.
  [[nodiscard]] bool ran_out() const noexcept { return ran_out_; }

 private:
  static constexpr unsigned line_bits = 6;
  static constexpr std::uint16_t nobody = 0xffff;
  static constexpr number forgotten = ~number{0};
  struct line {
    std::uint64_t busy_until = 0;  // when the last transfer that somebody asked for is over
    std::uint64_t gone_at = 0;     // when the copies that plain stores found elsewhere are gone
    std::uint32_t version = 0;     // grows when copies become worthless
    std::uint16_t owner = nobody;  // who wrote it last
    std::uint16_t next = nobody;   // who will have it when all transfers are over
    std::uint16_t copies = 0;      // of others than the owner; one that was crowded out and came again counts twice
    std::uint8_t farthest = 0;     // distance of the farthest copy from the owner
    bool told = false;             // copies go already: somebody waits for that
  };
  struct copy {
    number line = ~number{0};
    std::uint32_t version = 0;
  };
  struct entry {
    std::uintptr_t address = 0;  // in lines; 0: none
    number line = 0;
  };

  [[nodiscard]] static std::size_t hash(std::uintptr_t a) noexcept {
    return static_cast<std::size_t>(a * 0x9e3779b97f4a7c15u >> 20);
  }
  [[nodiscard]] number enter(std::uintptr_t a) noexcept;
  void make_room();
  [[nodiscard]] number next_number() noexcept;
  [[nodiscard]] unsigned distance(unsigned a, unsigned b) const noexcept { return distance_[a * workers_ + b]; }
  [[nodiscard]] std::uint64_t several_ps(unsigned core, number l, unsigned far) const noexcept;

  const model::line_costs costs_;
  const unsigned workers_;
  unsigned kept_;                       // a power of two
  std::vector<std::uint8_t> distance_;  // [a * workers + b]
  std::vector<std::uint8_t> farthest_;  // [worker] of all cores of the machine
  std::vector<line> lines_;
  std::vector<copy> copies_;  // kept_ for each core
  std::vector<entry> table_;  // open addressing; a power of two, at most half full
  std::size_t mask_;
  std::size_t known_ = 0;  // entries in use
  bool ran_out_ = false;
  counts counts_;
};

}  // namespace weft::machine
