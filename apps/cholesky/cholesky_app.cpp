// Cholesky factorization as a measurement: the tiled task graph against the best rival there is for this problem, the
// threaded dpotrf_ of the same BLAS with as many threads, in one process and in turns, so that both see the same clock
// speed, memory and neighbours. Both start from and end in the same storage, and nothing else is timed. Every factor is
// checked, the rival's as well: a fast wrong answer must not win.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>

#include "matrix.hpp"
#include "matrix_market.hpp"
#include "tiled.hpp"

namespace weft::apps::cholesky {
namespace {

constexpr std::size_t n_default = 2048;

// OpenBLAS's threads spin for 2^26 cycles after their last call, about 25 ms, on cores that the next run is to use.
constexpr std::chrono::milliseconds settle_time{50};

struct parameters {
  std::size_t n = n_default;
  std::size_t tile = 0;
  std::size_t height = 0;
  std::size_t repeat = 0;
  std::size_t panel_team = 0;
  bool learned = false;
  std::string file;
  bool no_compare = false;
};

struct series {
  std::vector<double> seconds;
  double worst_residual = 0;

  void note(double s, double r) {
    seconds.push_back(s);
    if (!(r <= worst_residual) && !std::isnan(worst_residual)) worst_residual = r;  // a NaN stays the worst
  }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
};

// A bare word names a matrix shipped with Weft, unless such a file lies right here. Shipped matrices are in the source
// tree, or where an install put them, which is known relative to the program.
std::string resolve(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (file.find_first_of("/.") != std::string::npos || fs::exists(file, ignored)) return file;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& folder : {fs::path(WEFT_DATA_DIR), program / WEFT_DATA_DIR_INSTALLED})
    if (const fs::path shipped = folder / (file + ".mtx"); fs::exists(shipped, ignored)) return shipped;
  return file;
}

matrix make_matrix(const parameters& p, std::uint64_t seed) {
  if (!p.file.empty()) return read_matrix_market(resolve(p.file));
  const double n = static_cast<double>(p.n);
  require_memory("cholesky: --n " + std::to_string(p.n), 2 * n * n * sizeof(double));  // A and L
  return random_spd(p.n, seed);
}

// Few tasks of milliseconds each: one queue for all costs nothing then, and taking the oldest first keeps the steps of
// the factorization in order, which modelled 2 workers turn into 2 to 3 per cent. A user's choice comes first.
weft::options oldest_first(weft::options opt) {
  if (opt.policy == nullptr && std::getenv("WEFT_POLICY") == nullptr) opt.policy = "central";
  return opt;
}

void refuse(const parameters& p, const std::optional<bad_pivot>& bad) {
  if (!bad) return;
  char value[32];
  std::snprintf(value, sizeof value, "%.6g", bad->value);
  throw weft::error((p.file.empty() ? "cholesky" : p.file) + ": the matrix is not positive definite: pivot " +
                    std::to_string(bad->index) + " is " + value + "; every pivot must be above zero");
}

constexpr std::size_t repeat_default = 3;

// All runs of one problem. A trace is to show the factorization and nothing else: while one is recorded there is one
// run unless more are asked for, no comparison, and what is checked is the last factor, after the last wait.
class contest {
 public:
  contest(const parameters& p, const weft::options& opt, progress& bar)
      : p_(p), seed_(opt.seed), bar_(bar), rt_(oldest_first(opt)), a_(make_matrix(p, opt.seed)), tiles_(a_.n, shape()) {
    work_ = a_;
    const bool real = std::string_view(rt_.machine()) == "host";
    if (p_.learned && p_.panel_team == 0)
      throw weft::error("cholesky: --learned is about --panel-team, which says how wide a panel is at most");
    if (real && p_.panel_team != 0 && (p_.panel_team < rt_.workers() || p_.learned))
      throw weft::error("cholesky: --panel-team " + std::to_string(p_.panel_team) + (p_.learned ? " --learned" : "") +
                        " with " + std::to_string(rt_.workers()) +
                        " workers: OpenBLAS has one number of threads for all that calls it, so the team must be all "
                        "workers");
  }

  result run() {
    const bool real = std::string_view(rt_.machine()) == "host";
    const bool compare = !p_.no_compare && real && !recorded_;  // modelled time against real time would say nothing
    const double part = 1.0 / static_cast<double>(repeat_ * (compare ? 2 : 1));
    double done = 0;
    for (std::size_t i = 0; i < repeat_; ++i) {
      bar_.section(done, done + part);
      ours(real && !recorded_, !recorded_ || i + 1 == repeat_);
      done += part;
      if (!compare) continue;
      theirs();
      done += part;
    }
    return summary(compare);
  }

 private:
  [[nodiscard]] tile_shape shape() const {
    tile_shape s = choose_shape(a_.n, rt_.workers(), p_.tile);
    if (p_.height != 0) s.height = p_.height;
    return s;
  }

