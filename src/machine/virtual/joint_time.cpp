#include "machine/virtual/joint_time.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/assert.hpp"

namespace weft::machine {

namespace {
constexpr std::size_t program_stack_bytes = std::size_t{8} << 20;  // as the first thread of a process has, as a rule
}

joint_time::joint_time(unsigned nodes, std::uint64_t lookahead_ps, between& b)
    : lookahead_ps_(lookahead_ps), between_(b) {
  WEFT_ASSERT(nodes != 0 && lookahead_ps != 0);
  for (unsigned n = 0; n < nodes; ++n) nodes_.push_back(std::make_unique<node>(*this, n));
}
joint_time::~joint_time() = default;

std::uint64_t joint_time::node::next_ps() const noexcept {
  if (ended) return never;
  if (!begun) return 0;
  WEFT_ASSERT(machine != nullptr);  // a program gives its thread back through its machine only
  return machine->next_ps();
}

void joint_time::node::pass(fiber& from) {
  at = &from;
  from.jump(all.home_, nullptr);
}

void joint_time::begin(void* n) {
  node& self = *static_cast<node*>(n);
  self.all.program_(self.all.with_, self.number);
  WEFT_ASSERT(self.machine == nullptr);
  self.ended = true;
  self.stack->jump_out(self.all.home_);
}

// The thread looks to each program as if it were its own.
void joint_time::go_on(node& n, std::uint64_t until_ps) {
  virtual_machine* const here = virtual_machine::set_current(nullptr);
  detail::worker* const worker = std::exchange(detail::this_worker, nullptr);
  if (n.machine != nullptr) n.machine->limit(until_ps);
  n.begun = true;
  home_.jump(*n.at, nullptr);
  static_cast<void>(virtual_machine::set_current(here));
  detail::this_worker = worker;
}

void joint_time::run(void (*program)(void* with, unsigned node), void* with) {
  program_ = program;
  with_ = with;
  for (auto& n : nodes_) {
    n->stack = std::make_unique<fiber>(program_stack_bytes, &begin, n.get());
    n->at = n->stack.get();
    n->begun = n->ended = false;
  }
  for (;;) {
    std::uint64_t first = between_.next_ps();
    for (const auto& n : nodes_) first = std::min(first, n->next_ps());
    if (std::ranges::all_of(nodes_, [](const auto& n) { return n->ended; })) break;
    if (first == never) {
      if (!between_.stalled()) tell_one_of_stall();
      continue;
    }
    window_ps_ = first;
    const std::uint64_t until = std::min(first, never - 1 - lookahead_ps_) + lookahead_ps_;
    between_.advance(until);
    for (const auto& n : nodes_)
      if (n->next_ps() < until) go_on(*n, until);
  }
  for (auto& n : nodes_) n->stack.reset();
}

void joint_time::join(unsigned number, virtual_machine& m, bool& hears, std::uint64_t notice_ps) {
  node& n = *nodes_[number];
  WEFT_ASSERT(n.begun && n.machine == nullptr);
  n.machine = &m;
  n.hears = &hears;
  hears = true;
  m.join_others(&n, notice_ps);
}

void joint_time::leave(unsigned number) {
  node& n = *nodes_[number];
  if (n.machine == nullptr) return;
  n.machine->join_others(nullptr, 0);
  *n.hears = false;
  n.machine = nullptr;
}

void joint_time::message_at(unsigned number, std::uint64_t at_ps) {
  node& n = *nodes_[number];
  if (n.machine == nullptr) return;
  if (at_ps != never) *n.hears = true;
  n.machine->message_at(at_ps);
}

// All wait and nothing is on its way: the first that has not been told looks again, and finds that it can wait for
// nobody outside. What it then does may be what others wait for.
void joint_time::tell_one_of_stall() {
  for (const auto& n : nodes_) {
    if (n->ended || !*n->hears) continue;
    *n->hears = false;
    return n->machine->message_at(0);
  }
  std::fprintf(stderr, "weft: the nodes of a modelled cluster wait for one another, and none of them can be told\n");
  std::abort();
}

}  // namespace weft::machine
