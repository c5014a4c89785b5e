#include "weft/cluster.hpp"

#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "agreement.hpp"

namespace weft {

struct cluster::inside {
  inside(int ranks, int tags)
      : exceptions(std::uncaught_exceptions()) {
    for (int r = 0; r < ranks; ++r) {
      to.emplace_back(static_cast<std::uint32_t>(tags));
      from.emplace_back(static_cast<std::uint32_t>(tags));
    }
  }
  std::vector<detail::tags_in_turns> to, from;
  int exceptions;  // that were on their way when this was made
  std::mutex mutex;
  detail::first_failure first;  // on this rank; under the mutex
  std::exception_ptr thrown;
};

cluster::cluster(runtime& rt, transport& net)
    : ranks(rt, net), modelled_(the_poller().is_modelled()),
      notes_(std::make_unique<detail::task_note[]>(compared_each)),
      inside_(std::make_unique<inside>(size(), tags())),
      agreement_(std::make_unique<detail::agreement>(*this, the_poller(), control_tag())) {}

cluster::~cluster() {
  if (std::uncaught_exceptions() > inside_->exceptions) {
    agreement_->give_up("weft: rank " + std::to_string(rank()) + " has left its program by an exception");
    try {
      on().wait();
    } catch (...) {
      // The one that is on its way says more.
    }
  } else if (!the_poller().failed()) {
    try {
      fence();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "weft: at the end of rank %d, unnoticed until now: %s\n", rank(), e.what());
    } catch (...) {
      std::fprintf(stderr, "weft: at the end of rank %d, unnoticed until now: a task threw something\n", rank());
    }
  }
  the_poller().close();  // whatever it still has is for the agreement
}

void cluster::fence() {
  require_program("fence");
  compare();
  std::exception_ptr waited;
  try {
    on().wait();
  } catch (...) {
    waited = std::current_exception();
  }
  detail::first_failure mine;
  std::exception_ptr thrown;
  {
    const std::scoped_lock hold(inside_->mutex);
    mine = std::exchange(inside_->first, {});
    thrown = std::exchange(inside_->thrown, nullptr);
  }
  if (thrown == nullptr && waited != nullptr) {
    thrown = waited;
    mine = {detail::first_failure::of_no_task, rank(), detail::text_of(waited)};
  }
  const detail::first_failure all = agreement_->end(mine);
  drop_copies(all.rank >= 0);
  if (all.rank < 0) return;
  if (all.rank == rank()) std::rethrow_exception(thrown);
  throw error("weft: on rank " + std::to_string(all.rank) + ": " + all.text);
}

std::string detail::text_of(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return x.what();
  } catch (...) {
    return "a task threw something that is no std::exception";
  }
}

void detail::note_failure(cluster& of, std::uint64_t task, std::exception_ptr why) noexcept {
  cluster::inside& in = *of.inside_;
  const std::scoped_lock hold(in.mutex);
  if (task >= in.first.task) return;
  in.first = {task, of.rank(), text_of(why)};
  in.thrown = std::move(why);
}

// After a failure nobody knows whose copies are good, but the rank that wrote last.
void cluster::drop_copies(bool all) noexcept {
  for (detail::cluster_state* h = first_; h != nullptr; h = h->after) {
    if (all && h->source == rank()) h->sent.clear();
    if (all && h->source != rank()) h->held = false;
    if (!h->held) h->drop(*h);
  }
}

// On real cores that takes what it takes. Here: of one access, on the machine of page 52, and a name.
void cluster::pay_elsewhere() {
  constexpr double each_ns = 5;
  const std::uint64_t all = tasks_ - here_;
  if (const std::uint64_t more = all - std::exchange(paid_elsewhere_, all); more != 0)
    on().charge(static_cast<double>(more) * each_ns);
}

void cluster::compare() {
  if (modelled_) pay_elsewhere();
  agreement_->compare(tasks_, hash_, {notes_.get(), notes_.get() + noted_});
  noted_ = 0;
}

void cluster::note_extra(std::uint64_t what, const detail::cluster_state& h, const char* name) {
  step s;
  s.hash = (what * 0x9e3779b97f4a7c15u ^ h.id) * 0x9e3779b97f4a7c15u;
  s.name = name;
  keep(s);
}

std::uint32_t cluster::enlist(detail::cluster_state& s, int owner) {
  if (owner < 0 || owner >= size())
    throw error("weft: a handle is to be owned by rank " + std::to_string(owner) + "; the ranks are 0 to " +
                std::to_string(size() - 1));
  s.id = ++handles_;
  s.owner = s.source = owner;
  s.held = owner == rank();
  s.after = first_;
  if (first_ != nullptr) first_->before = &s;
  first_ = &s;
  note_extra(static_cast<std::uint64_t>(owner) + 1000, s, "a handle is made");
  return s.id;
}

void cluster::strike(detail::cluster_state& s) noexcept {
  (s.before == nullptr ? first_ : s.before->after) = s.after;
  if (s.after != nullptr) s.after->before = s.before;
}

detail::task_flight* cluster::fly_next(int peer, bool sends) {
  detail::tags_in_turns& turns = (sends ? inside_->to : inside_->from)[static_cast<std::size_t>(peer)];
  const detail::tags_in_turns::tag t = turns.take();
  detail::task_flight* const f = fly(peer, first_tag() + static_cast<int>(t.number), sends);
  f->tags = t.half;
  return f;
}

void cluster::send_version(detail::cluster_state& h, int to) {
  h.sent.add(static_cast<unsigned>(to), static_cast<unsigned>(size()));
  h.send(*this, h, to);
}

void cluster::receive_version(detail::cluster_state& h) {
  h.held = true;
  h.receive(*this, h);
}

void cluster::migrate(detail::cluster_state& h, int owner) {
  if (h.of != this) throw_foreign_handle();
  if (owner < 0 || owner >= size())
    throw error("weft: a handle is to move to rank " + std::to_string(owner) + "; the ranks are 0 to " +
                std::to_string(size() - 1));
  require_program("migrate");
  note_extra(static_cast<std::uint64_t>(owner) + 1'000'000, h, "a handle moves");
  if (owner == rank() && !h.held) receive_version(h);
  if (owner != rank() && h.source == rank() && !h.sent.has(static_cast<unsigned>(owner))) send_version(h, owner);
  h.owner = owner;
}

void cluster::get(detail::cluster_state& h, handle_base& local) {
  if (h.of != this) throw_foreign_handle();
  require_program("get");
  note_extra(2'000'000, h, "all get a handle");
  if (!h.held) receive_version(h);
  if (h.source == rank())
    for (int r = 0; r < size(); ++r)
      if (r != rank() && !h.sent.has(static_cast<unsigned>(r))) send_version(h, r);
  on().wait(local);
}

cluster_counts cluster::counts() const noexcept {
  return {ranks::counts(), here_, tasks_ - here_};
}

void cluster::throw_inside_a_task(const char* what) {
  throw error("weft: " + std::string(what) +
              "() of a cluster inside of a task: every rank does the same outside of tasks. A body submits to its "
              "runtime, and what it submits stays on its rank");
}

void cluster::throw_foreign_handle() {
  throw error("weft: a task of a cluster names a handle of another one");
}

}  // namespace weft
