// What the policies that follow hints (weft/near.hpp) have in common: a task whose data lie at one memory node goes to
// the queue of that node, or stays where it is if that is its own; one whose data span nodes goes to the queue of the
// machine.
#pragma once
#include "sched/policies/locality.hpp"
#include "sched/policies/policy.hpp"

namespace weft::sched {

class hinted : public policy {
 public:
  explicit hinted(const place::tree& places) : policy(places) { wish_.open(places); }
  destination ready(unsigned self, const detail::record& r, base::random&) override {
    if (!locality::is_node(r.near)) return r.near == locality::spans ? destination::central() : unhinted();
    const unsigned node = wish_.node(r.near);
    return self != nobody && places().node_of(self) == node ? destination::own()
                                                            : destination::node(static_cast<std::uint16_t>(node));
  }
  bool always_own_deque() const noexcept override { return false; }
  bool uses_nodes() const noexcept override { return true; }
  bool has_partners() const noexcept override { return false; }

 protected:
  [[nodiscard]] virtual destination unhinted() const noexcept { return destination::own(); }

 private:
  locality wish_;
};

}  // namespace weft::sched
