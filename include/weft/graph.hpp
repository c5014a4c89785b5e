// Graphs that run again: what a piece of program submits is recorded once - tasks, accesses, teams - and run as often
// as wanted, without a registration, an allocation or a lock for its tasks.
//
//   weft::graph step(rt, [&](weft::recorder& r) {
//     for (auto& [left, cell, right] : cells)
//       r.submit(weft::read(left), weft::write(cell), weft::read(right), relax);   // as rt.submit
//   });
//   for (int i = 0; i < 1000; ++i) step.run();
//
// A task that is recorded is a *node*. Its body is called once in each run, with the data of its accesses then; nodes
// are ordered as tasks submitted in that order would be, but for adds on one handle, which run as they were recorded.
//
// Seen from outside a run is one task that names all handles of its nodes: it begins when the accesses before it are
// done, and what comes after waits for its end, which is that of its nodes and of all that they submit. So runs and
// other tasks mix: rt.submit(step) makes a run and returns at once. Two runs of one graph never overlap; the later one
// waits. What a node submits may use other handles than the graph's, which the run holds.
//
// A node that throws poisons what it writes: the nodes of this run that use it are skipped, and the run fails as a task
// does, with the first exception in program order. The next run begins anew.
// A graph that is made without a runtime, weft::graph g(record), calls its nodes in order where run() is called, and so
// do all with WEFT_SERIAL defined.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/clause.hpp"
#include "weft/detail/arguments.hpp"
#include "weft/handle.hpp"

namespace weft {

class runtime;  // weft/runtime.hpp

// What a graph is recorded with, valid for the call that gets it. Who: the thread that makes the graph.
class recorder {
 public:
  // As runtime::submit. The task is kept and not run; it is called once in each run, so a body that changes what it has
  // captured finds that in the next.
  // Errors: weft::error as runtime::submit, for a pin that no worker has, and for a handle that was made while
  // recording, which may be gone when the graph runs. Units of a resource, events and repeatable reductions cannot be
  // recorded, which the compiler says.
  template <class... Args> void submit(Args&&... clauses_and_body) {
    using given = detail::arguments<Args...>;
    static_assert(given::has_body,
                  "weft: submit needs a body, and it comes last: rt.submit(weft::read(a), [](int x) {})");
    if constexpr (given::has_body) {
      static_assert(given::no_bare_handle, "weft: a handle alone does not say how the body uses it: write "
                                           "weft::read(h), weft::write(h), weft::add(h) or weft::concurrent(h)");
      static_assert(!given::no_bare_handle || given::all_clauses,
                    "weft: every argument before the body must be a clause");
      if constexpr (given::all_clauses) detail::submit(to_, static_cast<Args&&>(clauses_and_body)...);
    }
  }

  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

 private:
  friend class graph;
  explicit recorder(detail::graph_state& g) noexcept : to_{g} {}
  detail::graph_recording to_;
};

class graph {
 public:
  // Records what `what`, which is called with a recorder&, submits to it. The handles must outlive the last run.
  // Who: any thread that may submit to rt, which must outlive the graph's last run.
  // Cost: some 45 ns and two cache lines for a node of one access, 20 ns and 16 bytes for each access more, and 12
  // bytes for an edge; freed with the graph. Errors: as recorder::submit; what `what` throws.
  template <class What> graph([[maybe_unused]] runtime& rt, What&& what)
#ifdef WEFT_SERIAL
      : graph(static_cast<What&&>(what)){}
#else
      : graph(engine_of(rt)) {
    record(what);
  }
#endif
        // Without a runtime: nodes are called in order, and what one throws ends the run. Errors: beside those,
        // weft::error for a reduction.
        template <class What>
          requires std::is_invocable_v<What&, recorder&>
        explicit graph(What && what) : graph(static_cast<detail::engine_base*>(nullptr)) {
    record(what);
  }
  // Waits for the runs that are submitted.
  ~graph();
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  // Submits a run and returns when it is done, as a wait in a finish would: the caller is set aside meanwhile.
  // Who: any thread, and from inside tasks that do not use the graph's handles.
  // Cost: that of a task with an access for each handle, and a countdown for each edge.
  // Errors: rethrows the first exception in program order; then what failed is told, and the handles that the graph
  // names may be used again. To a thread that is no worker of the graph's runtime runtime::wait() tells it once more.
  // weft::error if a handle is in use by another runtime.
  void run();
  // Submits a run, as a task is submitted: runtime::wait() waits for it, and tells of its exceptions. rt.submit(g) is
  // the same.
  void submit();

  // From here on nodes use `now` where they were recorded with `recorded`, or with what was bound in its place last.
  // Waits for the runs that are submitted. Who: as run(). Cost: a look at every access. Errors: weft::error if no node
  // names `recorded`, or the graph uses `now` already: the order of nodes would be another.
  template <class Handle> void bind(Handle& recorded, Handle& now) {
    static_assert(std::is_base_of_v<handle_base, Handle>, "weft: a graph is bound to handles");
    rebind(
        recorded.state(), now.state(), requires { typename Handle::operation; });
  }

  // What a run is called in reports and traces. `text` must outlive the graph's use of it (a literal does).
  void name(const char* text) noexcept;
  // Tasks that a run has, with those that Weft adds to apply a reduction or to join many accesses; and what they wait
  // for, without what is implied.
  [[nodiscard]] std::size_t nodes() const noexcept;
  [[nodiscard]] std::size_t edges() const noexcept;
  // Finished runs, those that were skipped with them.
  [[nodiscard]] std::uint64_t runs() const noexcept;

 private:
  explicit graph(detail::engine_base* engine);
  [[nodiscard]] static detail::engine_base* engine_of(runtime& rt) noexcept;
  template <class What> void record(What& what) {
    recorder r(*state_);
    static_cast<void>(what(r));
    seal();
  }
  void seal();
  void rebind(detail::handle_state& recorded, detail::handle_state& now, bool is_reduction);

  detail::graph_state* const state_;
};

}  // namespace weft
