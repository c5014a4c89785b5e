// `weft check PROGRAM`: runs it under many schedules, compares the results, and says which two tasks matter.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "../command.hpp"
#include "../output.hpp"
#include "../output_file.hpp"
#include "apps/progress.hpp"
#include "explore.hpp"
#include "localise.hpp"

namespace weft::tool {

namespace {

using namespace check;

constexpr double seconds_max = 7 * 24 * 3600;  // a run that takes longer will not be waited for
constexpr std::size_t candidates_max = 5;      // differing runs that are looked into

struct verdict {
  exploration all;
  finding best;
  const explored* from = nullptr;  // the run that `best` started from
  std::vector<std::string> files;  // orders kept
  std::string not_kept;            // why there are none
};

class check_command final : public command {
 public:
  explicit check_command(const command_line& root) {
    wanted_.jobs = usable_cpus();
    line_ = root.add_subcommand("check", "Run your program under many schedules and say which two tasks matter");
    line_.add_option("PROGRAM", rules_.command, "The program and its arguments; after -- if they begin with -")
        .required();
    line_.add_option("--schedules", wanted_.schedules, "How many")
        .capture_default_str()
        .in_range(1, 10'000'000)
        .type_name("N");
    line_.add_option("--compare", rules_.compare, "What must be the same: exit, stdout, stderr, names of files")
        .delimiter(',')
        .default_str("exit,stdout")
        .one_word()
        .type_name("LIST");
    line_.add_option("--ignore", rules_.ignore, "Leave out what matches, as times and addresses; may be repeated")
        .one_word()
        .type_name("REGEX");
    line_.add_option("--depth", wanted_.depth, "Moments in a schedule at which the first becomes the last")
        .capture_default_str()
        .in_range(0, 1000)
        .type_name("N");
    line_.add_option("--workers", wanted_.workers, "Numbers of workers")
        .delimiter(',')
        .default_str("1,2,3,4")
        .one_word()
        .in_range(1, workers_max)
        .type_name("N,...");
    line_.add_option("--seed", wanted_.seed, "First seed")
        .capture_default_str()
        .in_range(1, SIZE_MAX / 2)
        .type_name("N");
    line_.add_option("--timeout", rules_.seconds_max, "Seconds after which a run is ended; that is a result, too")
        .capture_default_str()
        .between(1e-3, seconds_max)
        .type_name("S");
    line_.add_option("-j,--jobs", wanted_.jobs, "Runs at a time")
        .capture_default_str()
        .in_range(1, 1024)
        .type_name("N");
    line_.add_option("--keep", keep_, "Names of the two files with the orders, if results differ, begin so")
        .capture_default_str()
        .type_name("PREFIX");
    line_.add_flag("--first", wanted_.first_only, "Stop exploring at the first difference");
    line_.add_flag("--json", json_, "One JSON object on stdout");
    line_.footer("Exit codes: 0 all results are the same, 1 they differ, 2 it could not be tested.\n"
                 "Example:\n  weft check --schedules 1000 ./my_program\n"
                 "  weft check --ignore '[0-9.]+ ms' -- ./my_program --size 100");
  }

  ~check_command() override {
    std::error_code ignored;
    if (!made_.empty()) std::filesystem::remove(made_, ignored);  // if it is empty
  }

  int run() override {
    prepare();
    const program p(rules_);
    const observation plain = plain_run(p);
    verdict v;
    {
      apps::progress bar("weft check", stderr);
      v.all = explore(p, plain, wanted_, [&bar](double done) { bar.report(done); });
    }
    find_culprits(p, plain, v);
    const bool same = v.all.results.size() == 1;
    write_stdout(json_ ? json_text(as_json(v)) : as_text(v, colour_wanted()));
    return same ? exit_ok : exit_check_failed;
  }

 private:
  void prepare() {
    std::string& name = rules_.command[0];
    if (name.find('/') == std::string::npos && std::filesystem::exists(name)) name = "./" + name;
    if (rules_.compare.empty()) rules_.compare = {"exit", "stdout"};
    keep_apart("check", {{"the program", name}}, {{"--keep", orders()[0]}, {"--keep", orders()[1]}});
    choose_place();
  }
  [[nodiscard]] std::vector<std::string> orders() const { return {keep_ + "-1.order", keep_ + "-2.order"}; }
  void demand_place() const {
    for (const std::string& file : orders()) demand_writable("--keep", file);
  }
  // Where nobody said where to, a folder that cannot be written is no reason not to look for bugs.
  void choose_place() {
    if (keep_ != default_keep) return demand_place();
    try {
      demand_place();
    } catch (const weft::error&) {
      // A folder that nobody else can write to: who can foresee a name there lays a link at it.
      std::string folder = (std::filesystem::temp_directory_path() / "weft-check-kept-XXXXXX").string();
      if (::mkdtemp(folder.data()) == nullptr) throw;
      made_ = folder;
      keep_ = (made_ / default_keep).string();
    }
  }

