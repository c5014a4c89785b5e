#include "reader_sections.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "checks.hpp"

namespace weft::tool::trace {

namespace {

constexpr std::int64_t window_max = 1 << 20;

class body_reader {
 public:
  body_reader(database& db, const strand_references& of, file& f) : db_(db), of_(of), out_(f) {}

  void read() {
    read_crews();
    read_bodies();
    read_touches();
    for (index s = 0; s < out_.sections.size(); ++s) number(out_.sections[s]);
    forget_those_that_fork();
  }

 private:
  [[nodiscard]] index section_of(const rows& r, int column) const {
    const std::int64_t id = r.integer(column);
    if (id >= 1 && id <= static_cast<std::int64_t>(out_.sections.size())) return static_cast<index>(id - 1);
    r.fail("section " + std::to_string(id) + " does not exist; the file is damaged, record the run again");
  }
  [[nodiscard]] index task_of(const rows& r, int column) const {
    const index t = of_.task.find(r.integer(column));
    if (t == none && out_.lost == 0) r.fail("its task does not exist; the file is damaged");
    return t;
  }

  void read_crews() {
    for (rows r(db_, "crews", "task, section, first"); r.next();) {
      const index t = task_of(r, 0), s = section_of(r, 1);
      if (t == none) continue;
      out_.crews.resize(out_.tasks.size(), none);
      out_.crews[t] = s;
      if (!r.flag(2)) continue;
      if (out_.sections[s].begins != none) r.fail("section " + std::to_string(s + 1) + " begins twice");
      out_.sections[s].begins = t;
    }
  }

  [[nodiscard]] static std::tuple<index, std::uint64_t, std::uint32_t> order(const body& b) {
    return {b.section, b.timestamp, b.number};
  }
  void read_bodies() {
    rows r(db_, "bodies", "section, number, timestamp, calls, task, worker, from_ns, to_ns, own_ps, runs, serializes");
    while (r.next()) {
      body b{};
      b.section = section_of(r, 0);
      b.number = static_cast<std::uint32_t>(r.count_or(1, UINT32_MAX, 0));
      b.timestamp = static_cast<std::uint64_t>(r.integer(2));
      b.calls = static_cast<std::uint32_t>(r.count_or(3, UINT32_MAX, 0));
      b.task = task_of(r, 4);
      b.worker = of_.worker.find(r.integer(5));
      if (b.worker == none) r.fail("its worker does not exist; the file is damaged");
      b.from_ns = r.time(6);
      b.to_ns = r.time_after(7, b.from_ns);
      b.own_ps = r.count_or(8, ps_max, 0);
      b.runs = static_cast<std::int32_t>(r.count_or(9, 255, 0));
      b.serializes = r.flag(10);
      if (!out_.bodies.empty() && !(order(out_.bodies.back()) < order(b)))
        r.fail("its bodies are not in the order of their timestamps and numbers; it is no trace of Weft");
      section& s = out_.sections[b.section];
      if (s.last == 0) s.first = static_cast<index>(out_.bodies.size());
      s.last = static_cast<index>(out_.bodies.size()) + 1;
      out_.bodies.push_back(b);
    }
  }

  // They follow each other as the bodies do.
  void read_touches() {
    std::size_t at = 0;
    rows r(db_, "touches", "section, number, word, before_ps, reads, writes");
    while (r.next()) {
      const index s = section_of(r, 0);
      const std::int64_t number = r.integer(1);
      const auto is_of = [&](const body& b) { return b.section == s && b.number == number; };
      while (at < out_.bodies.size() && !is_of(out_.bodies[at])) ++at;
      if (at == out_.bodies.size()) r.fail("body " + std::to_string(number) + " is not there or was before");
      touch t{};
      t.word = static_cast<std::uint32_t>(r.count_or(2, UINT32_MAX, 0));
      std::uint32_t& words = out_.sections[s].words;
      if (t.word == 0 || t.word > words + 1) r.fail("word " + std::to_string(t.word) + " is not the next one");
      words = std::max(words, t.word);
      t.before_ps = r.count_or(3, ps_max, 0);
      t.reads = static_cast<std::uint32_t>(r.count_or(4, UINT32_MAX, 0));
      t.writes = static_cast<std::uint32_t>(r.count_or(5, UINT32_MAX, 0));
      body& b = out_.bodies[at];
      if (b.last == 0) b.first = static_cast<index>(out_.touches.size());
      b.last = static_cast<index>(out_.touches.size()) + 1;
      out_.touches.push_back(t);
    }
  }

