#include "view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "tools/weft/output.hpp"

namespace weft::tool {

namespace {

using trace::live_does;
using trace::live_role;
using trace::live_row;

constexpr std::array<const char*, trace::live_does_count> does_words{"busy", "searching", "asleep", "outside"};
constexpr std::array<const char*, 3> role_words{"ordinary", "reserve", "creator"};

[[nodiscard]] const char* word(live_does d) { return does_words[static_cast<std::size_t>(d)]; }
[[nodiscard]] const char* word(live_role r) { return role_words[static_cast<std::size_t>(r)]; }

// Counters only grow; who reads them one by one may see one late.
[[nodiscard]] std::uint64_t grown(std::uint64_t before, std::uint64_t now) { return now > before ? now - before : 0; }

[[nodiscard]] double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }
[[nodiscard]] double interval_s(const live_change& c) {
  return std::max(seconds(grown(c.before.head.now_ns, c.now.head.now_ns)), 1e-9);
}

struct shares {
  std::array<double, trace::live_does_count> of{};
};
[[nodiscard]] shares shares_of(const live_row& before, const live_row& now) {
  std::uint64_t all = 0;
  shares s;
  for (std::size_t i = 0; i < s.of.size(); ++i) all += grown(before.spent_ns[i], now.spent_ns[i]);
  for (std::size_t i = 0; i < s.of.size() && all != 0; ++i)
    s.of[i] = static_cast<double>(grown(before.spent_ns[i], now.spent_ns[i])) / static_cast<double>(all);
  return s;
}

[[nodiscard]] std::uint64_t tasks_of(const live_answer& a) {
  std::uint64_t all = 0;
  for (const live_row& r : a.rows) all += r.tasks;
  return all;
}
[[nodiscard]] double tasks_per_s(const live_change& c) {
  return static_cast<double>(grown(tasks_of(c.before), tasks_of(c.now))) / interval_s(c);
}
// nullptr: no body goes on, as far as one sees.
[[nodiscard]] const live_row* longest(const live_answer& a) {
  const auto most = std::max_element(a.rows.begin(), a.rows.end(),
                                     [](const live_row& x, const live_row& y) { return x.body_ns < y.body_ns; });
  return most != a.rows.end() && most->body_ns != 0 ? &*most : nullptr;
}

[[nodiscard]] json row_json(const live_row& before, const live_row& now, double interval) {
  json spent = json::object(), share = json::object();
  const shares s = shares_of(before, now);
  for (std::size_t i = 0; i < s.of.size(); ++i) {
    spent[does_words[i]] = seconds(now.spent_ns[i]);
    share[does_words[i]] = s.of[i];
  }
  return {{"worker", now.worker},
          {"role", word(now.role)},
          {"does", word(now.does)},
          {"queued", now.queued},
          {"tasks", now.tasks},
          {"tasks_per_s", static_cast<double>(grown(before.tasks, now.tasks)) / interval},
          {"called", now.called},
          {"stolen", now.steals},
          {"branches_of_others", now.elsewhere},
          {"sleeps", now.sleeps},
          {"suspends", now.suspends},
          {"spent_s", std::move(spent)},
          {"share", std::move(share)},
          {"body", now.body_ns != 0 ? json(valid_utf8(now.body)) : json()},
          {"body_at_least_s", seconds(now.body_ns)}};
}

[[nodiscard]] std::string per_second(double n) { return n < 1e4 ? short_number(n) : std::to_string(std::llround(n)); }

[[nodiscard]] std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

[[nodiscard]] std::string named(const live_row& r) {
  return *r.body != '\0' ? printable(r.body, name_width_max) : "without a name";
}

[[nodiscard]] std::string heading(const watched_program& program, const live_change& c, bool colour) {
  const trace::live_head& head = c.now.head;
  std::string text = paint(program.words(), style::bold, colour) + ", runtime " + std::to_string(head.runtime) +
                     ", policy " + printable(head.policy, name_width_max) + ", for " +
                     short_number(seconds(grown(head.began_ns, head.now_ns))) + " s\n";
  text += std::to_string(tasks_of(c.now)) + " tasks, " + per_second(tasks_per_s(c)) + " a second; " +
          std::to_string(head.live) + " submitted and not done\n";
  if (const live_row* const r = longest(c.now))
    text += "the longest body is " + named(*r) + ", on worker " + std::to_string(r->worker) + " for at least " +
            short_number(seconds(r->body_ns)) + " s\n";
  return text;
}

}  // namespace

live_change since_it_began(live_answer now) {
  live_answer before{now.head, std::vector<live_row>(now.rows.size())};
  before.head.now_ns = now.head.began_ns;
  return {std::move(before), std::move(now)};
}

json live_json(const watched_program& program, std::span<const live_change> runtimes) {
  json all = json::array();
  for (const live_change& c : runtimes) {
    const trace::live_head& head = c.now.head;
    json rows = json::array();
    for (std::size_t i = 0; i < c.now.rows.size(); ++i)
      rows.push_back(row_json(c.before.rows[i], c.now.rows[i], interval_s(c)));
    const live_row* const body = longest(c.now);
    all.push_back({{"runtime", head.runtime},
                   {"library", valid_utf8(head.library)},
                   {"program", valid_utf8(head.program)},
                   {"policy", valid_utf8(head.policy)},
                   {"age_s", seconds(grown(head.began_ns, head.now_ns))},
                   {"interval_s", interval_s(c)},
                   {"tasks", tasks_of(c.now)},
                   {"tasks_per_s", tasks_per_s(c)},
                   {"live", head.live},
                   {"longest_body", body == nullptr ? json()
                                                    : json({{"name", valid_utf8(body->body)},
                                                            {"worker", body->worker},
                                                            {"at_least_s", seconds(body->body_ns)}})},
                   {"workers", std::move(rows)}});
  }
  return {
      {"ok", true}, {"process", program.process()}, {"name", valid_utf8(program.name())}, {"runtimes", std::move(all)}};
}

std::string live_text(const watched_program& program, std::span<const live_change> runtimes, bool colour) {
  std::string text;
  for (const live_change& c : runtimes) {
    if (!text.empty()) text += "\n";
    text += heading(program, c, colour);
    table t(true);
    t.row({"worker", "does", "busy", "searching", "asleep", "outside", "tasks", "a second", "stolen", "branches",
           "queued", "sleeps", "body"});
    std::vector<std::vector<style>> styles{std::vector<style>(13, style::bold)};
    for (std::size_t i = 0; i < c.now.rows.size(); ++i) {
      const live_row &before = c.before.rows[i], &now = c.now.rows[i];
      if (now.role == live_role::reserve && now.tasks == 0) continue;  // it is seldom needed
      const shares s = shares_of(before, now);
      const double rate = static_cast<double>(grown(before.tasks, now.tasks)) / interval_s(c);
      t.row({now.role == live_role::ordinary ? std::to_string(now.worker) : word(now.role), word(now.does),
             percent(s.of[0]), percent(s.of[1]), percent(s.of[2]), percent(s.of[3]), std::to_string(now.tasks),
             per_second(rate), std::to_string(now.steals), std::to_string(now.elsewhere), std::to_string(now.queued),
             std::to_string(now.sleeps), now.does == live_does::busy && now.tasks != 0 ? named(now) : ""});
    }
    text += t.text(styles, colour);
  }
  return text;
}

}  // namespace weft::tool