  // The plain schedule, which all others are compared with. Twice: what differs then is none of the schedule's doing.
  [[nodiscard]] observation plain_run(const program& p) {
    if (p.writes_files()) wanted_.jobs = 1;
    observation plain = p.run(settings{});
    if (plain.seen.steps.empty())
      throw weft::error("check: " + rules_.command[0] +
                        " ran no task on a modelled machine: it uses no Weft of this version, makes no runtime, or "
                        "asks for options::machine itself (it ended with " +
                        ended(plain) + ")");
    const observation again = p.run(settings{});
    if (again.got != plain.got) {
      const difference d = first_difference(plain.got, again.got);
      throw weft::error(
          "check: this program's output differs from run to run under the same schedule (time, addresses, "
          "random numbers?): " +
          d.where + ", line " + std::to_string(d.line) + ": '" + d.a + "' and '" + d.b +
          "'; leave it out with --ignore REGEX, or choose what is compared with --compare");
    }
    if (again.seen.steps != plain.seen.steps)
      throw weft::error("check: this program submits its tasks differently from run to run under the same schedule "
                        "(time, addresses, random numbers?), so no schedule can be repeated");
    return plain;
  }
  [[nodiscard]] static std::string ended(const observation& o) {
    for (const auto& [what, text] : o.got)
      if (what == "exit") return text;
    return "a status that --compare leaves out";
  }

  // Tries the differing runs that are nearest to the plain one, those that chose among tasks on one worker first.
  void find_culprits(const program& p, const observation& plain, verdict& v) const {
    std::vector<const explored*> different;
    for (const explored& e : v.all.runs)
      if (e.differs) different.push_back(&e);
    const auto by_tasks = [](const explored& e) { return e.how.workers == 1 && e.how.schedule.starts_with("tasks"); };
    std::stable_sort(different.begin(), different.end(), [&](const explored* a, const explored* b) {
      return by_tasks(*a) != by_tasks(*b) ? by_tasks(*a) : a->distance < b->distance;
    });
    for (std::size_t i = 0; i < different.size() && i < candidates_max; ++i) {
      finding f = localise(p, plain.got, plain.seen.steps, p.run(different[i]->how).seen.steps);
      const bool better = v.from == nullptr || (f.found() && !v.best.found()) || (f.adjacent && !v.best.adjacent);
      if (!better) continue;
      v.best = std::move(f);
      v.from = different[i];
      if (v.best.adjacent) break;
    }
    if (v.from == nullptr || !v.best.found()) return;
    try {
      const std::vector<std::string> files = orders();
      write_order(files[0], v.best.plain);
      write_order(files[1], v.best.other);
      v.files = files;
    } catch (const weft::error& e) {  // what was found is worth more than the files
      v.not_kept = e.what();
    }
  }

  [[nodiscard]] std::string replay(const settings& s) const { return replay_line(s, rules_.command); }
  [[nodiscard]] std::string replay(const std::string& file) const {
    return replay(settings{.schedule = "order:" + file});
  }

  // Of each kind of schedule: how many, how many differ, how many orders.
  struct row {
    std::size_t runs = 0, differ = 0;
    std::set<std::uint64_t> orders;
  };
  [[nodiscard]] static std::map<std::string, row> rows(const verdict& v) {
    std::map<std::string, row> by_kind;
    for (const explored& e : v.all.runs) {
      const std::string kind = e.how.schedule.substr(0, e.how.schedule.find(':'));
      row& r = by_kind[kind + ", " + std::to_string(e.how.workers) + (e.how.workers == 1 ? " worker" : " workers")];
      ++r.runs;
      r.differ += e.differs ? 1 : 0;
      r.orders.insert(e.order);
    }
    return by_kind;
  }
  [[nodiscard]] static std::size_t orders(const verdict& v) {
    std::set<std::uint64_t> all;
    for (const explored& e : v.all.runs) all.insert(e.order);
    return all.size();
  }

  [[nodiscard]] std::string as_text(const verdict& v, bool colour) const;
  [[nodiscard]] std::string told(const verdict& v, bool colour) const;
  [[nodiscard]] json as_json(const verdict& v) const;

