// local, the default: a task stays where it became ready, which is where the data it waited for was last used
// (SuperGlue §3.2), and an idle worker robs the nearest first. That is what every policy does that says nothing else.
// From the first task with hints on it is the policy near, on machines where that says something: so hints are followed
// by default, and programs without them run as if there were none.
#include "sched/policies/near.hpp"
#include "sched/policies/registry.hpp"
#include "weft/detail/cell.hpp"

namespace weft::sched {

namespace {

class local final : public near {
 public:
  using near::near;
  destination ready(unsigned self, const detail::record& r, base::random& rng) override {
    return hinted_ ? near::ready(self, r, rng) : destination::own();
  }
  bool always_own_deque() const noexcept override { return true; }
  bool has_partners() const noexcept override { return !hinted_; }
  bool awaits_hints() const noexcept override { return true; }
  void hint_given() noexcept override { hinted_ = true; }

 private:
  // Order: whoever reads an old value answers as before, which is right for all tasks that have no hints; who is asked
  // about one that has them comes after its submission.
  struct flag {
    operator bool() const noexcept { return detail::peek(word) != 0; }
    void operator=(bool to) noexcept { detail::poke(word, static_cast<std::uint8_t>(to)); }
    detail::cell<std::uint8_t> word;
  } hinted_;
};

}  // namespace

std::unique_ptr<policy> make_local(const place::tree& places) {
  if (places.nodes() == 1) return std::make_unique<policy>(places);
  return std::make_unique<local>(places);
}

}  // namespace weft::sched
