// Messages on their way between nodes, in virtual time. A message that leaves at t takes its latency, and then its
// bytes flow: all that are flowing share the links they pass max-min fairly (sharing.hpp), each direction of a link for
// itself. So a message alone arrives at t + latency + bytes / the slowest of its links.
// Nothing that leaves at t is felt anywhere before t + lookahead_ps(): this far, and no farther, what is known at t
// decides what happens.
// Same messages at the same times, in the same order: same arrivals, bit for bit.
#pragma once
#include <cstdint>
#include <vector>

#include "model/fabric.hpp"
#include "model/network_costs.hpp"
#include "model/sharing.hpp"

namespace weft::model {

class network {
 public:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  struct arrival {
    std::uint64_t at_ps;
    std::uint64_t message;
  };

  explicit network(const network_costs& costs);

  // A message leaves. Not before what advance() has been asked for, less the lookahead; in any order.
  // Returns when it would arrive if it were alone. Cost: O(its links).
  std::uint64_t send(std::uint64_t message, unsigned from, unsigned to, std::uint64_t bytes, std::uint64_t at_ps);
  // All that happens before that time; what arrives is added to `out`, in order of time.
  void advance(std::uint64_t until_ps, std::vector<arrival>& out);
  // When the next thing happens; never: nothing is on its way.
  [[nodiscard]] std::uint64_t next_ps();
  // Of a message of no bytes between two nodes, without what cores do: its way there, as a control message has it.
  [[nodiscard]] std::uint64_t latency_ps(unsigned from, unsigned to);
  [[nodiscard]] std::uint64_t lookahead_ps() const noexcept { return costs_.latency_ps; }

  // How long a link was full, by its direction's number; for reports.
  [[nodiscard]] std::uint32_t links() const noexcept { return fabric_.links(); }
  [[nodiscard]] sharing::use_of_time times(std::uint32_t link) const { return sharing_.times(link, now_ps_); }

 private:
  struct flight {
    std::uint64_t message = 0;
    double bytes = 0;
    unsigned from = 0;
    bool flows = false;
    std::uint64_t event = 0;  // that is next of it; others of it in the heap count no more
    std::vector<sharing::demand> links;
  };
  struct event {
    std::uint64_t time, sequence;
    std::uint32_t flight;
    [[nodiscard]] bool later_than(const event& o) const noexcept {
      return time != o.time ? time > o.time : sequence > o.sequence;
    }
  };
  void expect(std::uint32_t f, std::uint64_t at_ps);
  void drop_old();
  void begin(std::uint32_t f, std::vector<arrival>& out);
  void end(std::uint32_t f, std::vector<arrival>& out);
  void follow_changes();

  network_costs costs_;
  fabric fabric_;
  sharing sharing_;
  std::vector<flight> flights_;
  std::vector<std::uint32_t> free_;
  std::vector<event> events_;        // a heap by later_than
  std::vector<std::uint64_t> next_;  // [node] when a message of it may flow
  std::vector<change> changed_;
  fabric::way way_;
  std::uint64_t sequence_ = 0, now_ps_ = 0;
};

}  // namespace weft::model
