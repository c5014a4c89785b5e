#include "sched/policies/outside.hpp"

#include <cstdio>
#include <exception>

#include "access/entry.hpp"
#include "base/atomic.hpp"
#include "sched/policies/locality.hpp"

namespace weft {

unsigned policy_places::workers() const noexcept { return tree_.workers(); }
unsigned policy_places::nodes() const noexcept { return tree_.nodes(); }
unsigned policy_places::node_of(unsigned worker) const noexcept {
  WEFT_ASSERT(worker < workers());
  return tree_.node_of(worker);
}
unsigned policy_places::neighbour(unsigned worker, unsigned i) const noexcept {
  WEFT_ASSERT(worker < workers() && i + 1 < workers());
  return tree_.neighbours(worker)[i];
}
unsigned policy_places::served_by(unsigned node) const noexcept { return tree_.served_by(node); }
unsigned policy_places::distance(unsigned a, unsigned b) const noexcept {
  WEFT_ASSERT(a < workers() && b < workers());
  return tree_.distance(a, b);
}

const char* policy_task::name() const noexcept { return r_.name; }
bool policy_task::is_urgent() const noexcept { return r_.urgent; }
unsigned policy_task::accesses() const noexcept { return r_.access_count; }

policy_task::datum policy_task::access(unsigned i) const noexcept {
  WEFT_ASSERT(i < r_.access_count);
  const access::entry& a = const_cast<detail::record&>(r_).accesses()[i];
  if (!access::has_handle(a)) return {nullptr, 0, nowhere, false};
  const detail::handle_state& h = access::handle_of(a);
  const std::uint64_t bytes = access::is_resource(a) ? 0 : detail::bytes_of(h);
  const std::uint16_t home = bytes == 0 ? detail::no_home : detail::home_of(h);
  return {&h, bytes, home == detail::no_home ? nowhere : home, (access::kind_of(a) & detail::kind_readonly) == 0};
}

unsigned policy_task::hinted_node(const policy_places& places) const noexcept {
  if (!sched::locality::is_node(r_.near)) return nowhere;
  return places.served_by(r_.near - 1u);
}

std::uint32_t chance::below(std::uint32_t n) noexcept {
  WEFT_ASSERT(n != 0);
  return source_.below(n);
}

namespace sched {

outside::outside(const weft::policy& table, const place::tree& places)
    : policy(places), table_(table), shown_(places), state_(table.make != nullptr ? table.make(shown_) : nullptr) {}

outside::~outside() {
  if (table_.end != nullptr) table_.end(state_);
}

template <class F, class Right, class What>
auto outside::asked(F f, Right is_right, What what, decltype(f()) otherwise) noexcept -> decltype(f()) {
  try {
    const auto answer = f();
    if (is_right(answer)) return answer;
    complain(what(answer));
  } catch (const std::exception& e) {
    complain(std::string("throws '") + e.what() + "'");
  } catch (...) {
    complain("throws");
  }
  return otherwise;
}

void outside::complain(const std::string& what) noexcept {
  if (base::shared(has_complained_).exchange(1, base::relaxed) != 0) return;
  std::fprintf(stderr, "weft: policy '%s' %s; the default answer is taken, here and whenever it does so again.\n",
               table_.name, what.c_str());
}

bool outside::can_go(const destination& d) const noexcept {
  switch (d.where) {
  case destination::queue::worker: return d.number < places().workers();
  case destination::queue::node:
  case destination::queue::pile: return d.number < places().nodes();
  case destination::queue::own:
  case destination::queue::central:
  case destination::queue::urgent: return true;
  }
  return false;
}

destination outside::ready(unsigned self, const detail::record& r, base::random& rng) {
  if (table_.ready == nullptr) return destination::own();
  destination d = asked(
      [&] {
        chance draw(rng);
        return table_.ready(state_, shown_, self, policy_task(r), draw);
      },
      [this](const destination& x) { return can_go(x); },
      [this](const destination& x) {
        const bool is_worker = x.where == destination::queue::worker;
        return "sends a task to " + std::string(is_worker ? "worker " : "memory node ") + std::to_string(x.number) +
               " of " + std::to_string(is_worker ? places().workers() : places().nodes());
      },
      destination::own());
  // A node without workers has nobody who looks there: the one that serves it does.
  if (d.where == destination::queue::node || d.where == destination::queue::pile)
    d.number = static_cast<std::uint16_t>(places().served_by(d.number));
  return d;
}

unsigned outside::victim(unsigned self, unsigned i, base::random& rng) {
  const unsigned nearest = policy::victim(self, i, rng);
  if (table_.victim == nullptr) return nearest;
  return asked(
      [&] {
        chance draw(rng);
        return table_.victim(state_, shown_, self, i, draw);
      },
      [&](unsigned v) { return v != self && v < places().workers(); },
      [&](unsigned v) {
        return "lets worker " + std::to_string(self) + " of " + std::to_string(places().workers()) + " rob worker " +
               std::to_string(v);
      },
      nearest);
}

unsigned outside::how_many(unsigned self, unsigned victim, unsigned available) {
  const unsigned half = policy::how_many(self, victim, available);
  if (table_.how_many == nullptr) return half;
  return asked([&] { return table_.how_many(state_, self, victim, available); },
               [&](unsigned n) { return n != 0 && n <= available; },
               [&](unsigned n) { return "takes " + std::to_string(n) + " of " + std::to_string(available) + " tasks"; },
               half);
}

unsigned outside::width(unsigned self, const detail::record& r, unsigned least, unsigned most) {
  if (table_.width == nullptr) return most;
  return asked([&] { return table_.width(state_, self, policy_task(r), least, most); },
               [&](unsigned n) { return n >= least && n <= most; },
               [&](unsigned n) {
                 return "makes a team of " + std::to_string(least) + " to " + std::to_string(most) + " workers " +
                        std::to_string(n) + " wide";
               },
               most);
}

void outside::ran(unsigned self, const detail::record& r, std::uint64_t body_ps) {
  if (table_.ran == nullptr) return;
  static_cast<void>(asked(
      [&] {
        table_.ran(state_, self, policy_task(r), static_cast<double>(body_ps) / 1000);
        return true;
      },
      [](bool) { return true; }, [](bool) { return std::string(); }, true));
}

}  // namespace sched
}  // namespace weft
