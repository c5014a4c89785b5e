// Programs that are composed of everything at random, and what each of them means: a tree of blocks, whose statements
// submit tasks with all clauses, wait, look, finish, fork, loop, run graphs. Bodies have blocks in them. A seed is a
// program. `expect` walks it as the serial program would run and writes down what each task sees, which are skipped,
// and which exception each wait must throw; tests/conformance/composed.cpp runs it.
//
// What a program cannot know beforehand is kept out of it: where a task may fail nothing is added, because the members
// of a group of adds that come behind the one that fails are skipped, and their order is free.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "composed_parts.hpp"
#include "weft/weft.hpp"

namespace composed {

struct cell {
  number ordered = 1;  // of reads and writes: their order matters
  number sum = 0;      // of adds and concurrents: it does not
  [[nodiscard]] number value() const { return mix(ordered, sum); }
};

enum class how : std::uint8_t { read, write, add, concurrent };
struct use {
  unsigned cell;
  how kind;
};
struct stretch {
  int stream = -1;
  unsigned takes = 0, sees = 0;
};
enum class ending : std::uint8_t { leaves, waits, finishes };  // of a block in a body
enum class fulfils : std::uint8_t { none, itself, submitter, another, later };

struct block;

struct job {
  unsigned id = 0;
  std::vector<use> uses;
  int reduces = -1, reduces_repeatably = -1, sees_sum = -1;  // of the block's reductions
  stretch pops, pushes, reuses;                              // reuses: from stream `stream` to the other
  int priority = -1, pin = -1;
  unsigned team_least = 0, team_most = 0;
  bool subtasks = false, as_async = false;
  fulfils by = fulfils::none;
  unsigned cost = 0, yields = 0;
  bool throws = false, passes_on = false;
  ending end = ending::leaves;
  std::unique_ptr<block> inside;
  block* of = nullptr;
  std::unique_ptr<weft::event> event;

  unsigned right_runs = 0, right_catch = 0;
  number right_seen = 0;
  std::atomic<unsigned> runs{0};
  unsigned caught = 0;
  number seen = 0;

  [[nodiscard]] number salt() const { return mix(id, 77); }
  [[nodiscard]] bool flows() const { return pops.stream >= 0 || pushes.stream >= 0 || reuses.stream >= 0; }
  [[nodiscard]] bool waits_for_children() const { return subtasks || team_most > 0 || by != fulfils::none; }
};

enum class act : std::uint8_t { submit, wait, look, finish, cancel, fork, loop, graph, section, part };
struct statement {
  act what = act::submit;
  std::vector<std::unique_ptr<job>> jobs;  // one; of a graph some
  std::unique_ptr<block> inside;           // of a finish
  unsigned cell = 0, size = 0, salt = 0;
  part which = part::count;   // of act::part
  std::vector<bool> at_once;  // of a graph's runs: whether the submitter waits
  number right = 0, got = 0;  // what is looked at or computed
  unsigned right_catch = 0, caught = 0;
};

struct element {
  number value;
  unsigned poisoned;  // by which exception, or 0
};

struct block {
  std::deque<weft::handle<cell>> cells;
  std::deque<weft::reduction<number>> sums;
  std::deque<weft::repeatable_reduction<number>> repeatable;
  std::deque<weft::stream<number>> streams;
  std::vector<statement> statements;
  // the serial program's
  std::vector<cell> right;
  std::vector<unsigned> poisoned;  // by which exception, or 0
  std::vector<number> right_sums;
  std::vector<std::deque<element>> right_streams;
};

struct setting {
  unsigned workers = 2;
  bool modelled = false;  // fulfil_after is its own
};

// ---- what it is

class generator {
 public:
  generator(number seed, setting s) : draw_(seed * 1000003 + 17), set_(s) {}

  // One stretch of the main program, up to the wait that ends it.
  [[nodiscard]] std::unique_ptr<block> segment() {
    failing_ = chance(40);
    dry_ = chance(50);  // no streams: what an element that was never made is once it is healed, streams.cpp says
    outside_ = false;
    return make(0, 6 + draw_.below(14));
  }
  // What a thread outside does: it looks, and never waits for all.
  [[nodiscard]] std::unique_ptr<block> for_thread() {
    failing_ = false;
    outside_ = true;
    return make(1, 4 + draw_.below(8));
  }
  [[nodiscard]] bool chance(unsigned percent) { return draw_.below(100) < percent; }

