#include "sched/stall_report.hpp"

#include "access/registration.hpp"

namespace weft::sched {

namespace {

constexpr int shown_max = 8;

[[nodiscard]] bool is_gone(const access::entry& a) noexcept {
  return (a.handle_and_kind & detail::handle_address_mask) == 0;
}

[[nodiscard]] std::string describe_task(const detail::record& r) {
  return r.name != nullptr ? "task '" + std::string(r.name) + "'" : std::string("an unnamed task");
}

[[nodiscard]] std::string describe_blocked(detail::record& r) {
  return describe_task(r) + " waits for " + describe_wait(access::awaited(&r));
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

}  // namespace

std::string describe_wait(const access::entry& a) {
  if (is_gone(a)) return "a handle that is gone";
  const detail::handle_state& h = access::handle_of(a);
  if (access::is_resource(a)) return std::to_string(a.required) + " units of resource " + access::name_of(h);
  return "version " + std::to_string(a.required & access::version_mask) + " of handle " + access::name_of(h) +
         ", which is at " + std::to_string(access::version_in(detail::peek(h.word)));
}

std::string describe_listed(const detail::handle_state& h) {
  lines all;
  for (detail::record* r = h.waiters_head; r != nullptr; r = r->next)
    if (r->kind == detail::record_kind::task) all.add(describe_blocked(*r));
  return all.text();
}

std::string describe_stall(task::slabs& records, event_board& events) {
  lines all;
  records.for_each([&](detail::record& r) {
    if (r.state == detail::record_state::running)
      all.add(describe_task(r) + " waits inside its body" + events.awaited_by(&r));
    if (r.state == detail::record_state::draining)
      all.add(describe_task(r) + " waits for " +
              (detail::peek(r.pending) == detail::record::event_bit ? events.event_of(r) : "its subtasks"));
    if (r.state == detail::record_state::blocked) all.add(describe_blocked(r));
  });
  const std::string main = events.awaited_by(nullptr);
  if (!main.empty()) return "weft: the main thread waits" + main + ", and no task can run any more" +
                            (all.count() == 0 ? "." : "; not done:") + all.text();
  return "weft: no task can run any more, but " + std::to_string(all.count()) +
         " are not done; a task must not wait for one that needs what it holds itself:" + all.text();
}

void abandon_all(task::slabs& records) noexcept {
  records.for_each([](detail::record& r) {
    if (!is_stuck(r)) return;
    if (r.state == detail::record_state::blocked) r.invoke(r, false);
    for (std::uint32_t i = 0; i < r.access_count; ++i) {
      if (is_gone(r.accesses()[i])) continue;
      detail::handle_state& h = access::handle_of(r.accesses()[i]);
      h.waiters_head = h.waiters_tail = nullptr;
      h.exclusive_taken = false;
      h.word.raw = access::word_at(h.registered);
    }
  });
}

void abandon_uses_of(task::slabs& records, detail::handle_state& h) noexcept {
  records.for_each([&h](detail::record& r) {
    if (!is_stuck(r)) return;
    for (std::uint32_t i = 0; i < r.access_count; ++i)
      if (!is_gone(r.accesses()[i]) && &access::handle_of(r.accesses()[i]) == &h)
        r.accesses()[i].handle_and_kind = detail::kind_repeated;
  });
}

}  // namespace weft::sched
