#include "dependencies.hpp"

#include <array>
#include <utility>

namespace weft::apps::micro {

namespace {

// The state of a handle's datum. A reader that finds another one than `open` came too early or too late.
enum class phase : std::uint8_t { before, open, after };

template <std::size_t Count> class bench {
 public:
  bench(runtime& rt, std::size_t tasks, std::size_t grain_ns, const mistake& planted)
      : rt_(rt), tasks_(tasks), grain_(rt, static_cast<double>(grain_ns)), planted_(planted), runs_(tasks) {}

  sample run() {
    for (handle<phase>& h : data_) rt_.submit(write(h), named("open"), cost(1), [](phase& p) { p = phase::open; });
    rt_.wait();
    rt_.pause();
    const double start = rt_.now_ns();
    submit_readers(std::make_index_sequence<Count>());
    for (std::size_t i = 0; i < Count; ++i) submit_close(i);
    rt_.start();
    rt_.wait();
    sample s;
    s.seconds = (rt_.now_ns() - start) * 1e-9;
    for (const std::uint32_t n : runs_) s.wrong += n == 1 ? 0 : 1;
    for (const bool early : closed_early_) s.wrong += early ? 1 : 0;
    return s;
  }

 private:
  template <std::size_t... I> void submit_readers(std::index_sequence<I...>) {
    for (std::size_t i = 0; i < tasks_; ++i) {
      if (i == planted_.omitted) continue;
      if (i == planted_.undeclared) {
        submit_undeclared(i);
        continue;
      }
      rt_.submit(read(data_[I])..., cost(grain_.ns()), named("read"),
                 [slot = &runs_[i], g = grain_](const auto&... data) {
                   g.wait();
                   *slot += (... && (data == phase::open)) ? 1 : wrong_phase;
                 });
    }
  }

  void submit_undeclared(std::size_t i) {
    rt_.submit(cost(grain_.ns()), [this, i] {
      for (handle<phase>& h : data_) runs_[i] += h.unguarded() == phase::open ? 0 : wrong_phase;
      ++runs_[i];
    });
  }

  void submit_close(std::size_t i) {
    const std::uint64_t earlier = tasks_ + 1;
    rt_.submit(write(data_[i]), named("close"), cost(1), [this, i, earlier](phase& p) {
      closed_early_[i] = p != phase::open || data_[i].version() != earlier;
      p = phase::after;
    });
  }

  static constexpr std::uint32_t wrong_phase = 1000;

  runtime& rt_;
  const std::size_t tasks_;
  const grain grain_;
  const mistake planted_;
  std::array<bool, Count> closed_early_{};
  std::vector<std::uint32_t> runs_;
  std::array<handle<phase>, Count> data_;  // last: destroyed first, which waits for tasks that use the rest
};

// The same with the handles given as a range, for numbers that no one writes down clause by clause. One task opens all
// handles and one closes them, so that a few tasks with many dependencies are not outnumbered by them.
class wide_bench {
 public:
  wide_bench(runtime& rt, std::size_t dependencies, std::size_t tasks, std::size_t grain_ns, const mistake& planted)
      : rt_(rt), tasks_(tasks), grain_(rt, static_cast<double>(grain_ns)), planted_(planted), runs_(tasks),
        data_(dependencies) {}

  sample run() {
    rt_.submit(write(data_), named("open"), cost(1), [](view<phase> all) {
      for (phase& p : all) p = phase::open;
    });
    rt_.wait();
    rt_.pause();
    const double start = rt_.now_ns();
    for (std::size_t i = 0; i < tasks_; ++i)
      if (i != planted_.omitted) submit_reader(i);
    rt_.submit(write(data_), named("close"), cost(1), [this](view<phase> all) { close(all); });
    rt_.start();
    rt_.wait();
    sample s;
    s.seconds = (rt_.now_ns() - start) * 1e-9;
    for (const std::uint32_t n : runs_) s.wrong += n == 1 ? 0 : 1;
    s.wrong += closed_early_;
    return s;
  }

 private:
  void submit_reader(std::size_t i) {
    const std::span<handle<phase>> declared = std::span(data_).subspan(i == planted_.undeclared ? data_.size() : 0);
    rt_.submit(read(declared), cost(grain_.ns()), named("read"), [this, i](view<const phase> all) {
      grain_.wait();
      bool open = true;
      if (all.empty())
        for (handle<phase>& h : data_) open &= h.unguarded() == phase::open;
      for (const phase& p : all) open &= p == phase::open;
      runs_[i] += open ? 1 : wrong_phase;
    });
  }

  void close(view<phase> all) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      closed_early_ += all[i] != phase::open || data_[i].version() != tasks_ + 1 ? 1 : 0;
      all[i] = phase::after;
    }
  }

  static constexpr std::uint32_t wrong_phase = 1000;

  runtime& rt_;
  const std::size_t tasks_;
  const grain grain_;
  const mistake planted_;
  std::uint64_t closed_early_ = 0;
  std::vector<std::uint32_t> runs_;
  std::vector<handle<phase>> data_;  // last: destroyed first, which waits for tasks that use the rest
};

using function = sample (*)(runtime&, std::size_t tasks, std::size_t grain_ns, const mistake&);

template <std::size_t Count> sample run(runtime& rt, std::size_t tasks, std::size_t grain_ns, const mistake& planted) {
  return bench<Count>(rt, tasks, grain_ns, planted).run();
}

constexpr std::size_t counts[] = {0, 1, 2, 4, 8, 16, 32, 100, 1000, 10'000};
constexpr function functions[] = {run<0>, run<1>, run<2>, run<4>, run<8>, run<16>, run<32>};
static_assert(counts[std::size(functions) - 1] == clauses_max);

}  // namespace

std::span<const std::size_t> dependency_counts() noexcept { return counts; }

sample run_dependencies(runtime& rt, std::size_t dependencies, std::size_t tasks, std::size_t grain_ns,
                        const mistake& planted) {
  for (std::size_t i = 0; i < std::size(functions); ++i)
    if (counts[i] == dependencies) return functions[i](rt, tasks, grain_ns, planted);
  return wide_bench(rt, dependencies, tasks, grain_ns, planted).run();
}

double slope(std::span<const std::size_t> at, std::span<const double> values) noexcept {
  double x = 0, y = 0, xx = 0, xy = 0;
  const double n = static_cast<double>(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double k = static_cast<double>(at[i]);
    x += k, y += values[i], xx += k * k, xy += k * values[i];
  }
  const double spread = n * xx - x * x;
  return spread > 0 ? (n * xy - x * y) / spread : 0;
}

}  // namespace weft::apps::micro
