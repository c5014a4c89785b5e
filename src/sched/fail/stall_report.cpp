#include "sched/fail/stall_report.hpp"

#include <unordered_map>
#include <unordered_set>

#include "access/condition.hpp"
#include "base/printable.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

namespace {

constexpr int shown_max = 8;

[[nodiscard]] std::string describe_task(const detail::record& r) {
  return r.name != nullptr ? "task '" + base::printable(r.name) + "'" : std::string("an unnamed task");
}

[[nodiscard]] std::string describe_blocked(detail::record& r) { return describe_task(r) + " " + access::describe(r); }

// A body that is set aside names what it waits in (suspension.hpp). One that never waited can be found here only while
// it computes; then it is nobody's to describe.
[[nodiscard]] std::string describe_running(const detail::record& r, event_board& events) {
  const std::string who = describe_task(r) + " waits inside its body";
  const std::string what = events.awaited_by(&r);
  if (!what.empty()) return who + what;
  if (!r.has_waited) return who;
  const waiter* self = r.running.waits_in != nullptr ? &waiter::of(r.running.waits_in) : nullptr;
  if (self != nullptr && self->joins != nullptr) return who + " for the other half of its fork";
  if (self != nullptr && self->in_team != nullptr) return who + " for other members of its team";
  return who + " for " + (self != nullptr && self->awaited != nullptr ? describe_wait(self->a) : "its children");
}

// Its body has returned: children are not done, or nothing is left but its event.
[[nodiscard]] std::string describe_draining(const detail::record& r, event_board& events) {
  const bool only_event = detail::peek(r.pending) == detail::record::event_bit;
  return describe_task(r) + " waits for " + (only_event ? events.event_of(r) : "its subtasks");
}

// Lines, of which only the first few are kept.
class lines {
 public:
  void add(const std::string& line) {
    if (++count_ <= shown_max) text_ += "\n  " + line;
  }
  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] std::string text() const {
    return count_ <= shown_max ? text_ : text_ + "\n  and " + std::to_string(count_ - shown_max) + " more";
  }

 private:
  std::string text_;
  int count_ = 0;
};

// After a stall: neither free nor done for good.
[[nodiscard]] bool is_stuck(const detail::record& r) noexcept {
  return r.state == detail::record_state::blocked || r.state == detail::record_state::running ||
         r.state == detail::record_state::draining;
}

// Which of the tasks that are not done would go on if others of them were: these are behind. What is left are those to
// look at first, since nobody of the list can bring what they wait for, or they wait for each other in a circle.
class blame {
 public:
  explicit blame(task::slabs& records) {
    records.for_each([&](detail::record& r) {
      if (!is_stuck(r)) return;
      if (r.parent != nullptr) parents_.insert(r.parent);
      for (std::uint32_t i = 0; i < r.access_count; ++i) {
        const access::entry& a = r.accesses()[i];
        if (!access::has_handle(a) || access::is_repeated(a)) continue;
        if (r.state != detail::record_state::blocked && access::is_exclusive(a)) held_.insert(&access::handle_of(a));
        const auto [at, is_new] = first_.try_emplace(&access::handle_of(a), a.required);
        if (!is_new && access::reached(at->second, a.required)) at->second = a.required;
      }
    });
  }
  [[nodiscard]] bool is_behind(detail::record& r) const {
    if (r.state == detail::record_state::blocked)
      return r.waits_exclusive ? held_.contains(&access::handle_of(access::awaited(&r)))
                               : is_behind(access::awaited(&r));
    if (r.state == detail::record_state::draining) return parents_.contains(&r);
    if (!r.has_waited || r.running.waits_in == nullptr) return false;
    const waiter& in = waiter::of(r.running.waits_in);
    return in.awaited != nullptr ? is_behind(in.a) : in.children_of != nullptr && parents_.contains(&r);
  }

 private:
  [[nodiscard]] bool is_behind(const access::entry& a) const {
    if (!access::has_handle(a)) return false;
    const auto at = first_.find(&access::handle_of(a));
    return at != first_.end() && !access::reached(at->second, a.required);
  }

  std::unordered_set<const detail::record*> parents_;
  std::unordered_map<const detail::handle_state*, std::uint64_t> first_;  // what the first of them required
  std::unordered_set<const detail::handle_state*> held_;                  // of an add whose body has begun
};

}  // namespace

// Who waits for a stream to end waits for the version of a handle that the program never saw. Tasks that are listed on
// it know what it is.
std::string describe_wait(const access::entry& a) {
  if (!access::has_handle(a)) return "a handle that is gone";
  const detail::handle_state& h = access::handle_of(a);
  for (detail::record* r = h.waiters_head; r != nullptr; r = r->waiting.next)
    if (r->kind == detail::record_kind::task && access::is_of_stream(access::awaited(r)))
      return "those who use " + access::describe_buffer(h);
  return access::describe_version(h, a.required);
}

std::string describe_listed(const detail::handle_state& h) {
  WEFT_ASSERT(base::held(h.lock));
  lines all;
  for (detail::record* r = h.waiters_head; r != nullptr; r = r->waiting.next)
    if (r->kind == detail::record_kind::task) all.add(describe_blocked(*r));
  return all.text();
}

std::string describe_stall(task::slabs& records, event_board& events) {
  lines all;
  const blame by(records);
  for (const bool behind : {false, true})
    records.for_each([&](detail::record& r) {
      if (!is_stuck(r) || by.is_behind(r) != behind) return;
      if (r.state == detail::record_state::running) all.add(describe_running(r, events));
      if (r.state == detail::record_state::draining) all.add(describe_draining(r, events));
      if (r.state == detail::record_state::blocked) all.add(describe_blocked(r));
    });
  const std::string main = events.awaited_by(nullptr);
  if (!main.empty())
    return "weft: the main thread waits" + main + ", and no task can run any more" +
           (all.count() == 0 ? "." : "; not done:") + all.text();
  return "weft: no task can run any more, but " + std::to_string(all.count()) +
         " are not done; a task must not wait for one that needs what it holds itself:" + all.text();
}

void abandon_all(task::slabs& records) noexcept {
  records.for_each([](detail::record& r) {
    if (!is_stuck(r)) return;
    if (r.state == detail::record_state::blocked) r.invoke(r, detail::errand::destroy);
    for (std::uint32_t i = 0; i < r.access_count; ++i) {
      if (!access::has_handle(r.accesses()[i])) continue;
      detail::handle_state& h = access::handle_of(r.accesses()[i]);
      h.waiters_head = h.waiters_tail = nullptr;
      h.exclusive_taken = false;
      h.word.raw = access::word_at(h.registered);
    }
  });
}

bool abandon_uses_of(task::slabs& records, detail::handle_state& h) noexcept {
  bool is_stream = false;
  records.for_each([&](detail::record& r) {
    if (!is_stuck(r)) return;
    for (std::uint32_t i = 0; i < r.access_count; ++i) {
      detail::access& a = r.accesses()[i];
      if (!access::has_handle(a) || &access::handle_of(a) != &h) continue;
      const bool is_element = access::is_of_stream(a);
      a.handle_and_kind = detail::kind_repeated | (is_element ? detail::kind_resource : 0);
      is_stream |= is_element;
    }
    if (r.state != detail::record_state::running || !r.has_waited || r.running.waits_in == nullptr) return;
    if (waiter& self = waiter::of(r.running.waits_in); self.awaited == &h)
      self.a.handle_and_kind = detail::kind_repeated;
  });
  return is_stream;
}

}  // namespace weft::sched
