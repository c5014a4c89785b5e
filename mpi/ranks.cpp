#include "weft/ranks.hpp"

#include <string>

#include "poller.hpp"

namespace weft {

void transport::begin(runtime& rt) {
  if (std::string_view(rt.machine()) != "host")
    throw error("weft: a rank is on the modelled machine " + std::string(rt.machine()) +
                ", and its messages are real; give its runtime machine host, or run the ranks on a modelled "
                "cluster (weft::run_modelled_ranks)");
}

namespace detail {

namespace {

void task_over(flight& f, const std::exception_ptr& why) {
  auto* const t = static_cast<task_flight*>(&f);
  if (why != nullptr)
    t->done.fail(why);
  else if (!t->sends && t->spoiled)
    t->done.fail(std::make_exception_ptr(
        error("weft: what rank " + std::to_string(t->peer) + " was to send failed there; its fence says why")));
  else
    t->done.fulfil();
  delete t;
}

}  // namespace

// Not called: a send says that there are no data, and what is received goes nowhere, for the task that holds the datum
// is over before the message.
void begins_message::begin(bool called) noexcept {
  task_flight& f = *std::exchange(flight_, nullptr);
  const std::span<std::byte> bytes = bytes_(datum_);
  f.bytes = bytes.size();
  constexpr double nothing_ns = 1e-4;  // less than a picosecond: what it takes is the network's to say
  if (called && all_->the_poller().is_modelled()) charge(nothing_ns);
  f.data = bytes.data();
  if (!called && f.sends) {
    f.spoiled = true;
    f.data = nullptr;
  } else if (!called) {
    f.dropped = std::make_unique<std::byte[]>(f.bytes);
    f.data = f.dropped.get();
  }
  all_->the_poller().post(f);
}

}  // namespace detail

ranks::ranks(runtime& rt, transport& net)
    : rt_(rt), rank_(net.rank()), size_(net.size()), user_tags_(net.tag_limit() / 2), control_tag_(net.tag_limit()),
      poller_(std::make_unique<detail::poller>(rt, net)) {}

ranks::~ranks() {
  try {
    rt_.wait();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft: at the end of rank %d, unnoticed until now: %s\n", rank_, e.what());
  }
}

rank_counts ranks::counts() const noexcept { return poller_->counts(); }

int ranks::user_tag(int tag) const {
  if (tag < 0 || tag > tag_limit())
    throw error("weft: tag " + std::to_string(tag) + " of a message; it must be 0 to " + std::to_string(tag_limit()));
  return tag;
}

detail::task_flight* ranks::fly(int peer, int tag, bool sends) {
  if (peer < 0 || peer >= size_)
    throw error("weft: a message for rank " + std::to_string(peer) + "; the ranks are 0 to " +
                std::to_string(size_ - 1));
  auto* const f = new detail::task_flight;
  f->peer = peer;
  f->tag = tag;
  f->sends = sends;
  f->over = &detail::task_over;
  f->done.name(sends ? "message sent" : "message from another rank");
  return f;
}

}  // namespace weft