 private:
  static constexpr unsigned depth_max = 3, cells_max = 5, streams = 2, sums = 2;

  std::unique_ptr<block> make(unsigned depth, unsigned statements) {
    auto b = std::make_unique<block>();
    const unsigned cells = 1 + draw_.below(cells_max);
    for (unsigned i = 0; i < cells; ++i) b->cells.emplace_back();
    for (unsigned i = 0; i < sums; ++i) b->sums.emplace_back(), b->repeatable.emplace_back();
    for (unsigned i = 0; i < streams; ++i) b->streams.emplace_back();
    if (chance(25)) b->streams[0].immediate();
    b->right.resize(cells);
    b->poisoned.resize(cells);
    b->right_sums.resize(2 * sums);
    b->right_streams.resize(streams);
    available_.assign(streams, 0);
    for (unsigned i = 0; i < statements; ++i) {
      b->statements.push_back(next(*b, depth));
    }
    return b;
  }

  statement next(block& b, unsigned depth) {
    statement s;
    const unsigned d = draw_.below(100);
    s.salt = draw_.below(1000);
    if (d < 58) {
      s.jobs.push_back(task(b, depth, true));
    } else if (d < 64) {
      s.what = act::part;
      s.which = static_cast<part>(draw_.below(alone_outside(depth) ? parts_anywhere : parts));
      s.size = draw_.below(16);
    } else if (d < 71 && !in_finish_ && !alone_outside(depth) && (depth > 0 || !failing_ || dry_)) {
      s.what = act::wait;
    } else if (d < 78) {
      s.what = act::look;
      s.cell = draw_.below(static_cast<unsigned>(b.cells.size()));
    } else if (d < 84 && depth < depth_max && !alone_outside(depth)) {
      s.what = act::finish;
      s.inside = apart(depth + 1, 1 + draw_.below(4), true);
    } else if (d < 87 && !alone_outside(depth)) {
      s.what = act::cancel;
      s.size = 1 + draw_.below(12);
    } else if (d < 91) {
      s.what = act::fork;
      s.size = draw_.below(6);
    } else if (d < 94) {
      s.what = act::loop;
      s.size = draw_.below(300);
    } else if (d < 96) {
      s.what = act::section;
      s.size = draw_.below(40);
    } else if (!failing_) {
      s.what = act::graph;
      for (unsigned i = 1 + draw_.below(8); i > 0; --i) s.jobs.push_back(task(b, depth_max, false));
      for (unsigned i = 1 + draw_.below(3); i > 0; --i) s.at_once.push_back(chance(50));
    } else {
      s.jobs.push_back(task(b, depth, true));
    }
    return s;
  }

  // There a finish has no scope, and a wait would be for everybody.
  [[nodiscard]] bool alone_outside(unsigned depth) const { return outside_ && depth == 1; }

  std::unique_ptr<block> apart(unsigned depth, unsigned statements, bool in_finish) {
    std::vector<unsigned> mine = available_;
    const bool around = std::exchange(in_finish_, in_finish);
    auto b = make(depth, statements);
    in_finish_ = around;
    available_ = std::move(mine);
    return b;
  }

  std::unique_ptr<job> task(block& b, unsigned depth, bool alone) {
    auto j = std::make_unique<job>();
    j->id = ++ids_;
    j->of = &b;
    if (chance(75)) uses(*j, b);
    if (alone && !(failing_ && dry_) && chance(35)) flows(*j, b);
    if (alone && !failing_ && j->uses.empty() && chance(40)) sums_of(*j);
    if (chance(25)) j->priority = static_cast<int>(draw_.below(2));
    if (chance(15)) j->pin = pin();
    j->cost = chance(50) ? draw_.below(3000) : 0;
    if (!alone) return j;
    shape(*j);
    if (chance(10)) j->yields = 1 + draw_.below(3);
    if (failing_ && chance(15)) j->throws = true;
    if (depth < depth_max && chance(25)) {
      j->end = static_cast<ending>(draw_.below(3));
      j->inside = apart(depth + 1, 1 + draw_.below(5), j->end == ending::finishes);
      j->passes_on = failing_ && chance(50);
    }
    return j;
  }

  int pin() {
    const auto w = static_cast<int>(draw_.below(set_.workers));
    return outside_ && w == 0 ? -1 : w;  // that worker waits for the thread
  }

