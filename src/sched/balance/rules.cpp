#include "sched/balance/rules.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "base/limits.hpp"
#include "base/near_name.hpp"
#include "base/printable.hpp"
#include "weft/error.hpp"

namespace weft::sched {

namespace {

constexpr std::uint64_t no_bound = rules::never;
constexpr std::uint64_t a_second = 1'000'000'000;

constexpr weft::rule rule_table[] = {
    {"tiny", "ns", "a thief keeps away from tasks with shorter bodies while those who have them are at work",
     "looks at which a thief kept away", 60, 0, 1, base::mean_body_max_ns},
    {"coarse", "ns", "behind a body as long as that a worker shares all that it has before the next",
     "bodies as long as that", 2000, no_bound, 1, a_second},
    {"fine_after", "bodies", "behind so many shorter ones it keeps some to itself again",
     "times a worker began to keep some", 32, no_bound, 1, 1'000'000},
    {"waited", "bodies", "for so many timed ones behind one that waited no task counts as tiny",
     "times a worker noted that a body had waited", 64, 0, 1, 1'000'000},
    {"worth_the_way", "ns", "who must go on soon leaves tasks to others where bodies are as long as that",
     "looks at which a worker left them", 1'000'000, no_bound, 1, a_second},

    {"asks_anew", "tasks", "behind so many tiny ones that it took a thief asks again whether others move",
     "times a thief asked again", 4, no_bound, 1, 1'000'000},
    {"give_way", "ns", "a worker with tiny tasks lets the main thread be, now and then, for so long",
     "times a worker let it be", 25'000, 0, 1, a_second},
    {"rests_again", "moves", "if the main thread did so much meanwhile it lets it be again after one task",
     "times a worker let it be again at once", 64, 0, 1, 1'000'000},
    {"one_thief", "times", "who sees another thief at a victim goes elsewhere, so often in a row",
     "times a thief went elsewhere", 1000, 0, 1, 1'000'000},
    {"supplier", "tasks", "who got fewer robs next whom its victim has its own from",
     "thefts behind which a thief turned to another", 8, 0, 1, 1'000'000},
    {"partners", "switch", "of many workers a thief asks first those whose number differs in one bit",
     "thefts from those", 1, 0, 1, 1},
    {"sweep", "victims", "with more workers a thief looks at so many at a time, and not at all",
     "looks at some and not at all", 8, no_bound, 1, 1024},

    {"many", "workers", "with as many the main thread keeps tasks together, and thieves come for them late",
     "looks at which a thief put off coming for them", 5, no_bound, 5, 1024},
    {"together", "submissions", "the main thread shares once in so many at most while thieves starve",
     "submissions that were kept", 64, 1, 2, 4096},
    {"brisk", "ns", "it keeps tasks together only if a submission takes less",
     "times it shared because a submission took more", 1000, no_bound, 1, a_second},
    {"main_moves", "looks", "behind so many a search notes where the main thread is, and if that moves goes on",
     "searches that found it moving", 8, 0, 1, 1'000'000},
    {"hand_out", "tasks", "a worker shares at each so many that it pushes, starved for or not",
     "times a worker shared so", 128, 0, 1, 1u << 20},

    {"fork_trial", "forks", "a turn of trying whether the main thread's forks are over sooner without thieves",
     "times thieves were turned down", 64, 0, 2, 1u << 30},
    {"brief_forks", "ns", "that is tried only where all that one of them forks is over sooner",
     "looks at forks that lasted too long", 50'000, no_bound, 1, a_second},
    {"turn_gain", "percent", "what is tried is kept if the way that was better takes so much of its time",
     "turns that gained, and too little", 110, 100, 101, 1000},
    {"turn_change", "percent", "if the better way takes so much of what it took, the other is tried at once",
     "times it took so much", 150, no_bound, 101, 100'000},

    {"one_searcher", "workers", "with more one searcher is counted, on whom others rely, and not all",
     "searches that were not counted", 4, no_bound, 1, 1024},
    {"wakes", "workers", "a thief that has taken several long tasks wakes so many at most",
     "thefts behind which a thief woke others", 4, 0, 1, 1024},

    {"first_window", "tasks", "so many live at first, where threads are real; options::window where off",
     "times a submitter was held up below options::window", 4096, no_bound, 64, 1'000'000'000},
    {"first_patience", "ns", "below options::window a blocked submitter looks so often whether it may go on",
     "times one looked sooner than at options::window", 2'000'000, 20'000'000, 10'000, a_second},
    {"idle_grows", "switch", "the window grows where a worker has nothing to do", "times it grew so", 1, 0, 1, 1},

    {"barrier_wait", "ns", "a member that waits for others of its team looks for so long, then is set aside",
     "members that were set aside", 5000, 0, 1, a_second},
    {"guest_wait", "ns", "a thread that a guest has given back waits so long for its next call",
     "times a thread waited for its next call", 50'000, 0, 1, a_second},
    {"width_trials", "part", "one part in so many of the time of teams may be lost on trying other widths",
     "teams that were wider or narrower for a trial's sake", 50, 0, 2, 1'000'000},
    {"joint", "switch", "kinds whose teams are among others have one width with those",
     "teams that had the common width", 1, 0, 1, 1},
    {"joint_trials", "part", "one part in so many of the time of those may be lost on trying other widths",
     "times a trial of another began", 64, 0, 2, 1'000'000},

    {"pipeline_share", "ns", "an item that takes one worker longer is worth another worker's way",
     "times a pipeline was opened for others", 1000, no_bound, 1, a_second},
    {"pipeline_again", "ns", "for so long, then twice as long, one worker goes on alone where several gain nothing",
     "times one was left to go on alone for so long", 1'000'000, 0, 1, a_second},
    {"pipeline_wait", "ns", "who finds nothing to carry looks so long for more", "times one began to look", 4000, 0, 1,
     a_second},
    {"pipeline_alone", "looks", "behind so many in a row at which several gain nothing one goes on alone",
     "times one was left to go on alone", 2, no_bound, 1, 1'000'000},

    {"ahead", "ns", "a section runs in order for so long at least before it tries to run ahead",
     "times a section began to run ahead", 100'000, no_bound, 1, a_second},
    {"in_vain", "percent", "a section lets fewer tasks run ahead when more of them ran in vain", "times it let fewer",
     20, 100, 1, 99},
};
static_assert(std::size(rule_table) == rules::count);

// The number is a mask, but for one (placement.hpp).
bool is_power(const weft::rule& r) noexcept { return &r == &rule_table[static_cast<std::size_t>(by::hand_out)]; }

bool may_be(const weft::rule& r, std::uint64_t number) noexcept {
  return number == r.off || (number >= r.least && number <= r.most && (!is_power(r) || std::has_single_bit(number)));
}
std::string allowed(const weft::rule& r) {
  if (r.least == r.most) return "off, or " + std::to_string(r.least);
  return "off, or a " + std::string(is_power(r) ? "power of two" : "number") + " from " + std::to_string(r.least) +
         " to " + std::to_string(r.most) + " (" + r.unit + ")";
}

std::size_t find_rule(std::string_view name) {
  const auto* const at =
      std::find_if(std::begin(rule_table), std::end(rule_table), [name](auto& r) { return name == r.name; });
  if (at != std::end(rule_table)) return static_cast<std::size_t>(at - std::begin(rule_table));
  std::vector<std::string> names;
  for (const weft::rule& r : rule_table) names.emplace_back(r.name);
  throw error("weft: there is no rule '" + base::printable(name) + "'" + base::did_you_mean(name, names) +
              (base::did_you_mean(name, names).empty() ? ";" : "") + " `weft info --rules` lists them");
}

}  // namespace

rule_list rules::rows() noexcept { return {rule_table, count}; }
const weft::rule& rules::row(by r) noexcept { return rule_table[static_cast<std::size_t>(r)]; }

rules::rules() noexcept {
  for (std::size_t i = 0; i < count; ++i) set(i, rule_table[i].value);
}

const rules& rules::usual() noexcept {
  static const rules all;
  return all;
}

const rules& rules::still() {
  static const rules all("tiny=off,give_way=off,main_moves=off,fork_trial=off");
  return all;
}

rules::rules(std::string_view settings, const rules& otherwise) : rules(otherwise) {
  std::vector<std::string_view> seen;
  while (!settings.empty()) {
    const std::size_t end = std::min(settings.find(','), settings.size());
    const std::string_view one = settings.substr(0, end);
    const std::string_view name = one.substr(0, one.find('='));
    set(one);
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      throw error("weft: rule " + std::string(name) + " is set twice");
    seen.push_back(name);
    settings.remove_prefix(std::min(end + 1, settings.size()));
  }
}

void rules::set(std::size_t row, std::uint64_t number) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << row;
  numbers_[row] = number;
  on_ = number == rule_table[row].off ? on_ & ~bit : on_ | bit;
}

void rules::set(std::string_view setting) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const std::size_t i = find_rule(setting.substr(0, equals));
  const weft::rule& r = rule_table[i];
  const std::string_view text = setting.substr(std::min(equals + 1, setting.size()));
  if (text == "off") {
    set(i, r.off);
    return;
  }
  std::uint64_t number = 0;
  const auto [stop, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (bad == std::errc{} && stop == text.data() + text.size() && !text.empty() && may_be(r, number)) {
    set(i, number);
    return;
  }
  throw error("weft: rule " + std::string(r.name) + " = '" + base::printable(text) + "' cannot be; it must be " +
              allowed(r));
}

std::string rules::text() const {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers_[i] == rule_table[i].value) continue;
    all += (all.empty() ? "" : ",") + std::string(rule_table[i].name) + "=" +
           (numbers_[i] == rule_table[i].off ? "off" : std::to_string(numbers_[i]));
  }
  return all;
}

}  // namespace weft::sched
