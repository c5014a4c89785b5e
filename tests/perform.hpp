// Runs a program of composed.hpp on a runtime, and says where it was not as it must be.
#pragma once
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "composed.hpp"
#include "composed_parts.hpp"

namespace composed {

class performer {
 public:
  performer(weft::runtime& rt, bool modelled) : rt_(rt), modelled_(modelled) {}

  // The statements of a block, one after the other. in_body: whether the caller is a task.
  void perform(block& b, bool in_body) {
    for (statement& s : b.statements) {
      switch (s.what) {
      case act::submit: submit(*s.jobs[0], in_body); break;
      case act::wait: s.caught = caught([&] { rt_.wait(); }); break;
      case act::look: look(b, s); break;
      case act::finish: s.caught = caught([&] { weft::finish([&] { perform(*s.inside, in_body); }); }); break;
      case act::cancel: s.got = cancel_some(s.size, s.salt); break;
      case act::fork: s.got = fork(s.salt, s.size); break;
      case act::loop: s.got = loop_side_by_side(s.salt, s.size); break;
      case act::section: s.got = section_in_order(s.salt, s.size); break;
      case act::graph: run_graph(s); break;
      case act::part: s.got = part_performer(rt_).run(s.which, s.salt, s.size); break;
      }
    }
  }

  // The first exception that `what` throws, as a job's number; 0 if none does.
  template <class What> static unsigned caught(What what) {
    try {
      what();
    } catch (const failure& f) {
      return f.id;
    }
    return 0;
  }

 private:
  // What a body was handed of streams, and its part of a sum.
  struct spans {
    std::span<number> out;
    std::span<const number> in;
    number* part = nullptr;
    void take(number& x) { part = &x; }
    void take(std::span<number> s) { out = s; }
    void take(std::span<const number> s) { in = s; }
    template <class Other> void take(const Other&) {}
  };

  void look(block& b, statement& s) {
    try {
      s.got = rt_.get(b.cells[s.cell]).value();
    } catch (const failure&) {
      s.got = 0;
    }
  }

  // ---- bodies

  void run(job& j, spans flow) {
    ++j.runs;
    j.seen = see(j, flow);
    if (j.cost > 0) weft::charge(j.cost);
    for (unsigned i = 0; i < j.yields; ++i) weft::yield();
    write(j, flow);
    if (j.by == fulfils::itself || (j.by == fulfils::later && !modelled_)) j.event->fulfil();
    if (j.by == fulfils::later && modelled_) j.event->fulfil_after(j.id % 7 * 400);
    if (j.inside) go_on(j);
    if (j.throws) throw failure{j.id};
  }
  void go_on(job& j) {
    if (j.end == ending::leaves) return perform(*j.inside, true);
    try {
      if (j.end == ending::finishes) {
        weft::finish([&] { perform(*j.inside, true); });
      } else {
        perform(*j.inside, true);
        rt_.wait();
      }
    } catch (const failure& f) {
      j.caught = f.id;
      if (j.passes_on) throw;
    }
  }
  static number see(const job& j, const spans& flow) {
    block& b = *j.of;
    number seen = j.salt();
    for (const use& u : j.uses)
      if (u.kind == how::read || u.kind == how::write) seen = mix(seen, b.cells[u.cell].unguarded().value());
    for (const number x : flow.in) seen = mix(seen, x);
    if (j.reuses.stream >= 0)
      for (const number x : flow.out) seen = mix(seen, x);
    if (j.sees_sum >= 0) seen = mix(seen, b.sums[static_cast<unsigned>(j.sees_sum)].unguarded());
    return seen;
  }
  static void write(const job& j, const spans& flow) {
    block& b = *j.of;
    for (const use& u : j.uses) {
      cell& c = b.cells[u.cell].unguarded();
      if (u.kind == how::write) c.ordered = j.seen;
      if (u.kind == how::add) c.sum = c.sum + j.salt();
      if (u.kind == how::concurrent) std::atomic_ref(c.sum).fetch_add(j.salt(), std::memory_order_relaxed);
    }
    if (flow.part != nullptr) *flow.part += j.salt();
    for (std::size_t i = 0; i < flow.out.size(); ++i) flow.out[i] = mix(j.seen, i);
  }
  auto body(job& j) {
    return [this, &j](auto&&... data) {
      spans flow;
      (flow.take(data), ...);
      run(j, flow);
    };
  }
  // The first of a team does what a task does; the others meet it before.
  auto team_body(job& j) {
    return [this, &j](weft::team_context& t, auto&&... data) {
      spans flow;
      (flow.take(data), ...);
      t.barrier();
      if (t.rank() == 0) run(j, flow);
    };
  }

  // ---- submissions: clauses are types there and data here

