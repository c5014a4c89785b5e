// See sections.hpp.
#include "sections.hpp"

#include <algorithm>
#include <tuple>

namespace weft::tool::sim {

using report::none;

namespace {

// What a body does in which nothing is as it was.
constexpr std::uint64_t of_nobody = std::uint64_t{1} << 63;

[[nodiscard]] std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

// A call of a section that is run once more.
struct replayed_body {
  const sections* all;
  std::vector<std::uint64_t>* words;
  section_steps* by;
  void operator()(ordered_context& x, std::uint64_t, std::uint32_t body) const { all->call(x, body, *words, *by); }
};

// What words were before the section: what is first read there, if nobody has written there before.
[[nodiscard]] std::vector<std::uint64_t> words_before(const trace::file& f, const trace::section& s) {
  std::vector<std::uint64_t> words(s.words + std::size_t{1}, 0);
  std::uint32_t met = 0;
  for (std::uint32_t b = s.first; b < s.last; ++b)
    for (std::uint32_t i = f.bodies[b].first; i < f.bodies[b].last; ++i)
      if (const trace::touch& t = f.touches[i]; t.word > met) met = t.word, words[t.word] = t.reads;
  return words;
}

}  // namespace

sections::sections(const trace::file& f) : file_(f) {
  if (f.bodies.empty()) return;
  by_task_.resize(f.bodies.size());
  for (std::uint32_t b = 0; b < f.bodies.size(); ++b) by_task_[b] = b;
  std::sort(by_task_.begin(), by_task_.end(), [&f](std::uint32_t a, std::uint32_t b) {
    return std::tuple(f.bodies[a].task, f.bodies[a].from_ns, a) < std::tuple(f.bodies[b].task, f.bodies[b].from_ns, b);
  });
  waited_ps_.assign(f.bodies.size(), 0);
  find_items();
}

// The body in which task t was at that time, or none.
std::uint32_t sections::body_at(std::uint32_t t, std::int64_t time) const {
  auto at =
      std::upper_bound(by_task_.begin(), by_task_.end(), std::pair(t, time), [this](const auto& key, std::uint32_t b) {
        return key < std::pair(file_.bodies[b].task, file_.bodies[b].from_ns);
      });
  if (at == by_task_.begin()) return none;
  const std::uint32_t b = *--at;
  return file_.bodies[b].task == t && file_.bodies[b].to_ns >= time ? b : none;
}

void sections::find_items() {
  const auto add = [this](std::uint32_t stack, std::int64_t time, std::uint32_t task, const trace::wait* wait) {
    const std::uint32_t b = body_at(stack, time);
    if (b == none) return;
    items_.push_back({b, static_cast<double>(time - file_.bodies[b].from_ns) * 1e3, task, wait});
  };
  for (std::uint32_t t = 0; t < file_.tasks.size(); ++t) {
    const std::uint32_t parent = file_.tasks[t].parent;
    if (parent != none && file_.tasks[t].ran() && of(parent) != none && of(t) != of(parent))
      add(parent, file_.tasks[t].submitted_ns, t, nullptr);
  }
  for (const trace::wait& w : file_.waits)
    if (w.task != none && of(w.task) != none) add(w.task, w.from_ns, none, &w);
  std::stable_sort(items_.begin(), items_.end(), [](const item& a, const item& b) {
    return std::pair(a.body, a.at_ps) < std::pair(b.body, b.at_ps);
  });
  for (item& x : items_) {
    x.at_ps = std::max(0.0, x.at_ps - waited_ps_[x.body]);
    if (x.wait != nullptr) waited_ps_[x.body] += static_cast<double>(x.wait->to_ns - x.wait->from_ns) * 1e3;
  }
}

void sections::run(runtime& rt, std::uint32_t section, section_steps& by) {
  const trace::section& s = file_.sections[section];
  std::unique_ptr<ordered>& made = made_[s.section];
  if (made == nullptr)
    made = std::make_unique<ordered>(rt, ordered_options{.executor = "speculative",
                                                         .window = static_cast<std::size_t>(s.window),
                                                         .always_ahead = s.always_ahead});
  std::vector<std::uint64_t> words = words_before(file_, s);
  for (std::uint32_t k = 0; k < s.roots; ++k) {
    const std::uint32_t b = file_.numbered[s.first + k];
    made->at(file_.bodies[b].timestamp, replayed_body{this, &words, &by}, b);
  }
  made->run();
}

void sections::call(ordered_context& x, std::uint32_t body, std::vector<std::uint64_t>& words,
                    section_steps& by) const {
  const trace::body& b = file_.bodies[body];
  auto next =
      std::lower_bound(items_.begin(), items_.end(), body, [](const item& i, std::uint32_t n) { return i.body < n; });
  const double own_ps = std::max(0.0, static_cast<double>(b.own_ps) - waited_ps_[body]);
  if (b.serializes || (next != items_.end() && next->body == body)) x.serialize();
  double done_ps = 0;
  const auto until = [&](double ps) {
    ps = std::min(ps, own_ps);
    if (ps <= done_ps) return;
    by.body_computes(b.section, (ps - done_ps) * 1e-3);
    done_ps = ps;
  };
  const auto do_items = [&](double ps) {
    for (; next != items_.end() && next->body == body && next->at_ps <= ps; ++next) {
      until(next->at_ps);
      next->wait == nullptr ? by.body_submits(b.section, next->task) : by.body_waits(*next->wait);
    }
  };
  bool is_as_it_was = true;
  std::uint64_t seen = mixed(body, 1);
  for (std::uint32_t i = b.first; i < b.last; ++i) {
    const trace::touch& t = file_.touches[i];
    if (t.reads == 0) continue;
    do_items(static_cast<double>(t.before_ps));
    until(static_cast<double>(t.before_ps));
    const std::uint64_t value = x.load(words[t.word]);
    is_as_it_was = is_as_it_was && value == t.reads;
    seen = mixed(seen, value);
  }
  do_items(1e300);
  until(own_ps);
  for (std::uint32_t i = b.first; i < b.last; ++i)
    if (const trace::touch& t = file_.touches[i]; t.writes != 0)
      x.store(words[t.word], is_as_it_was ? t.writes : mixed(seen, t.word) | of_nobody);
  const trace::section& s = file_.sections[b.section];
  for (std::uint32_t k = 0; k < b.calls; ++k) {
    const std::uint32_t child = file_.numbered[s.first + b.child + k];
    x.at(file_.bodies[child].timestamp, replayed_body{this, &words, &by}, child);
  }
}

}  // namespace weft::tool::sim
