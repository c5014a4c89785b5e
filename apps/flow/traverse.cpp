// What memory costs at a distance, as OpenStream's evaluation measures it: threads on cores of their own go through
// buffers in steps of a cache line, reading it or adding to its first integer. With one thread, one buffer and one pass
// it is the benchmark of Tables 1 and 2 (§4.2). With all, sets of buffers that lie round robin over the nodes and a
// barrier before each set it is the one of page migration (§6.2), where a thread's next buffer lies elsewhere.
// Check: each integer is what was added to it, and each sum is what the integers give.
#include <memory>
#include <string>
#include <vector>

#include "flow.hpp"

namespace weft::apps {
namespace {

using namespace flow;
using element = std::uint64_t;

constexpr std::size_t per_line = 64 / sizeof(element);

struct parameters {
  std::size_t mib = 16;
  std::size_t threads = 1;
  std::size_t node = 0;
  std::size_t sets = 1;
  std::size_t passes = 1;
  bool adds = false;
  std::size_t pages = 0;
  bool migrate = false;
  bool model_only = false;
};

class buffers {
 public:
  buffers(const parameters& p, std::size_t nodes) : p_(p), lines_(p.mib * (std::size_t{1} << 20) / 64) {
    for (std::size_t i = 0; i < p.sets * p.threads; ++i)
      all_.push_back(std::make_unique<area<element>>(
          lines_ * per_line, memory_placement::on_node(static_cast<unsigned>((p.node + i % p.threads) % nodes)),
          p.model_only));
    passed_.resize(all_.size());
    wrong_.resize(all_.size());
  }

  void fill(runtime& rt) {
    if (p_.model_only) return;
    fill_blocks(rt, all_.size(), [this](std::size_t i) {
      for (std::size_t line = 0; line < lines_; ++line) *all_[i]->at(line * per_line) = line;
    });
  }

  // The seconds of all sets, from barrier to barrier.
  double go(runtime& rt, progress& bar) {
    const double start = rt.now_ns();
    for (std::size_t set = 0; set < p_.sets; ++set) {
      for (std::size_t t = 0; t < p_.threads; ++t)
        rt.submit(named("traverse"), pin(static_cast<unsigned>(t)), cost(0),
                  [this, i = set * p_.threads + t] { traverse(i); });
      rt.wait();
      bar.report(static_cast<double>(set + 1) / static_cast<double>(p_.sets));
    }
    return (rt.now_ns() - start) * 1e-9;
  }

  [[nodiscard]] check as_added() const {
    std::size_t passed = 0, wrong = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      passed += passed_[i], wrong += wrong_[i];
      for (std::size_t line = 0; !p_.model_only && line < lines_; ++line)
        wrong += *all_[i]->at(line * per_line) != line + (p_.adds ? p_.passes : 0);
    }
    return {"as_added", wrong == 0 && passed == all_.size() * p_.passes,
            std::to_string(wrong) + " wrong, " + std::to_string(passed) + " passes"};
  }

 private:
  void traverse(std::size_t i) {
    const area<element>& a = *all_[i];
    const std::size_t n = lines_ * per_line;
    for (std::size_t pass = 0; pass < p_.passes; ++pass) {
      if (!p_.model_only) wrong_[i] += touch(a, pass);
      data_uses uses;
      uses.add(p_.adds ? a.updates(0, n) : a.loads(0, n));
      charge(0, uses.begin(), uses.count);
      ++passed_[i];
    }
  }
  // Returns whether the sum is another than that of what is there.
  [[nodiscard]] std::size_t touch(const area<element>& a, std::size_t pass) const {
    element sum = 0;
    for (std::size_t line = 0; line < lines_; ++line) {
      if (p_.adds) ++*a.at(line * per_line);
      sum += *a.at(line * per_line);
    }
    const element added = p_.adds ? (pass + 1) * lines_ : 0;
    return sum != lines_ * (lines_ - 1) / 2 + added ? 1 : 0;
  }

  const parameters& p_;
  const std::size_t lines_;
  std::vector<std::unique_ptr<area<element>>> all_;
  std::vector<std::size_t> passed_, wrong_;
};

result run(const parameters& p, const weft::options& opt, progress& bar) {
  const auto bytes = static_cast<double>(p.mib * p.sets * p.threads) * 0x1p20;
  if (!p.model_only) require_memory("traverse", bytes);
  runtime rt(with_pages(opt, p.pages, p.migrate));
  const bool is_modelled = std::string_view(rt.machine()) != "host";
  if (p.model_only && !is_modelled) throw error("--model-only needs a modelled machine: --machine NAME");
  if (p.threads > rt.workers())
    throw error("--threads " + std::to_string(p.threads) + " of " + std::to_string(rt.workers()) + " workers");
  buffers all(p, memory_nodes());
  all.fill(rt);
  result r;
  r.seconds = all.go(rt, bar);
  r.describe(rt);
  r.add("ms_per_gib", r.seconds * 1e3 / (static_cast<double>(p.mib * p.sets * p.passes) / 1024), "ms");
  r.checks.push_back(all.as_added());
  return r;
}

}  // namespace

app traverse_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "traverse",
          .summary = "reads or updates buffers at a distance, line after line",
          .example = "traverse --mib 1024 --node 3 --model-only --machine opteron-6282-64",
          .options = {{"mib", "of a buffer", &p->mib, 1, 1u << 20},
                      {"threads", "each on the worker of its number, with a buffer of its own", &p->threads, 1, 1024},
                      {"node", "where the first buffer of a set lies, the next at the next", &p->node, 0, 1023},
                      {"sets", "of buffers, one after the other", &p->sets, 1, 1000},
                      {"passes", "through each buffer", &p->passes, 1, 1'000'000},
                      {"adds", "to the first integer of each line, instead of reading it", &p->adds},
                      pages_option(&p->pages),
                      migrate_option(&p->migrate),
                      {"model-only", "bodies move what they would move and do nothing", &p->model_only}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
