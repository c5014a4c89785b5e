// tao: as go:TAO runs assemblies (TAO §3.2): a worker keeps what becomes ready and takes the newest, a thief the
// oldest, one at a time. A task with a locality address, or other hints, waits at that memory node (§3.2, initial
// placement), in the order in which it was given; it is anybody's who finds nothing nearer. Beyond the paper, whose
// thieves go by chance: they look near to far.
#include "sched/policies/locality.hpp"
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class tao final : public policy {
 public:
  explicit tao(const place::tree& places) : policy(places) { address_.open(places); }
  destination ready(unsigned, const detail::record& r, base::random&) override {
    if (!locality::is_node(r.near)) return destination::own();
    return destination::node(static_cast<std::uint16_t>(address_.node(r.near)));
  }
  unsigned how_many(unsigned, unsigned, unsigned) override { return 1; }
  search_levels levels() const noexcept override { return search_levels::near_to_far; }
  bool always_own_deque() const noexcept override { return false; }
  bool uses_nodes() const noexcept override { return true; }
  bool has_partners() const noexcept override { return false; }

 private:
  locality address_;
};

}  // namespace

std::unique_ptr<policy> make_tao(const place::tree& places) { return std::make_unique<tao>(places); }

}  // namespace weft::sched
