// What a run wrote into WEFT_ORDER_LOG: its steps in their order, and the tasks with what they declare. A step is what
// one actor - a task, or the main thread - does between two of its calls into Weft, or a submission
// (src/sched/replay/order.hpp); actors and steps have the same names in every schedule, so orders can be compared and
// put together.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::tool::check {

struct step {
  std::string actor;
  std::uint64_t number = 0;
  [[nodiscard]] auto operator<=>(const step&) const = default;
};
using order = std::vector<step>;

struct use {
  std::string kind;
  std::string handle;  // its number: the same handle has the same one within a run
  std::string name;    // "": none
};
struct task {
  std::string id;    // path of submission numbers
  std::string name;  // "": none
  std::vector<use> uses;
};

struct history {
  order steps;
  std::map<std::string, task> tasks;
  std::map<step, std::string> submits;  // the task that a step submits
  [[nodiscard]] const task* find(const std::string& id) const;
};

// An empty history if there is no such file. A line that a crash cut off is left out.
[[nodiscard]] history read_history(const std::string& path);
// A file for WEFT_SCHEDULE=order:FILE. Errors: weft::error.
void write_order(const std::string& path, const order& steps);
[[nodiscard]] std::uint64_t hash(const order& steps);

// How many pairs of steps are not in the order they have in `from`; a step that is not there counts as one.
[[nodiscard]] std::uint64_t distance(const order& from, const order& to);
// The first k steps of b, then the rest as a has it: an order that the task graph allows, if a and b are.
[[nodiscard]] order first_of_then(const order& b, std::size_t k, const order& a);

// "task 3 'sum'", "the main thread".
[[nodiscard]] std::string actor_text(const history& h, const std::string& actor);
// What a step is, for a reader: "task 3 'sum'" where it begins, "the main thread, after its submission of task 4".
[[nodiscard]] std::string step_text(const history& h, const step& s);
// The handle by its name, if it has one, and by its number, too, where others have the same name.
[[nodiscard]] std::string use_text(const history& h, const use& u);

}  // namespace weft::tool::check