  void ours(bool settle, bool checked) {
    work_.values = a_.values;
    if (settle) std::this_thread::sleep_for(settle_time);
    const double start = rt_.now_ns();
    refuse(p_, factorize(rt_, work_, tiles_, bar_, static_cast<unsigned>(p_.panel_team), p_.learned));
    const double seconds = (rt_.now_ns() - start) * 1e-9;
    weft_.note(seconds, checked ? residual(a_, work_, seed_) : 0);
    if (!checked) return;
    const std::uint64_t bits = digest(work_);
    same_bits_ = same_bits_ && (factors_checked_++ == 0 || bits == digest_);
    digest_ = bits;
  }

  void theirs() {
    work_.values = a_.values;
    std::this_thread::sleep_for(settle_time);
    const auto start = std::chrono::steady_clock::now();
    refuse(p_, factorize_openblas(work_, rt_.workers()));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    openblas_.note(seconds.count(), residual(a_, work_, seed_));
  }

  static check judge(const char* name, double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3g, at most %g allowed", value, residual_max);
    return {name, value <= residual_max, text};
  }

  result summary(bool compare) {
    const double n = static_cast<double>(a_.n);
    const double gflop = n * n * n / 3 * 1e-9;
    result r;
    r.seconds = weft_.median();
    r.describe(rt_);
    r.add("matrix", p_.file.empty() ? std::string("random") : p_.file);
    r.add("n", std::uint64_t{a_.n});
    r.add("tile", std::uint64_t{tiles_.shape().width});
    r.add("height", std::uint64_t{tiles_.shape().height});
    if (p_.panel_team == 0)
      r.add("tasks_per_run", tiles_.task_count());
    else
      r.add("panel_team", std::uint64_t{p_.panel_team});
    if (p_.learned) r.add("learned", p_.learned);
    r.add("repeat", std::uint64_t{repeat_});
    r.add("gflops", gflop / r.seconds, "GFLOP/s");
    r.add("residual", weft_.worst_residual, "n eps");
    char bits[17];
    std::snprintf(bits, sizeof bits, "%016llx", static_cast<unsigned long long>(digest_));
    r.add("factor_digest", std::string(bits));
    r.checks.push_back(judge("residual", weft_.worst_residual));
    r.checks.push_back({"same_bits_each_run", same_bits_, std::to_string(factors_checked_) + " factors"});
    if (!compare) return r;
    r.add("openblas_seconds", openblas_.median(), "s");
    r.add("openblas_gflops", gflop / openblas_.median(), "GFLOP/s");
    r.add("openblas_residual", openblas_.worst_residual, "n eps");
    r.add("speed_vs_openblas", openblas_.median() / r.seconds, "x");
    r.checks.push_back(judge("openblas_residual", openblas_.worst_residual));
    return r;
  }

  const parameters& p_;
  const std::uint64_t seed_;
  progress& bar_;
  runtime rt_;  // first: an option that cannot be meant is found before the matrix is made
  const bool recorded_ = rt_.trace_path() != nullptr;
  const std::size_t repeat_ = p_.repeat != 0 ? p_.repeat : recorded_ ? 1 : repeat_default;
  matrix a_;
  matrix work_;
  tiled_matrix tiles_;
  series weft_;
  std::uint64_t digest_ = 0;  // of the last factor; every run must give the same
  std::size_t factors_checked_ = 0;
  bool same_bits_ = true;
  series openblas_;
};

}  // namespace
}  // namespace weft::apps::cholesky

namespace weft::apps {

app cholesky_app() {
  using namespace cholesky;
  auto p = std::make_shared<parameters>();
  return {
      .name = "cholesky",
      .summary = "tiled Cholesky factorization over OpenBLAS, against its threaded dpotrf",
      .example = "cholesky --n 4096 --tile 256 --workers 2",
      .options = {{"n", "order of a random matrix", &p->n, 1, order_max, "matrix"},
                  {"matrix", "Matrix Market file, or the name of a shipped one: bar", &p->file},
                  {"tile", "columns of a tile; 0: chosen by n and workers", &p->tile, 0, order_max},
                  {"height", "rows of a tile, cut between block columns; 0: chosen by columns and workers", &p->height,
                   0, order_max},
                  {"panel-team",
                   "workers of the one task that a panel is then, with threaded BLAS; 0: a task for each tile",
                   &p->panel_team, 0, 1024},
                  {"learned", "panels learn how wide they are best, up to --panel-team", &p->learned},
                  {"repeat", "timed runs; the median counts; 0: 3, or 1 if a trace is recorded", &p->repeat, 0, 1000},
                  {"no-compare", "do not run OpenBLAS for comparison", &p->no_compare}},
      .run = [p](const weft::options& opt, progress& bar) { return contest(*p, opt, bar).run(); }};
}

}  // namespace weft::apps
