#include "weft/ordered.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic.hpp"
#include "base/near_name.hpp"
#include "ordered/executors.hpp"
#include "runtime/variables.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

struct named_maker {
  std::string_view name;
  ordered_run::maker make;
};
constexpr named_maker makers[] = {
    {"speculative", &ordered_run::make_speculative},
    {"serial", &ordered_run::make_serial},
    {"levels", &ordered_run::make_levels},
    {"relaxed", &ordered_run::make_relaxed},
    {"swarm", &ordered_run::make_swarm},
    {"oracle", &ordered_run::make_oracle},
};

[[nodiscard]] std::string unknown(std::string_view name) {
  std::vector<std::string> known;
  std::string list;
  for (const named_maker& m : makers) {
    known.emplace_back(m.name);
    list += (list.empty() ? "" : ", ") + std::string(m.name);
  }
  return "weft: there is no executor '" + std::string(name) + "' for ordered sections (there are: " + list + ")" +
         base::did_you_mean(name, known);
}

}  // namespace

namespace detail {

void throw_back_in_time(std::uint64_t now, std::uint64_t asked) {
  throw error("weft: a body at timestamp " + std::to_string(now) + " creates one for " + std::to_string(asked) +
              ", which is over. Give it the same timestamp or a later one");
}

void throw_section_runs(const char* what) {
  throw error(
      "weft: " + std::string(what) +
      "() of an ordered section that runs. A body creates calls by at() of its context; a section that is to run "
      "inside of another is one of its own");
}

ordered_executor* make_ordered(runtime& rt, const ordered_options& options) {
  const char* const given = options.executor;
  const char* const variable = given == nullptr ? value_of_variable("ordered") : nullptr;
  const std::string_view name = given != nullptr ? given : variable != nullptr ? variable : makers[0].name;
  for (const named_maker& m : makers)
    if (m.name == name) {
      std::unique_ptr<ordered_executor> made = m.make(rt, options);
      made->name = m.name;
      return made.release();
    }
  if (variable != nullptr) refuse_variable(unknown(name) + " (WEFT_ORDERED)");
  throw error(unknown(name));
}

}  // namespace detail

ordered::ordered(runtime& rt, const ordered_options& options) : executor_(detail::make_ordered(rt, options)) {}
ordered::~ordered() { delete executor_; }
void ordered::run() {
  const base::atomic_ref<bool> runs = base::shared(runs_);
  if (runs.exchange(true, base::acquire)) detail::throw_section_runs("run");  // pairs with the store below
  struct at_end {
    const base::atomic_ref<bool>& runs;
    ~at_end() { runs.store(false, base::release); }
  };
  const at_end over{runs};
  executor_->run();
}
std::string_view ordered::executor_name() const noexcept { return executor_->name; }
ordered_counts ordered::counts() const { return executor_->counts(); }

}  // namespace weft