  // Whether nothing is missing: each body was called by the program, before all others, or by one body.
  void number(section& s) {
    const std::size_t n = s.last - s.first;
    out_.numbered.resize(out_.bodies.size(), none);
    if (s.executor != "speculative" || s.begins == none || n == 0 || static_cast<std::int64_t>(n) != s.committed)
      return;
    std::uint32_t least = UINT32_MAX;
    std::uint64_t calls = 0;
    for (index b = s.first; b < s.last; ++b) {
      least = std::min(least, out_.bodies[b].number);
      calls += out_.bodies[b].calls;
    }
    if (calls >= n) return;
    s.roots = static_cast<index>(n - calls);
    std::uint32_t next = s.roots;
    for (index b = s.first; b < s.last; ++b) {
      body& x = out_.bodies[b];
      x.number -= least;
      x.child = next;
      next += x.calls;
      if (x.number >= n || x.number >= x.child) return;  // it would be there before it was called
      index& place = out_.numbered[s.first + x.number];
      if (place != none) return;
      place = b;
    }
    s.is_known = is_in_time(s);
  }
  // Nobody calls what is over.
  [[nodiscard]] bool is_in_time(const section& s) const {
    for (index b = s.first; b < s.last; ++b)
      for (std::uint32_t k = 0; k < out_.bodies[b].calls; ++k)
        if (out_.bodies[out_.numbered[s.first + out_.bodies[b].child + k]].timestamp < out_.bodies[b].timestamp)
          return false;
    return true;
  }

  // What a body forks is in no place of the section.
  void forget_those_that_fork() {
    for (const strand& x : out_.strands)
      if (x.task != none && x.task < out_.crews.size() && out_.crews[x.task] != none)
        out_.sections[out_.crews[x.task]].is_known = false;
  }

  database& db_;
  const strand_references& of_;
  file& out_;
};

}  // namespace

std::vector<section> read_sections(database& db, std::int64_t format) {
  std::vector<section> out;
  std::string columns = "executor, began_ns, ended_ns, committed, started, again, in_order, serial_ns";
  if (format >= 10) columns += ", section, window, always_ahead, id";
  for (rows r(db, "sections", columns.c_str()); r.next();) {
    section s{};
    s.executor = r.text(0);
    s.began_ns = r.time(1);
    s.ended_ns = r.time_after(2, s.began_ns);
    s.committed = r.count_or(3, INT64_MAX, 0);
    s.started = r.count_or(4, INT64_MAX, 0);
    s.again = r.count_or(5, s.started, 0);
    s.in_order = r.count_or(6, s.committed, 0);
    s.serial_ns = r.count_or(7, time_max, -1);
    if (format >= 10) {
      s.section = r.count_or(8, UINT32_MAX, 0);
      s.window = r.count_or(9, window_max, 0);
      s.always_ahead = r.flag(10);
      if (r.integer(11) != static_cast<std::int64_t>(out.size()) + 1 || out.size() == none - 1)
        r.fail("section " + std::to_string(r.integer(11)) + " is not the next one; it is no trace of Weft");
    }
    out.push_back(std::move(s));
  }
  if (format < 10) std::ranges::stable_sort(out, {}, &section::began_ns);
  return out;
}

void read_bodies(database& db, const strand_references& of, file& f) { body_reader(db, of, f).read(); }

}  // namespace weft::tool::trace
