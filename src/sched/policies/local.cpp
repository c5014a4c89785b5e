// local, the default: a task stays where it became ready, which is where the data it waited for was last used
// (SuperGlue §3.2), and an idle worker robs the nearest first.
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class local final : public policy {
 public:
  explicit local(const place::tree& places) : places_(places) {}
  target ready(unsigned, const detail::record&) override { return target::own_deque; }
  unsigned victim(unsigned self, unsigned i, base::random&) override { return places_.neighbours(self)[i]; }

 private:
  const place::tree& places_;
};

}  // namespace

std::unique_ptr<policy> make_local(const place::tree& places) { return std::make_unique<local>(places); }

}  // namespace weft::sched