  void shape(job& j) {
    const unsigned d = draw_.below(100);
    if (d < 12 && j.pin < 0 && !j.flows() && j.reduces_repeatably < 0) {
      j.team_least = 1 + draw_.below(set_.workers);
      j.team_most = chance(50) ? j.team_least : j.team_least + draw_.below(3);
    } else if (d < 24) {
      j.by = static_cast<fulfils>(1 + draw_.below(set_.modelled ? 4 : 3));
      j.event = std::make_unique<weft::event>();
    } else if (d < 44) {
      j.subtasks = true;
    } else if (d < 60) {
      j.as_async = true;
    }
  }

  void uses(job& j, const block& b) {
    for (unsigned i = 1 + draw_.below(4); i > 0; --i) {
      const unsigned c = draw_.below(static_cast<unsigned>(b.cells.size()));
      bool named = false;
      for (const use& u : j.uses) named = named || u.cell == c;
      const unsigned kind = draw_.below(failing_ ? 6 : 8);
      if (!named) j.uses.push_back({c, kind < 3 ? how::read : kind < 6 ? how::write : static_cast<how>(kind - 4)});
    }
  }

  void flows(job& j, const block&) {
    const unsigned s = draw_.below(streams);
    bool adds = failing_;  // what a failed reuse spoils beside its own is not decided here
    for (const use& u : j.uses) adds = adds || u.kind == how::add || u.kind == how::concurrent;
    if (!adds && available_[s] > 0 && chance(30)) {
      j.reuses = {static_cast<int>(s), 1 + draw_.below(std::min(available_[s], 5u)), 0};
      available_[s] -= j.reuses.takes;
      available_[1 - s] += j.reuses.takes;
      return;
    }
    if (available_[s] > 0 && chance(60)) {
      j.pops = {static_cast<int>(s), 0, 1 + draw_.below(std::min(available_[s], 6u))};
      j.pops.takes = draw_.below(j.pops.sees + 1);
      available_[s] -= j.pops.takes;
    }
    if (j.pops.stream < 0 || chance(40)) {
      j.pushes = {static_cast<int>(chance(50) ? s : 1 - s), 1 + draw_.below(5), 0};
      available_[static_cast<unsigned>(j.pushes.stream)] += j.pushes.takes;
    }
  }

  void sums_of(job& j) {
    const auto which = static_cast<int>(draw_.below(sums));
    if (j.flows()) return;
    (chance(30) ? j.sees_sum : chance(50) ? j.reduces : j.reduces_repeatably) = which;
  }

  weft::base::random draw_;
  setting set_;
  unsigned ids_ = 0;
  bool failing_ = false, dry_ = false, outside_ = false;
  bool in_finish_ = false;           // whom a wait waits for there is not what this asks
  std::vector<unsigned> available_;  // elements in the streams of the block that is made
};

// ---- what is computed without tasks, by forks and loops or one after the other

[[nodiscard]] inline number tree(number salt, unsigned depth) {
  if (depth == 0) return salt % 3 == 0 ? leaf(salt, 1) + leaf(salt, 2) + leaf(salt, 3) : mix(salt, 9);
  return mix(tree(mix(salt, 1), depth - 1), tree(mix(salt, 2), depth - 1));
}
[[nodiscard]] inline number section(number salt, unsigned n) {
  number x = salt;
  for (unsigned i = 0; i < n; ++i) x = mix(x, i);
  return x;
}

// ---- what it means

class expectation {
 public:
  // Runs the block as the serial program. Returns the first exception that no wait in it has told, or 0.
  static unsigned expect(block& b, bool heals) {
    unsigned untold = 0;
    for (statement& s : b.statements) {
      const auto also = [&](unsigned thrown) { untold = untold == 0 ? thrown : untold; };
      switch (s.what) {
      case act::submit: also(run(*s.jobs[0])); break;
      case act::wait:
        s.right_catch = untold;
        untold = 0;
        if (heals) heal(b);
        break;
      case act::look: s.right = b.poisoned[s.cell] ? 0 : b.right[s.cell].value(); break;
      case act::finish: s.right_catch = expect(*s.inside, false); break;
      case act::cancel: s.right = s.size; break;
      case act::fork: s.right = tree(s.salt, s.size); break;
      case act::loop: s.right = loop(s.salt, s.size); break;
      case act::section: s.right = section(s.salt, s.size); break;
      case act::part: s.right = right_of(s.which, s.salt, s.size); break;
      case act::graph:
        for (std::size_t i = 0; i < s.at_once.size(); ++i)
          for (const auto& j : s.jobs) also(run(*j));
      }
    }
    return untold;
  }
  static void heal(block& b) {
    b.poisoned.assign(b.poisoned.size(), 0);
    for (auto& s : b.right_streams)
      for (element& e : s) e.poisoned = 0;
  }

