// The parallel sort of TAO (§6): a reduction of assemblies (assemblies.hpp), QuickMerges at its leaves and four times
// fewer Merges in each level above. An edge is a token that one assembly writes and the next reads. As in the paper
// each level has a width and a private scheduler, and assemblies begin at the worker whose part of the array they sort.
//   stealing      those that a worker has begun with, and what became ready there, may be robbed
//   no stealing   each assembly is pinned to the first worker of its part
// With --tasks it is the rivals' program: the same units as tasks of one worker each, in recursive finishes.
// Check: the values are in order, and those of the input: their sum, and the sum of a hash of each.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "../app.hpp"
#include "assemblies.hpp"

namespace weft::apps {
namespace {

using tao::assembly, tao::integer;

struct level {
  unsigned width;  // 0: learned
  bool by_table;
};

struct parameters {
  std::size_t n = std::size_t{1} << 20;
  std::size_t sorts = 1024;
  std::string levels = "dep-2,dep-2,dep-2,dep-2,tab-4";
  std::string layout = "blocked";
  bool no_stealing = false;
  bool awake = false;
  bool tasks = false;
  bool modelled = false;
  std::size_t repeat = 1;
};

std::uint64_t hash(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
integer value_of(std::size_t i) { return std::bit_cast<integer>(hash(i + 1)) >> 8; }

memory_placement placement(const std::string& layout) {
  if (layout == "blocked") return memory_placement::blocked();
  if (layout == "interleaved") return memory_placement::interleaved();
  if (layout == "first-touch") return memory_placement::first_touch();
  throw error("--layout " + layout + " is none: first-touch, blocked or interleaved");
}

// "dep-2,tab-learned": by level from the leaves on; the last is that of all levels above, too.
level level_of(const std::string& text) {
  const std::string kind = text.substr(0, 4), number = text.size() > 4 ? text.substr(4) : "";
  if ((kind == "dep-" || kind == "tab-") && number == "learned") return {0, kind == "tab-"};
  const bool is_width = !number.empty() && number.size() <= 4 && number.find_first_not_of("0123456789") == number.npos;
  if ((kind != "dep-" && kind != "tab-") || !is_width || std::stoul(number) == 0)
    throw error("--levels: '" + text +
                "' is none; write dep-2, tab-4 or dep-learned, one for each level, separated by commas");
  return {static_cast<unsigned>(std::stoul(number)), kind == "tab-"};
}
std::vector<level> levels_of(const std::string& text, std::size_t count) {
  std::vector<level> all;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    all.push_back(level_of(text.substr(from, to - from)));
    from = to + 1;
  }
  if (all.size() > count)
    throw error("--levels names " + std::to_string(all.size()) + " levels; there are " + std::to_string(count));
  all.resize(count, all.back());
  return all;
}

class sorter {
 public:
  sorter(const parameters& p, runtime& rt)
      : how_(p), rt_(rt), values_(p.n, placement(p.layout)), room_(p.n, placement(p.layout)), begin_(rt.workers()) {
    for (std::size_t count = p.sorts / 4; count != 0; count /= 4) tree_.push_back(make_level(count));
    kinds_ = levels_of(p.levels, tree_.size());
  }

  // By one thread, as programs of this family do: with first touch the values then lie on its node, and the room where
  // they are merged first.
  void fill() {
    rt_.submit(pin(0), named("fill"), [this] {
      if (!how_.modelled)
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = value_of(i);
      charge(0, stores(values_, 0, values_.size()));
    });
    rt_.wait();
  }
  void run() {
    if (how_.tasks)
      finish([&] { async(named("sort"), [this] { sort_by_tasks(tree_.size() - 1, 0); }); });
    else
      submit_all();
    rt_.wait();
  }
  [[nodiscard]] std::size_t assemblies() const {
    std::size_t n = 0;
    for (const row& l : tree_) n += l.size();
    return n;
  }
  // Of all assemblies; and those that ran once, each behind what it needs.
  [[nodiscard]] std::size_t units() const {
    std::size_t n = 0;
    for (const row& l : tree_) n += l.size() * (&l == &tree_[0] ? assembly::units_with_sorts : assembly::units);
    return n;
  }
  [[nodiscard]] std::size_t units_done() const {
    std::size_t n = 0;
    for (const row& l : tree_)
      for (const node& x : l) n += x.is_early ? 0 : x.does.units_done();
    return n;
  }
  [[nodiscard]] const numa_array<integer>& values() const { return values_; }

