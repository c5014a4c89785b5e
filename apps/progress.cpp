// See progress.hpp. Write errors are ignored on purpose: progress on a closed stderr must not fail a run.
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::apps {

namespace {
constexpr std::chrono::milliseconds redraw_interval{100};  // faster than this the eye sees no difference
constexpr int bar_cells = 40;
}  // namespace

std::string left_text(std::chrono::duration<double> passed, double done) {
  if (done < 0.02) return "";
  const long seconds = std::lround(passed.count() * (1 - done) / done);
  char text[48];
  std::snprintf(text, sizeof text, "  %ld:%02ld left", seconds / 60, seconds % 60);
  return text;
}

progress::progress(std::string what, std::FILE* out, std::chrono::milliseconds silent)
    : what_(std::move(what)), out_(out), terminal_(out != nullptr && isatty(fileno(out)) == 1), silent_(silent) {}

void progress::section(double from, double to) {
  const std::lock_guard lock(mutex_);
  from_ = from;
  to_ = to;
}

void progress::report(double fraction) {
  if (out_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  const double whole = from_ + (to_ - from_) * std::clamp(fraction, 0.0, 1.0);
  done_ = std::max(done_, whole);
  const auto now = clock::now();
  if (now - start_ < silent_) return;
  if (!terminal_) return write_line();
  if (now - drawn_ < redraw_interval) return;
  drawn_ = now;
  draw_bar();
}

void progress::draw_bar() {
  const int full = static_cast<int>(done_ * bar_cells);
  const std::string bar =
      std::string(static_cast<std::size_t>(full), '#') + std::string(static_cast<std::size_t>(bar_cells - full), '.');
  std::fprintf(out_, "\r%s [%s] %3d %%%s\033[K", what_.c_str(), bar.c_str(), static_cast<int>(done_ * 100),
               left_text(clock::now() - start_, done_).c_str());
  std::fflush(out_);
  bar_shown_ = true;
}

void progress::write_line() {
  const int tenths = static_cast<int>(done_ * 10);
  if (tenths <= tenths_written_) return;
  tenths_written_ = tenths;
  std::fprintf(out_, "%s: %d %%\n", what_.c_str(), tenths * 10);
  std::fflush(out_);
}

void progress::finish() {
  const std::lock_guard lock(mutex_);
  if (!bar_shown_) return;
  bar_shown_ = false;
  std::fprintf(out_, "\r\033[K");
  std::fflush(out_);
}

}  // namespace weft::apps