 private:
  // What a job is skipped with, or 0: of its accesses, as perform.hpp names them, the first that is poisoned says it.
  static unsigned poison_of(const job& j, const block& b) {
    unsigned first = 0;
    const auto meet = [&first](unsigned poison) { first = first == 0 ? poison : first; };
    const auto look = [&](const stretch& s, unsigned n) {
      for (unsigned i = 0; s.stream >= 0 && i < n; ++i)
        meet(b.right_streams[static_cast<unsigned>(s.stream)][i].poisoned);
    };
    look(j.pops, j.pops.sees);
    look(j.reuses, j.reuses.takes);
    for (const how kind : {how::read, how::write, how::add, how::concurrent})
      for (const use& u : j.uses)
        if (u.kind == kind) meet(b.poisoned[u.cell]);
    return first;
  }

  static unsigned run(job& j) {
    block& b = *j.of;
    const unsigned skipped = poison_of(j, b);
    number seen = j.salt();
    if (skipped == 0) seen = see(j, b);
    take(j, b);
    outcome is{skipped, skipped};
    if (skipped == 0) {
      ++j.right_runs;
      j.right_seen = seen;
      write(j, b, seen);
      is = body(j);
    }
    give(j, b, seen, is.spoils);
    return is.thrown;
  }
  struct outcome {
    unsigned thrown, spoils;  // what a wait hears, and what poisons what it writes: its own before its children's
  };
  static outcome body(job& j) {
    outcome is{0, 0};
    if (j.inside) {
      const unsigned untold = expect(*j.inside, false);
      is.thrown = untold;
      if (j.end == ending::leaves) {
        is.spoils = j.waits_for_children() ? untold : 0;
      } else {
        j.right_catch = untold;
        is.thrown = is.spoils = j.passes_on ? untold : 0;
        if (is.thrown != 0) return is;
      }
    }
    if (!j.throws) return is;
    return {is.thrown == 0 ? j.id : is.thrown, j.id};
  }

  static number see(const job& j, const block& b) {
    number seen = j.salt();
    for (const use& u : j.uses)
      if (u.kind == how::read || u.kind == how::write) seen = mix(seen, b.right[u.cell].value());
    const auto look = [&](const stretch& s, unsigned n) {
      for (unsigned i = 0; i < n; ++i) seen = mix(seen, b.right_streams[static_cast<unsigned>(s.stream)][i].value);
    };
    if (j.pops.stream >= 0) look(j.pops, j.pops.sees);
    if (j.reuses.stream >= 0) look(j.reuses, j.reuses.takes);
    if (j.sees_sum >= 0) seen = mix(seen, b.right_sums[static_cast<unsigned>(j.sees_sum)]);
    return seen;
  }
  static void take(const job& j, block& b) {
    for (const stretch& s : {j.pops, j.reuses})
      for (unsigned i = 0; s.stream >= 0 && i < s.takes; ++i)
        b.right_streams[static_cast<unsigned>(s.stream)].pop_front();
  }
  static void write(const job& j, block& b, number seen) {
    for (const use& u : j.uses) {
      if (u.kind == how::write) b.right[u.cell].ordered = seen;
      if (u.kind == how::add || u.kind == how::concurrent) b.right[u.cell].sum += j.salt();
    }
    if (j.reduces >= 0) b.right_sums[static_cast<unsigned>(j.reduces)] += j.salt();
    if (j.reduces_repeatably >= 0)
      b.right_sums[b.sums.size() + static_cast<unsigned>(j.reduces_repeatably)] += j.salt();
  }
  static void give(const job& j, block& b, number seen, unsigned spoils) {
    for (const use& u : j.uses)
      if (u.kind != how::read && b.poisoned[u.cell] == 0) b.poisoned[u.cell] = spoils;
    const auto push = [&](int stream, unsigned n) {
      for (unsigned i = 0; i < n; ++i) b.right_streams[static_cast<unsigned>(stream)].push_back({mix(seen, i), spoils});
    };
    if (j.pushes.stream >= 0) push(j.pushes.stream, j.pushes.takes);
    if (j.reuses.stream >= 0) push(1 - j.reuses.stream, j.reuses.takes);
  }
};

}  // namespace composed