 private:
  struct token {};
  struct node {
    assembly does;
    handle<token> done;
    bool is_early = false;  // it began before the four were done that it merges; written by its first member
  };
  using row = std::vector<node>;

  [[nodiscard]] row make_level(std::size_t count) {
    const std::size_t n = how_.n / count;
    const auto doing = how_.modelled ? tao::doing::only_charging : tao::doing::all;
    row all(count);
    for (std::size_t i = 0; i < count; ++i) all[i].does = assembly({&values_, &room_, i * n, n}, tree_.empty(), doing);
    return all;
  }
  // Of the first worker in whose part of the array it is.
  [[nodiscard]] unsigned worker_of(std::size_t at_level, std::size_t i) const {
    return static_cast<unsigned>(i * rt_.workers() / tree_[at_level].size());
  }

  void submit_all() {
    for (unsigned w = 0; w < rt_.workers(); ++w)
      rt_.submit(pin(w), write(begin_[w]), named("begin"), cost(1), [](token&) {});
    for (std::size_t i = 0; i < tree_[0].size(); ++i) submit(0, i, read(begin_[worker_of(0, i)]));
    for (std::size_t l = 1; l < tree_.size(); ++l)
      for (std::size_t i = 0; i < tree_[l].size(); ++i) {
        node* const from = &tree_[l - 1][4 * i];
        submit(l, i, read(from[0].done), read(from[1].done), read(from[2].done), read(from[3].done));
      }
  }
  template <class... Reads> void submit(std::size_t l, std::size_t i, Reads... after) {
    node& x = tree_[l][i];
    const level k = kinds_[l];
    const detail::team_clause asked = k.width == 0 ? team(learned).sized(how_.n / tree_[l].size()) : team(k.width);
    const auto wide = how_.awake ? asked.awake() : asked;
    const auto name = named(l == 0 ? assembly::name_with_sorts : assembly::name);
    const auto body = [this, &x, l, i, by_table = k.by_table](team_context& t, auto&&...) {
      if (t.rank() == 0) x.is_early = !may_begin(l, i);
      by_table ? x.does.by_table(t) : x.does.by_graph(t);
    };
    if (how_.no_stealing)
      rt_.submit(wide, pin(worker_of(l, i)), name, after..., write(x.done), body);
    else
      rt_.submit(wide, name, after..., write(x.done), body);
  }

  void sort_by_tasks(std::size_t l, std::size_t i) {
    if (l != 0)
      finish([&] {
        for (std::size_t k = 4 * i; k < 4 * i + 4; ++k) async(named("sort"), [this, l, k] { sort_by_tasks(l - 1, k); });
      });
    tree_[l][i].is_early = !may_begin(l, i);
    tree_[l][i].does.by_tasks();
  }
  [[nodiscard]] bool may_begin(std::size_t l, std::size_t i) const {
    for (std::size_t k = 4 * i; l != 0 && k < 4 * i + 4; ++k)
      if (tree_[l - 1][k].does.units_done() != (l == 1 ? assembly::units_with_sorts : assembly::units)) return false;
    return true;
  }

