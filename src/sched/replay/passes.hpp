// What pipelines do, for a trace: each pass of an item through a stage, with its begin and end. A pass is a strand
// while it goes on, so that what a stage forks, submits and waits for is the pass's; if it only computed, nothing is
// left of that but its two times. The pipeline itself is a step in the strand of the body that called it, and takes no
// time there: what is between passes is the scheduler's.
// Who: where a trace is recorded, whoever carries items; a pass may end on another worker than it began.
#pragma once
#include <cstdint>
#include <new>
#include <utility>

#include "sched/replay/strands.hpp"
#include "weft/detail/pipeline_state.hpp"

namespace weft::sched {

template <class M> class passes final : public detail::pass_book {
 public:
  static constexpr std::uint32_t stages_max = 64;  // whose kinds are bits of a word

  passes(M& machine, strands<M>& all) : machine_(machine), strands_(all) {}

  [[nodiscard]] std::uint32_t begins(std::uint64_t serial, std::uint32_t stages,
                                     std::uint32_t limit) noexcept override {
    worker<M>& w = here();
    const call in(machine_);
    if (w.trace.book == nullptr || stages > stages_max) return 0;
    const std::uint32_t id = w.trace.book->new_id();
    if (!strands_.pipeline_begins(w, id)) return 0;
    w.trace.book->add({.time = machine_.now_ps(),
                       .value = serial,
                       .task = task_of(w),
                       .other = id,
                       .position = limit,
                       .kind = trace::event_kind::pipeline,
                       .detail = static_cast<std::uint8_t>(stages)});
    return id;
  }
  void ends() noexcept override {
    const call in(machine_);
    strands_.pipeline_is_over(here());
  }
  void helps(std::uint32_t pipeline) noexcept override {
    const worker<M>& w = here();
    w.trace.book->add({.task = task_of(w), .other = pipeline, .kind = trace::event_kind::helper});
  }

  [[nodiscard]] void* enters() noexcept override {
    worker<M>& w = here();
    const call in(machine_);
    trace::strand* const outer = w.trace.strand;
    strands_.begins_pass(w);
    return outer;
  }
  void leaves(void* entered, std::uint32_t pipeline, const detail::pipeline_pass& what) noexcept override {
    worker<M>& w = here();
    const call in(machine_);
    trace::strand* const s = std::exchange(w.trace.strand, static_cast<trace::strand*>(entered));
    if (s == nullptr) return;                 // there was no memory for it
    if (s->of() != trace::strand_of::pass) {  // nor then, and what it did has no place
      delete s;
      return;
    }
    const std::uint64_t now = machine_.now_ps();
    s->enters(now);
    const bool only_computed = s->only_computed(now);
    if (!only_computed) s->is_called(w.trace.book->new_id());
    const bool is_there = what.items != 0 || !only_computed;
    if (is_there) tell(w, *s, now, pipeline, what);
    if (is_there && (!only_computed || what.items != 1))
      w.trace.book->add({.value = what.items, .task = s->task(), .other = s->id(), .kind = trace::event_kind::more});
    if (!only_computed) {
      s->ends(now);
      w.trace.book->tell(*s);
    }
    delete s;
  }

 private:
  static void tell(worker<M>& w, const trace::strand& s, std::uint64_t now, std::uint32_t pipeline,
                   const detail::pipeline_pass& what) noexcept {
    w.trace.book->add({.time = s.began_ps(),
                       .value = now,
                       .task = s.task(),
                       .other = pipeline,
                       .position = static_cast<std::uint32_t>(what.item),
                       .worker = static_cast<std::uint16_t>(what.item >> 32),
                       .kind = trace::event_kind::pass,
                       .detail = static_cast<std::uint8_t>(what.stage)});
  }
  [[nodiscard]] static worker<M>& here() noexcept { return static_cast<worker<M>&>(*current_worker()); }
  [[nodiscard]] static std::uint32_t task_of(const worker<M>& w) noexcept {
    return w.current != nullptr ? w.current->trace_id() : 0;
  }
  // A body calls in: its own time is not the runtime's.
  class call {
   public:
    explicit call(M& m) : machine_(m) { machine_.enter_runtime(); }
    ~call() { machine_.leave_runtime(); }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    M& machine_;
  };

  M& machine_;
  strands<M>& strands_;
};

}  // namespace weft::sched
