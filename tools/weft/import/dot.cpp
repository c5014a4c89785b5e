// A graph for Graphviz as a graph of tasks: a node is a task, by its weight so long, and an edge says who waits for
// whom. What `weft export --format dot` writes is one, too: there a node has its time in nanoseconds.
#include <algorithm>
#include <array>

#include "dot_file.hpp"
#include "formats.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

constexpr std::string_view own_time = "duration_ns";
constexpr std::array<std::string_view, 5> usual = {"weight", "duration", "time", "runtime", "cost"};

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

struct weight {
  std::string_view value;
  bool is_ns = false;
};

// By the name that was asked for; or ours, or one of the usual in any case of letters.
weight weight_of(const dot_node& n, const std::string& asked) {
  if (!asked.empty()) return {attribute(n.of, asked), asked == own_time};
  if (const std::string_view own = attribute(n.of, own_time); !own.empty()) return {own, true};
  for (const std::string_view name : usual)
    for (auto at = n.of.rbegin(); at != n.of.rend(); ++at)  // a node's own stand behind those of all
      if (same_word(at->first, name)) return {at->second};
  return {};
}

// The first line of a label, which is a name; \N in it is the node's own.
std::string name_of(const dot_node& n) {
  std::string label(attribute(n.of, "label"));
  label.resize(std::min({label.size(), label.find("\\n"), label.find('\n')}));
  const bool is_text = !label.empty() && !label.starts_with('<') && label.find("\\N") == std::string::npos;
  return is_text ? label : std::string();
}

[[noreturn]] void refuse_weightless(const source& from, const dot_node& n, const std::string& asked) {
  std::string has;
  for (const auto& [key, value] : n.of) has += (has.empty() ? "" : ", ") + printable(key, name_width_max);
  const std::string wanted = asked.empty() ? "weight, duration, time, runtime or cost" : asked;
  from.fail_at(n.line, "node '" + printable(n.id, name_width_max) + "' has no " + wanted +
                           ", so nobody knows how long its task takes; it has " + (has.empty() ? "nothing" : has) +
                           (asked.empty() ? "; --weight NAME says which attribute it is" : ""));
}

}  // namespace

bool is_dot(std::string_view text) {
  try {
    const source head("", std::string(text.substr(0, 1 << 16)));
    dot_words words(head);
    dot_word word = words.next();
    if (word.is_keyword("strict")) word = words.next();
    if (!word.is_keyword("digraph") && !word.is_keyword("graph")) return false;
    word = words.next();
    if (word.kind == dot_word::what::name) word = words.next();
    return word.is("{");
  } catch (const std::exception&) {
    return false;
  }
}

void read_dot(source& from, const reading& how, graph& into) {
  const dot_file file = read_dot_file(from, how.tell);
  into.program = file.name;
  bool has_own_unit = false;
  for (const dot_node& n : file.nodes) {
    const weight w = weight_of(n, how.weight);
    if (w.value.empty()) refuse_weightless(from, n, how.weight);
    has_own_unit |= !w.is_ns;
    const double unit = w.is_ns ? 1 : how.unit_ns.value_or(millisecond_ns);
    into.add(n.id, name_of(n), from.duration(w.value, unit, n.line, "weight"), n.line);
  }
  std::uint64_t weights = 0, submissions = 0;
  for (const dot_edge& e : file.edges) {
    if (attribute(e.of, "submits") == "true") {
      ++submissions;
      continue;
    }
    for (const auto& [key, value] : e.of) weights += same_word(key, "weight") ? 1 : 0;
    into.order(e.before, e.after);
  }
  into.note(weights, "edges have a weight, which is left out: what moving data costs depends on where tasks run");
  into.note(submissions, "edges only say which task submitted which, and are left out");
  if (has_own_unit && !how.unit_ns)
    into.note("its numbers have no unit, and 1 is taken for 1 ms; --unit says otherwise");
}

}  // namespace weft::tool::foreign