  const parameters& how_;
  runtime& rt_;
  numa_array<integer> values_, room_;
  std::vector<row> tree_;  // the leaves first
  std::vector<level> kinds_;
  std::vector<handle<token>> begin_;  // [worker]
};

void check_values(const numa_array<integer>& found, result& r) {
  const std::size_t n = found.size();
  std::uint64_t sum = 0, hashes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto was = std::bit_cast<std::uint64_t>(value_of(i)), is = std::bit_cast<std::uint64_t>(found[i]);
    sum += was - is;
    hashes += hash(was) - hash(is);
  }
  const auto wrong = static_cast<std::size_t>(std::is_sorted_until(found.begin(), found.end()) - found.begin());
  r.checks.push_back({"in_order", wrong == n, wrong == n ? "all" : "up to value " + std::to_string(wrong)});
  r.checks.push_back({"same_values", sum == 0 && hashes == 0, "sum and sum of hashes"});
}

void check_sizes(const parameters& p) {
  if (std::popcount(p.sorts) != 1 || std::countr_zero(p.sorts) % 2 != 0)
    throw error("--sorts " + std::to_string(p.sorts) + " is no power of 4");
  if (p.n % p.sorts != 0)
    throw error("--n " + std::to_string(p.n) + " is no multiple of the " + std::to_string(p.sorts) +
                " parts of --sorts");
  require_memory("tao_sort", 2.0 * sizeof(integer) * static_cast<double>(p.n));
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  check_sizes(p);
  runtime rt(opt);
  if (p.modelled && rt.machine() == std::string("host"))
    throw error("--modelled charges for work that it does not do; it needs a modelled machine");
  for (std::size_t i = 1; i < p.repeat; ++i) {
    sorter before(p, rt);
    before.fill();
    before.run();
  }
  sorter s(p, rt);
  s.fill();
  bar.report(0.1);
  const double start = rt.now_ns();
  const runtime::counts before = rt.statistics();
  s.run();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  r.add("n", std::uint64_t{p.n});
  r.add("levels", p.tasks ? "tasks" : p.levels);
  r.add("layout", p.layout);
  r.add("stealing", !p.no_stealing);
  r.add("awake", p.awake);
  r.add("assemblies", std::uint64_t{s.assemblies()});
  r.add("ns_per_value", r.seconds * 1e9 / static_cast<double>(p.n));
  r.add("dirty_bytes", r.counts.modified_bytes - before.modified_bytes);  // of the sort alone, as the two below
  r.add("near_bytes", r.counts.local_bytes - before.local_bytes);
  r.add("far_bytes", r.counts.remote_bytes - before.remote_bytes);
  if (p.modelled)
    r.checks.push_back(
        {"all_units", s.units_done() == s.units(), std::to_string(s.units_done()) + " were charged once, in order"});
  else
    check_values(s.values(), r);
  return r;
}

}  // namespace

app tao_sort_app() {
  auto p = std::make_shared<parameters>();
  return {
      .name = "tao_sort",
      .summary = "sort by teams: four sorts and merges each, private schedulers, a width for each level",
      .example = "tao_sort --n 1048576 --levels dep-2,dep-2,dep-2,dep-2,tab-4 --workers 4",
      .options = {{"n", "how many integers", &p->n, 4, 4'000'000'000},
                  {"sorts", "how many parts are sorted before they are merged, a power of 4", &p->sorts, 4, 1 << 20},
                  {"levels",
                   "private scheduler and width of each level, from the leaves on: dep-2,tab-learned; the last goes on",
                   &p->levels, 0, SIZE_MAX, "tasks"},
                  {"layout", "how the arrays lie on memory nodes: first-touch, blocked or interleaved", &p->layout},
                  {"no-stealing", "each assembly stays at the first worker of its part", &p->no_stealing},
                  {"awake", "members that wait for others keep their cores", &p->awake},
                  {"tasks", "no teams: each unit a task, in recursive finishes", &p->tasks},
                  {"modelled", "charge for units and do nothing else", &p->modelled},
                  {"repeat", "sorts so many times; the last one counts", &p->repeat, 1, 1000}},
      .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
