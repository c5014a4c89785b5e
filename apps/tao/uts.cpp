// Unbalanced tree search by tasks and by teams (TAO §5). With teams, the children of a node are cut into assemblies of
// so many; each is a task of `width` workers, which hash an equal part each (the paper's table scheduler) and submit an
// assembly for each of these that has children. Nothing waits for a subtree. With tasks, a node is a task that hashes
// its children, submits a task for each, leaves too, and waits for them, as BOTS has it and the paper's rivals run it.
// Check: the same nodes as a serial search finds, none lost and none twice.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "../app.hpp"
#include "unbalanced.hpp"
#include "width.hpp"

namespace weft::apps {
namespace {

using tao::found;
using tao::node;

constexpr double ns_of_a_call = 1;  // on modelled machines, where a body that says nothing takes as long as many do

struct parameters {
  std::string tree = "tao";
  std::size_t width = 4;
  bool learned = false;
  bool together = false;
  std::size_t group = 8;
  std::size_t cost_ns = 3000;
  std::size_t rounds = 1;
};

// What workers have found, each on lines of its own.
class tallies {
 public:
  explicit tallies(unsigned workers) : of_(workers + 2) {}
  // Who: a body. The worker that stands in for a submitter that sleeps has a number, too.
  void add(const found& f) noexcept {
    const std::size_t i = static_cast<std::size_t>(worker_id() + 1);
    of_[std::min(i, of_.size() - 1)].all.add(f);
  }
  [[nodiscard]] found sum() const noexcept {
    found f;
    for (const slot& s : of_) f.add(s.all);
    return f;
  }

 private:
  struct alignas(64) slot {
    found all;
  };
  std::vector<slot> of_;
};

[[nodiscard]] auto gang(const parameters& p) {
  const auto some = tao::wide(std::max<std::size_t>(p.width, 1), p.learned);
  return p.together ? some.together() : some;
}

class search {
 public:
  search(const parameters& p, runtime& rt)
      : p_(p), rt_(rt), tree_(tao::parse_tree(p.tree)), found_(rt.workers()), gang_(gang(p)) {}

  void run() {
    const node root = tree_.root();
    const std::size_t children = tree_.children_of(root);
    found first;
    first.add(root, children);
    found_.add(first);
    if (p_.width == 0)
      rt_.submit(named("uts"), [this, root, children] { visit(root, children); });
    else
      submit_assemblies(root, children);
    rt_.wait();
  }

  [[nodiscard]] found all() const noexcept { return found_.sum(); }
  [[nodiscard]] const tao::tree& of() const noexcept { return tree_; }

 private:
  [[nodiscard]] node make_child(const node& parent, std::size_t i) const {
    const node child = child_of(parent, i, p_.rounds);
    charge(static_cast<double>(p_.cost_ns));
    return child;
  }

  // A node by tasks: the work is that of its children. A leaf has a task, too, which does nothing.
  void visit(const node& n, std::size_t children) {
    charge(ns_of_a_call);
    if (children == 0) return;
    finish([&] {
      for (std::size_t i = 0; i < children; ++i) {
        const node child = make_child(n, i);
        const std::size_t below = tree_.children_of(child);
        found one;
        one.add(child, below);
        found_.add(one);
        async(named("uts"), [this, child, below] { visit(child, below); });
      }
    });
  }

  // A node by assemblies: its children in groups.
  void submit_assemblies(const node& n, std::size_t children) {
    for (std::size_t from = 0; from < children; from += p_.group) {
      const std::size_t to = std::min(from + p_.group, children);
      rt_.submit(gang_, named("uts"), [this, n, from, to](team_context& t) { assemble(t, n, from, to); });
    }
  }
  void assemble(team_context& t, const node& parent, std::size_t from, std::size_t to) {
    found mine;
    charge(ns_of_a_call);
    t.for_each(from, to, [&](std::size_t i) {
      const node child = make_child(parent, i);
      const std::size_t below = tree_.children_of(child);
      mine.add(child, below);
      submit_assemblies(child, below);
    });
    found_.add(mine);
  }

  const parameters& p_;
  runtime& rt_;
  const tao::tree tree_;
  tallies found_;
  const detail::team_clause gang_;
};

check same(const char* name, const found& is, const found& expected) {
  return {name, is == expected, text_of(is) + (is == expected ? "" : "; expected " + text_of(expected))};
}

result run(const parameters& p, const weft::options& opt) {
  if (p.group == 0) throw error("--group 0: an assembly has at least one child");
  runtime rt(opt);
  search s(p, rt);
  const double start = rt.now_ns();
  s.run();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  const found is = s.all();
  const double before = rt.now_ns();
  const found expected = tao::search_serially(s.of(), p.rounds);
  const bool modelled = r.machine != "host";
  const double serial = modelled ? static_cast<double>(expected.nodes - 1) * static_cast<double>(p.cost_ns) * 1e-9
                                 : (rt.now_ns() - before) * 1e-9;
  r.add("tree", p.tree);
  r.add("width", std::uint64_t{p.width});
  r.add("learned", p.learned);
  r.add("together", p.together);
  r.add("group", std::uint64_t{p.group});
  r.add("nodes", is.nodes);
  r.add("leaves", is.leaves);
  r.add("depth", std::uint64_t{is.depth});
  r.add("ns_per_node", r.seconds * 1e9 / static_cast<double>(expected.nodes));
  r.add("serial_seconds", serial, "s");
  r.add("speedup", serial / r.seconds);
  r.checks.push_back(same("as_serial", is, expected));
  if (const tao::known_tree* known = tao::find_known(p.tree)) r.checks.push_back(same("as_known", is, known->expected));
  return r;
}

}  // namespace

app uts_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "uts",
          .summary = "unbalanced tree search, a task for each node or teams of any width",
          .example = "uts --tree tao --width 4 --policy tao --machine opteron-6220-interlagos-16",
          .options = {{"tree", "tao, small, T1 to T5, or parameters like \"t0 b800 q0.1249999 m8 r3\"", &p->tree},
                      {"width", "workers of an assembly; 0: a task for each node", &p->width, 0, 1024},
                      {"learned", tao::learned_help, &p->learned, 0, SIZE_MAX, "width"},
                      {"together", "members of an assembly begin and end as one", &p->together},
                      {"group", "children in an assembly", &p->group, 1, 1'000'000},
                      {"cost", "ns a node takes on modelled machines", &p->cost_ns, 0, 1'000'000'000},
                      {"rounds", "hashes a node takes", &p->rounds, 1, 1'000'000}},
          .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
