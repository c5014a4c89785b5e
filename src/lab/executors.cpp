#include "weft/lab/executors.hpp"

#include "lab/makers.hpp"

namespace weft::detail {

bool know_lab_executors() noexcept {
  static constinit ordered_run::named_maker makers[] = {{"oracle", &ordered_run::make_oracle},
                                                        {"swarm", &ordered_run::make_swarm}};
  static const bool once = [] {
    for (ordered_run::named_maker& m : makers) ordered_run::add(m);
    return true;
  }();
  return once;
}

}  // namespace weft::detail
