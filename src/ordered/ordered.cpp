#include "weft/ordered.hpp"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic.hpp"
#include "base/near_name.hpp"
#include "ordered/executors.hpp"
#include "runtime/variables.hpp"
#include "trace/session.hpp"
#include "weft/error.hpp"
#include "weft/runtime.hpp"

namespace weft {

namespace {

using ordered_run::named_maker;
constexpr named_maker makers[] = {
    {"speculative", &ordered_run::make_speculative},
    {"serial", &ordered_run::make_serial},
    {"levels", &ordered_run::make_levels},
    {"relaxed", &ordered_run::make_relaxed},
};
constexpr std::string_view of_lab[] = {"oracle", "swarm"};  // known by name, so that a message can say where they are

struct {
  std::mutex lock;
  const named_maker* first = nullptr;  // guarded by lock
} constinit added;

[[nodiscard]] const named_maker* find(std::string_view name) {
  for (const named_maker& m : makers)
    if (m.name == name) return &m;
  const std::scoped_lock guard(added.lock);
  for (const named_maker* m = added.first; m != nullptr; m = m->next)
    if (m->name == name) return m;
  return nullptr;
}

// What a run adds to the counts, for the trace; also where it ends by what a body threw.
class recorded_run {
 public:
  explicit recorded_run(ordered_run::executor& executor) noexcept
      : executor_(executor), path_(executor.of->trace_path()) {
    if (path_ == nullptr) return;
    before_ = so_far();
    began_ns_ = static_cast<std::uint64_t>(executor.of->now_ns());
  }
  recorded_run(const recorded_run&) = delete;
  recorded_run& operator=(const recorded_run&) = delete;
  ~recorded_run() {
    if (path_ == nullptr) return;
    trace::section_row now = so_far();
    if (now.started == before_.started) return;
    now.executor = executor_.name;
    const ordered_run::traced_section bodies = executor_.traced();
    now.id = bodies.run;
    now.section = bodies.section;
    now.window = bodies.window;
    now.always_ahead = bodies.always_ahead;
    now.began_ns = began_ns_;
    now.ended_ns = began_ns_ + (now.ended_ns - before_.ended_ns);
    now.committed -= before_.committed;
    now.started -= before_.started;
    now.again -= before_.again;
    now.in_order -= before_.in_order;
    now.serial_ns = now.serial_ns > before_.serial_ns ? now.serial_ns - before_.serial_ns : -1;
    trace::record_section(path_, now);
  }

 private:
  [[nodiscard]] trace::section_row so_far() const noexcept {
    const ordered_counts c = executor_.counts();
    const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9 + 0.5); };
    return {.id = 0,
            .section = 0,
            .window = 0,
            .always_ahead = false,
            .executor = {},
            .began_ns = 0,
            .ended_ns = static_cast<std::uint64_t>(ns(c.seconds)),
            .committed = c.committed,
            .started = c.started,
            .again = executor_.again(),
            .in_order = c.in_order,
            .serial_ns = ns(executor_.serial_seconds())};
  }

  const ordered_run::executor& executor_;
  const char* const path_;
  trace::section_row before_;
  std::uint64_t began_ns_ = 0;
};

[[nodiscard]] std::string unknown(std::string_view name) {
  for (const std::string_view lab : of_lab)
    if (lab == name)
      return "weft: the executor '" + std::string(name) +
             "' of ordered sections is in the library weft_lab, which "
             "this program does not have. Add #include <weft/lab/" +
             std::string(name) + ".hpp>, and link weft::lab";
  std::vector<std::string> known;
  std::string list;
  for (const named_maker& m : makers) {
    known.emplace_back(m.name);
    list += (list.empty() ? "" : ", ") + std::string(m.name);
  }
  for (const std::string_view lab : of_lab) {
    known.emplace_back(lab);
    list += ", " + std::string(lab);
  }
  return "weft: there is no executor '" + std::string(name) + "' for ordered sections (there are: " + list + ")" +
         base::did_you_mean(name, known);
}

}  // namespace

void ordered_run::add(named_maker& more) {
  const std::scoped_lock guard(added.lock);
  more.next = added.first;
  added.first = &more;
}

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
  if (const named_maker* const m = find(name)) {
    std::unique_ptr<ordered_run::executor> made = m->make(rt, options);
    made->name = m->name;
    made->of = &rt;
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
  const recorded_run record(static_cast<ordered_run::executor&>(*executor_));
  executor_->run();
}
std::string_view ordered::executor_name() const noexcept { return executor_->name; }
ordered_counts ordered::counts() const { return executor_->counts(); }

}  // namespace weft
