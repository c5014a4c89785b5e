// A program of composed.hpp in words, for who reads what went wrong: WEFT_TEST_SHOW=1 prints it before it runs.
#pragma once
#include <string>

#include "composed.hpp"

namespace composed {

[[nodiscard]] inline std::string in_words(const block& b, unsigned depth = 0);

[[nodiscard]] inline std::string in_words(const stretch& s, const char* what) {
  if (s.stream < 0) return "";
  return std::string(" ") + what + "(" + std::to_string(s.stream) + ", " + std::to_string(s.takes) +
         (s.sees > 0 ? ", " + std::to_string(s.sees) : "") + ")";
}

[[nodiscard]] inline std::string in_words(const job& j, unsigned depth) {
  static constexpr const char* kinds[] = {"read", "write", "add", "concurrent"};
  static constexpr const char* events[] = {"", " event:itself", " event:submitter", " event:another", " event:later"};
  static constexpr const char* ends[] = {"leaves", "waits", "finishes"};
  std::string text = "job " + std::to_string(j.id);
  const auto with = [&text](bool does, const std::string& what) { text += does ? " " + what : ""; };
  for (const use& u : j.uses)
    with(true, std::string(kinds[static_cast<unsigned>(u.kind)]) + "(" + std::to_string(u.cell) + ")");
  with(j.reduces >= 0, "reduce(" + std::to_string(j.reduces) + ")");
  with(j.reduces_repeatably >= 0, "reduce(repeatable " + std::to_string(j.reduces_repeatably) + ")");
  with(j.sees_sum >= 0, "read(sum " + std::to_string(j.sees_sum) + ")");
  text += in_words(j.pops, "pop") + in_words(j.pushes, "push") + in_words(j.reuses, "reuse");
  with(j.priority >= 0, "priority(" + std::to_string(j.priority) + ")");
  with(j.pin >= 0, "pin(" + std::to_string(j.pin) + ")");
  with(j.team_most > 0, "team(" + std::to_string(j.team_least) + ", " + std::to_string(j.team_most) + ")");
  with(j.subtasks, "subtasks");
  with(j.as_async, "async");
  text += events[static_cast<unsigned>(j.by)];
  with(j.yields > 0, "yields " + std::to_string(j.yields));
  with(j.cost > 0, "cost " + std::to_string(j.cost));
  with(j.throws, "throws");
  with(j.passes_on, "passes on");
  text += "; right: runs " + std::to_string(j.right_runs) + ", catches " + std::to_string(j.right_catch);
  text += "; was: runs " + std::to_string(j.runs) + ", caught " + std::to_string(j.caught) +
          (j.runs > 0 && j.seen != j.right_seen ? ", saw OTHER" : "") + "\n";
  if (j.inside)
    text +=
        std::string(2 * depth + 2, ' ') + ends[static_cast<unsigned>(j.end)] + ":\n" + in_words(*j.inside, depth + 2);
  return text;
}

[[nodiscard]] inline std::string in_words(const block& b, unsigned depth) {
  static constexpr const char* names[] = {"submit", "wait", "look",  "finish",  "cancel",
                                          "fork",   "loop", "graph", "section", "part"};
  std::string text;
  for (const statement& s : b.statements) {
    text += std::string(2 * depth, ' ') + names[static_cast<unsigned>(s.what)];
    if (s.what == act::submit) {
      text += " " + in_words(*s.jobs[0], depth);
      continue;
    }
    if (s.what == act::part) text += " " + std::to_string(static_cast<unsigned>(s.which));
    if (s.what == act::look) text += " cell " + std::to_string(s.cell);
    if (s.right_catch != 0 || s.caught != 0)
      text += "; right: throws " + std::to_string(s.right_catch) + "; was: threw " + std::to_string(s.caught);
    if (s.right != s.got) text += ", OTHER value";
    text += s.size > 0 ? " of " + std::to_string(s.size) + "\n" : "\n";
    for (const auto& j : s.jobs) text += std::string(2 * depth + 2, ' ') + in_words(*j, depth + 1);
    if (s.inside) text += in_words(*s.inside, depth + 1);
  }
  return text;
}

}  // namespace composed
