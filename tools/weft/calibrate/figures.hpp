// What a calibration found, one figure at a time: for the table, for JSON, and as the source of a machine file's
// number.
#pragma once
#include <string>
#include <vector>

#include "statistics.hpp"

namespace weft::tool::calibrate {

struct figure {
  std::string key;   // in JSON: snake_case, the same in every version
  std::string what;  // for people
  std::string unit = "ns";
  summary value;
  double usual_min = 0;  // what such a figure is on machines of the last fifteen years; both 0: nothing is known
  double usual_max = 0;
  std::string source = "measured";  // or "assumed: why", and then `value` has a median only

  [[nodiscard]] bool assumed() const { return source != "measured"; }
  [[nodiscard]] bool steady() const noexcept { return value.spread() <= spread_steady; }
  [[nodiscard]] bool plausible() const noexcept {
    return usual_max <= 0 || (value.median >= usual_min && value.median <= usual_max);
  }
};

class figures {
 public:
  void add(figure f) { all_.push_back(std::move(f)); }
  [[nodiscard]] const std::vector<figure>& all() const noexcept { return all_; }
  // nullptr: not measured here.
  [[nodiscard]] const figure* find(const std::string& key) const noexcept {
    for (const figure& f : all_)
      if (f.key == key) return &f;
    return nullptr;
  }
  [[nodiscard]] double median(const std::string& key, double otherwise) const noexcept {
    const figure* const f = find(key);
    return f != nullptr ? f->value.median : otherwise;
  }

 private:
  std::vector<figure> all_;
};

// A program whose time the model must predict: how it was, and what the calibrated machine says.
struct comparison {
  std::string name;
  summary measured;
  double modelled_ns = 0;

  [[nodiscard]] double error() const noexcept { return measured.median > 0 ? modelled_ns / measured.median - 1 : 0; }
};

}  // namespace weft::tool::calibrate