  program::rules rules_;
  wanted wanted_;
  static constexpr const char* default_keep = "weft-check";
  std::string keep_ = default_keep;
  std::filesystem::path made_;  // the folder of these, if it was made for them
  bool json_ = false;
};

std::string check_command::as_text(const verdict& v, bool colour) const {
  table t(true);
  t.row({"", "schedules", "differ", "orders"});
  for (const auto& [kind, r] : rows(v))
    t.row({"  " + kind, std::to_string(r.runs), std::to_string(r.differ), std::to_string(r.orders.size())});
  const bool same = v.all.results.size() == 1;
  const std::string head = std::to_string(v.all.runs.size()) + " schedules in " + short_number(v.all.seconds) + " s";
  std::string text = paint(head, style::bold, colour) + "\n" + t.text({}, colour);
  text += std::to_string(orders(v)) + " orders of tasks, " + std::to_string(v.all.results.size()) +
          (same ? " result: " : " results: ");
  text += same ? paint("the same", style::green, colour) + "\n" : paint("they DIFFER", style::red, colour) + "\n";
  return same ? text : text + told(v, colour);
}

std::string check_command::told(const verdict& v, bool colour) const {
  const finding& f = v.best;
  std::string text;
  const auto add_result = [&](const difference& d, const std::string& line) {
    text += "      " + d.where + ", line " + std::to_string(d.line) + ": " + line + "\n";
  };
  if (!f.found()) {
    const result& other = v.all.results[v.from->result];
    const difference d = first_difference(v.all.results[0], other);
    text += "\nWhich tasks matter was not found: " + f.why_not + ".\n";
    text += "  the plain schedule gives\n";
    add_result(d, d.a);
    text += "      " + replay(settings{}) + "\n  another one\n";
    add_result(d, d.b);
    return text + "      " + replay(v.from->how) + "\n";
  }
  const difference d = first_difference(f.plain_got, f.other_got);
  const std::string a = step_text(f.seen, f.first), b = step_text(f.seen, f.second);
  text += paint(f.adjacent ? "\nThe order of these two alone matters:\n" : "\nThe first difference is the order of:\n",
                style::bold, colour);
  for (const step* s : {&f.first, &f.second}) {
    text += "  " + step_text(f.seen, *s) + "\n";
    const task* t = f.seen.find(s->actor);
    if (t == nullptr) continue;
    text += "      declares";
    for (const use& u : t->uses) text += " " + use_text(f.seen, u);
    text += t->uses.empty() ? " nothing\n" : "\n";
  }
  for (const std::string& s : suspicions(f.seen, f.first, f.second)) text += "  " + s + "\n";
  text += "\nIn this order\n";
  const auto repeat = [&](std::size_t i) { return v.files.empty() ? "" : "      " + replay(v.files[i]) + "\n"; };
  add_result(d, d.a);
  text += repeat(0) + "and the other way round\n";
  add_result(d, d.b);
  text += repeat(1) + "Found by\n      " + replay(v.from->how) + "\n";
  return v.files.empty() ? text + "The two orders were not kept: " + printable_lines(v.not_kept) + "\n" : text;
}

json check_command::as_json(const verdict& v) const {
  const bool same = v.all.results.size() == 1;
  json out = {{"ok", same},
              {"program", rules_.command},
              {"schedules", v.all.runs.size()},
              {"seconds", v.all.seconds},
              {"results", v.all.results.size()},
              {"orders", orders(v)}};
  for (const auto& [kind, r] : rows(v))
    out["kinds"].push_back({{"kind", kind}, {"schedules", r.runs}, {"differ", r.differ}, {"orders", r.orders.size()}});
  if (same) return out;
  const finding& f = v.best;
  json& found = out["found"] = {{"exact", f.found() && f.adjacent}, {"runs", f.runs}, {"by", replay(v.from->how)}};
  const difference d = f.found() ? first_difference(f.plain_got, f.other_got)
                                 : first_difference(v.all.results[0], v.all.results[v.from->result]);
  found["difference"] = {{"where", d.where}, {"line", d.line}, {"plain", d.a}, {"other", d.b}};
  if (!f.found()) {
    found["why_not"] = f.why_not;
    return out;
  }
  for (const step* s : {&f.first, &f.second}) {
    json one = {{"actor", s->actor}, {"step", s->number}, {"text", step_text(f.seen, *s)}, {"declares", json::array()}};
    if (const task* t = f.seen.find(s->actor); t != nullptr) {
      one["name"] = t->name;
      for (const use& u : t->uses) one["declares"].push_back(use_text(f.seen, u));
    }
    found["steps"].push_back(one);
  }
  found["suspicions"] = suspicions(f.seen, f.first, f.second);
  found["replay"] = json::array();
  for (const std::string& file : v.files) found["replay"].push_back(replay(file));
  if (!v.not_kept.empty()) found["not_kept"] = v.not_kept;
  return out;
}

}  // namespace

std::unique_ptr<command> make_check_command(const command_line& root) { return std::make_unique<check_command>(root); }

}  // namespace weft::tool