  void submit(job& j, bool in_body) {
    if (j.as_async && in_body && j.priority < 0 && j.pin < 0) return async(j);
    if (j.team_most > 0) {
      with_handles(j, [&](auto... access) {
        const auto width = weft::team(j.team_least, j.team_most);
        if (j.pin >= 0) return rt_.submit(weft::pin(static_cast<unsigned>(j.pin)), width, access..., team_body(j));
        rt_.submit(width, access..., weft::named("team"), team_body(j));
      });
    } else {
      with_access(j, [&](auto... access) { with_clauses(j, rt_, access...); });
    }
    after(j);
  }
  // What else an event needs of its submitter.
  void after(job& j) {
    if (j.by == fulfils::submitter) fulfil(*j.event);
    if (j.by == fulfils::another) rt_.submit([&j] { fulfil(*j.event); });
  }
  // Of a task that has failed the event is over.
  static void fulfil(weft::event& e) {
    try {
      e.fulfil();
    } catch (const weft::error&) {
    }
  }
  void async(job& j) {
    if (j.uses.empty() && !j.flows() && j.reduces < 0 && j.reduces_repeatably < 0 && j.sees_sum < 0)
      return weft::async([this, &j] { run(j, {}); });
    with_access(j, [&](auto... access) { weft::async(access..., body(j)); });
  }

  template <class To, class... Access> void with_clauses(job& j, To& to, Access... access) {
    const weft::detail::priority_clause level = weft::priority(j.priority > 0 ? 1 : 0);
    const auto cost = weft::cost(j.cost);
    const auto place = weft::pin(static_cast<unsigned>(j.pin < 0 ? 0 : j.pin));
    if constexpr (std::is_same_v<To, weft::runtime>) {
      if (j.by != fulfils::none && j.pin >= 0) return to.submit(weft::completes(*j.event), place, access..., body(j));
      if (j.by != fulfils::none) return to.submit(weft::completes(*j.event), level, access..., body(j));
    }
    if (j.subtasks && j.pin >= 0) return to.submit(access..., weft::subtasks(), place, level, body(j));
    if (j.subtasks) return to.submit(weft::subtasks(), access..., cost, body(j));
    if (j.pin >= 0) return to.submit(place, access..., body(j));
    if (j.priority >= 0) return to.submit(weft::named("job"), level, cost, access..., body(j));
    to.submit(access..., body(j));
  }

  // With streams and repeatable reductions, which neither a team nor a node of a graph has.
  template <class Then> void with_access(job& j, Then then) {
    block& b = *j.of;
    if (j.reduces_repeatably >= 0) return then(weft::reduce(b.repeatable[static_cast<unsigned>(j.reduces_repeatably)]));
    if (!j.flows()) return with_handles(j, then);
    auto [r, w, a, c] = by_kind(j);
    if (j.reuses.stream >= 0) {
      auto& from = b.streams[static_cast<unsigned>(j.reuses.stream)];
      auto& to = b.streams[static_cast<unsigned>(1 - j.reuses.stream)];
      return then(weft::reuse(from, to, j.reuses.takes), weft::read(r), weft::write(w));
    }
    auto& out = b.streams[static_cast<unsigned>(j.pushes.stream < 0 ? 0 : j.pushes.stream)];
    auto& in = b.streams[static_cast<unsigned>(j.pops.stream < 0 ? 0 : j.pops.stream)];
    then(weft::pop(in, j.pops.takes, j.pops.sees), weft::push(out, j.pushes.takes), weft::read(r), weft::write(w),
         weft::add(a), weft::concurrent(c));
  }
  template <class Then> void with_handles(job& j, Then then) {
    block& b = *j.of;
    if (j.reduces >= 0) return then(weft::reduce(b.sums[static_cast<unsigned>(j.reduces)]));
    if (j.sees_sum >= 0) return then(weft::read(b.sums[static_cast<unsigned>(j.sees_sum)]));
    if (with_few(j, then)) return;
    auto [r, w, a, c] = by_kind(j);
    then(weft::read(r), weft::write(w), weft::add(a), weft::concurrent(c));
  }
  static std::array<std::vector<weft::handle<cell>*>, 4> by_kind(job& j) {
    std::array<std::vector<weft::handle<cell>*>, 4> kinds;
    for (const use& u : j.uses) kinds[static_cast<unsigned>(u.kind)].push_back(&j.of->cells[u.cell]);
    return kinds;
  }
  // The short ways: none, one or two of the usual kinds.
  template <class Then> bool with_few(job& j, Then& then) {
    const auto at = [&](unsigned i) -> weft::handle<cell>& { return j.of->cells[j.uses[i].cell]; };
    const auto is = [&](unsigned i, how kind) { return j.uses[i].kind == kind; };
    if (j.uses.empty()) return then(), true;
    if (j.uses.size() == 1 && is(0, how::write)) return then(weft::write(at(0))), true;
    if (j.uses.size() == 1 && is(0, how::add)) return then(weft::add(at(0))), true;
    if (j.uses.size() == 1 && is(0, how::read)) return then(weft::read(at(0))), true;
    if (j.uses.size() == 2 && is(0, how::read) && is(1, how::write))
      return then(weft::read(at(0)), weft::write(at(1))), true;
    return false;
  }

