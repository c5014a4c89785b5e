// See pipelines.hpp. How many stages there are is known when the trace is read, and a pipeline is a type: there is one
// for each number of stages, in which each stage is told whether it is serial.
#include "pipelines.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "weft/weft.hpp"

namespace weft::tool::sim {

namespace {

constexpr std::size_t stages_max = 16;  // behind the first
constexpr double short_ns = 250;        // an item that no pipeline shares; shorter ones go together
constexpr double parts_max = 4096;      // of items that were recorded together

using does_stage = std::function<void(const pipeline_item&, unsigned stage)>;

// Stages that are one here: with more than stages_max of them, neighbours go together.
struct group {
  unsigned first, last;
  bool serial;
};

std::vector<group> groups_of(const std::string& stages) {
  std::vector<group> all;
  for (unsigned s = 0; s < stages.size(); ++s) all.push_back({s, s + 1, stages[s] == 's'});
  const auto merge = [&all](auto may) {
    for (std::size_t i = 2; i < all.size() && all.size() > stages_max + 1;) {
      if (may(all[i - 1], all[i])) {
        all[i - 1] = {all[i - 1].first, all[i].last, all[i - 1].serial || all[i].serial};
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  };
  merge([](const group& a, const group& b) { return !a.serial && !b.serial; });
  merge([](const group&, const group&) { return true; });
  return all;
}

double took(const trace::pass& x) { return static_cast<double>(x.ps) * 1e-3; }

// Items that were recorded together, like the one before them.
void add_short(const trace::file& f, std::uint32_t together, std::vector<pipeline_item>& all) {
  const trace::pass& x = f.passes[together];
  double example = 0;
  if (!all.empty())
    for (std::uint32_t i = all.back().first; i < all.back().last; ++i)
      example += f.passes[i].strand == trace::none ? took(f.passes[i]) : 0;
  const double most = std::clamp(static_cast<double>(x.items), 1.0, parts_max);
  if (x.strand != trace::none || example <= 0) {  // as many, for whoever counts items, and the first does it all
    all.push_back({together, together + 1, 1});
    return all.resize(all.size() + static_cast<std::size_t>(most) - 1, {together, together + 1, 0});
  }
  const auto n = static_cast<std::size_t>(std::clamp(took(x) / short_ns, 1.0, most));
  const double each = took(x) / static_cast<double>(n);
  all.resize(all.size() + n, {all.back().first, all.back().last, each / example});
}

std::vector<pipeline_item> items_of(const trace::file& f, const trace::pipeline& p) {
  std::vector<pipeline_item> all;
  for (std::uint32_t i = p.first; i < p.last;) {
    if (f.passes[i].stage == trace::pass::all_stages) {
      add_short(f, i++, all);
      continue;
    }
    pipeline_item item{i, i + 1, 1};
    while (item.last < p.last && f.passes[item.last].item == f.passes[i].item) ++item.last;
    all.push_back(item);
    i = item.last;
  }
  return all;
}

struct replayed_stage {
  struct call {
    const does_stage* does;
    group stages;
    void operator()(const pipeline_item*& item) const {
      for (unsigned s = stages.first; s < stages.last; ++s) (*does)(*item, s);
    }
  };
  call body;
  [[nodiscard]] bool is_serial() const noexcept { return body.stages.serial; }
};

struct items_and_stages {
  const std::vector<pipeline_item>& items;
  const std::vector<group>& groups;
  const does_stage& does;
  std::uint32_t in_flight;
};

template <std::size_t... Stage> void run_stages(const items_and_stages& w, std::index_sequence<Stage...>) {
  std::size_t next = 0;
  auto first = serial([&w, &next]() -> std::optional<const pipeline_item*> {
    if (next == w.items.size()) return std::nullopt;
    const pipeline_item* const item = &w.items[next++];
    w.does(*item, 0);
    return item;
  });
  std::array<replayed_stage, sizeof...(Stage) + 1> others{replayed_stage{{&w.does, w.groups[Stage + 1]}}...,
                                                          replayed_stage{{&w.does, w.groups[0]}}};
  detail::with_here(
      [&](here& at) { detail::run_pipeline(at, detail::in_flight_limit{w.in_flight}, first, others[Stage]...); });
}

using run_with = void (*)(const items_and_stages&);
template <std::size_t Stages> void run_one(const items_and_stages& w) {
  run_stages(w, std::make_index_sequence<Stages>());
}
template <std::size_t... Stages> constexpr auto all_runs(std::index_sequence<Stages...>) {
  return std::array<run_with, sizeof...(Stages)>{&run_one<Stages>...};
}

}  // namespace

void run_pipeline(const trace::file& f, std::uint32_t which, const does_stage& does) {
  static constexpr auto runs = all_runs(std::make_index_sequence<stages_max + 1>());
  const trace::pipeline& p = f.pipelines[which];
  const std::vector<pipeline_item> items = items_of(f, p);
  const std::vector<group> groups = groups_of(p.stages);
  runs[groups.size() - 1]({items, groups, does, static_cast<std::uint32_t>(p.in_flight)});
}

}  // namespace weft::tool::sim
