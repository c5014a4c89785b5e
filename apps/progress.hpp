// Tells a waiting person how far a run is. It stays silent for the first two seconds, because a bar that flashes by is
// noise; then it redraws a bar on a terminal, or writes one plain line for every tenth done where nobody erases lines.
// Progress costs the tasks nothing: no task counts. An app reports from the few tasks that its data orders anyway (the
// diagonal tasks of a factorization, one column of a stencil), so fractions are estimates and only move forward.
#pragma once
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

namespace weft::apps {

// "  1:05 left", if the rest goes as fast as the part that is done; nothing as long as that part is too small to tell.
[[nodiscard]] std::string left_text(std::chrono::duration<double> passed, double done);

class progress {
 public:
  // `out` may be nullptr: then nothing is ever written. A file that is no terminal gets plain lines.
  explicit progress(std::string what, std::FILE* out = nullptr,
                    std::chrono::milliseconds silent = std::chrono::milliseconds(2000));
  ~progress() { finish(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  // Maps later reports, 0 to 1 each, onto this part of the whole: one call per repeat of a measurement.
  void section(double from, double to);
  // Who: any thread, from inside tasks too. Cost: a mutex and a clock, so call it some hundred times, not per task.
  void report(double fraction);
  // Erases the bar. Idempotent.
  void finish();

 private:
  using clock = std::chrono::steady_clock;
  void draw_bar();
  void write_line();

  const std::string what_;
  std::FILE* const out_;
  const bool terminal_;
  const clock::time_point start_ = clock::now();
  const std::chrono::milliseconds silent_;
  std::mutex mutex_;  // guards all below
  clock::time_point drawn_{};
  double from_ = 0;
  double to_ = 1;
  double done_ = 0;
  int tenths_written_ = 0;
  bool bar_shown_ = false;
};

}  // namespace weft::apps