  // ---- statements

  void run_graph(statement& s) {
    weft::graph g(rt_, [&](weft::recorder& r) {
      for (const auto& j : s.jobs) with_handles(*j, [&](auto... access) { record(*j, r, access...); });
    });
    for (const bool now : s.at_once) now ? g.run() : g.submit();
  }
  template <class... Access> void record(job& j, weft::recorder& r, Access... access) {
    if (j.pin >= 0) return r.submit(weft::pin(static_cast<unsigned>(j.pin)), access..., body(j));
    if (j.priority >= 0) return r.submit(weft::priority(j.priority), weft::named("node"), access..., body(j));
    r.submit(access..., body(j));
  }

  // Which of them run is free; that all are accounted for is not.
  number cancel_some(unsigned n, unsigned salt) {
    weft::cancellation stop;
    std::atomic<number> ran{0};
    weft::finish(stop, [&] {
      for (unsigned i = 0; i < n; ++i)
        rt_.submit([&, i] {
          ++ran;
          if (i == salt % n) stop.cancel();
        });
    });
    return ran + stop.skipped();
  }
  number fork(number salt, unsigned depth) {
    if (depth == 0) {
      if (salt % 3 != 0) return mix(salt, 9);
      std::atomic<number> sum{0};
      weft::finish([&] {
        weft::async([&] { sum += leaf(salt, 1); });
        weft::async([&] { sum += leaf(salt, 2); });
        sum += leaf(salt, 3);
      });
      return sum;
    }
    const auto [a, b] =
        weft::fork_join([&] { return fork(mix(salt, 1), depth - 1); }, [&] { return fork(mix(salt, 2), depth - 1); });
    return mix(a, b);
  }
  // A loop, a sort that undoes what the loop did to the order, and a sum.
  static number loop_side_by_side(number salt, unsigned n) {
    std::vector<std::pair<number, number>> items(n);
    weft::for_each(0u, n, [&](unsigned i) { items[i] = {mix(i, 5) % 1000, leaf(salt, i)}; });
    weft::sort(items.begin(), items.end());
    if (!std::is_sorted(items.begin(), items.end())) return 0;
    return weft::reduce(0u, n, number{0}, std::plus<>(), [&](unsigned i) { return items[i].second; });
  }
  // Iterations that all want the same place.
  static number section_in_order(number salt, unsigned n) {
    weft::reservation place;
    number x = salt;
    weft::ordered_for(
        0, n, [&](std::uint64_t i) { return place.reserve(i), true; },
        [&](std::uint64_t i) {
          if (!place.release(i)) return false;
          x = mix(x, i);
          return true;
        });
    return x;
  }

  weft::runtime& rt_;
  bool modelled_;
};

// ---- what was wrong: the first, or ""

[[nodiscard]] inline std::string verdict(block& b);

[[nodiscard]] inline std::string verdict(job& j) {
  const std::string name = "job " + std::to_string(j.id);
  if (j.runs != j.right_runs)
    return name + " ran " + std::to_string(j.runs) + " times, not " + std::to_string(j.right_runs);
  if (j.runs > 0 && j.seen != j.right_seen) return name + " saw other data than in the serial program";
  if (j.runs > 0 && j.caught != j.right_catch)
    return name + " caught " + std::to_string(j.caught) + ", not " + std::to_string(j.right_catch);
  return j.inside ? verdict(*j.inside) : "";
}

[[nodiscard]] inline std::string verdict(block& b) {
  static constexpr const char* names[] = {"submit", "wait", "look",  "finish",  "cancel",
                                          "fork",   "loop", "graph", "section", "part"};
  for (statement& s : b.statements) {
    const std::string name = names[static_cast<unsigned>(s.what)];
    if (s.got != s.right)
      return name + (s.what == act::part ? " " + std::to_string(static_cast<unsigned>(s.which)) : "") + ": " +
             std::to_string(s.got) + ", not " + std::to_string(s.right);
    if (s.caught != s.right_catch)
      return name + " threw " + std::to_string(s.caught) + ", not " + std::to_string(s.right_catch);
    for (const auto& j : s.jobs)
      if (std::string wrong = verdict(*j); !wrong.empty()) return wrong;
    if (s.inside)
      if (std::string wrong = verdict(*s.inside); !wrong.empty()) return name + ": " + wrong;
  }
  for (std::size_t i = 0; i < b.sums.size(); ++i)
    if (b.sums[i].unguarded() != b.right_sums[i]) return "sum " + std::to_string(i) + " is another";
  for (std::size_t i = 0; i < b.repeatable.size(); ++i)
    if (b.repeatable[i].unguarded() != b.right_sums[b.sums.size() + i])
      return "repeatable sum " + std::to_string(i) + " is another";
  return "";
}

}  // namespace composed
