// push_input, push_output, push_weighted: OpenStream's enhanced work-pushing (§2.3). A task with enough data goes to a
// random worker of the node where they are cheapest to use, if that has room for it; else it stays with who made it
// ready. Underneath workers look for work near to far (§4.1). push_random pushes the same tasks as push_weighted, and
// as far as room goes, to a random worker of a random node: what pushing does without knowing where data are.
#include "sched/policies/pushing.hpp"
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class push : public policy {
 public:
  push(const place::tree& places, pushing::counts which) : policy(places), cheap_(places, which) {}
  destination ready(unsigned self, const detail::record& r, base::random& rng) override {
    const unsigned own = self == nobody ? pushing::nowhere : places().node_of(self);
    const std::optional<unsigned> best = cheap_.node(own, r);
    if (!best) return destination::own();
    const unsigned node = choose(*best, rng);
    return node == own ? destination::own() : at(node, rng);
  }
  search_levels levels() const noexcept override { return search_levels::near_to_far; }
  bool always_own_deque() const noexcept override { return false; }
  bool pushes() const noexcept override { return true; }
  bool has_partners() const noexcept override { return false; }

 protected:
  [[nodiscard]] virtual unsigned choose(unsigned best, base::random&) const { return best; }
  [[nodiscard]] destination at(unsigned node, base::random& rng) const {
    const auto& those = cheap_.at(node);
    return destination::pushed(those[rng.below(static_cast<std::uint32_t>(those.size()))]);
  }
  [[nodiscard]] const pushing& cheap() const noexcept { return cheap_; }

 private:
  pushing cheap_;
};

class push_random final : public push {
 public:
  explicit push_random(const place::tree& places) : push(places, pushing::counts::both) {}

 private:
  [[nodiscard]] unsigned choose(unsigned best, base::random& rng) const override {
    const unsigned node = rng.below(places().nodes());
    return cheap().at(node).empty() ? best : node;
  }
};

}  // namespace

std::unique_ptr<policy> make_push_input(const place::tree& places) {
  return std::make_unique<push>(places, pushing::counts::inputs);
}
std::unique_ptr<policy> make_push_output(const place::tree& places) {
  return std::make_unique<push>(places, pushing::counts::outputs);
}
std::unique_ptr<policy> make_push_weighted(const place::tree& places) {
  return std::make_unique<push>(places, pushing::counts::both);
}
std::unique_ptr<policy> make_push_random(const place::tree& places) { return std::make_unique<push_random>(places); }

}  // namespace weft::sched
