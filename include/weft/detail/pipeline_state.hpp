// What the workers of a pipeline (weft/pipeline.hpp) share while several carry items: who may take the next item, whose
// turn it is at each serial stage, and what lies in between. All of it is behind one lock, and the scheduler's
// (src/sched/join/pipelines.hpp); the values themselves are typed and lie in the header.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>

#include "weft/detail/cell.hpp"

namespace weft::detail {

inline constexpr std::uint64_t no_item = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint32_t no_slot = std::numeric_limits<std::uint32_t>::max();

// Where an item lies that waits. Item n has slot n % slots.
struct pipeline_slot {
  std::uint64_t item = no_item;  // that has begun and is not over; no_item: free
  std::uint32_t stage = 0;       // where its value lies and waits; 0: it is being carried
  std::uint32_t next = no_slot;  // among those that may go on
};

// By cache lines, which move to whoever has the lock.
struct alignas(64) pipeline_state {
  cell<std::uint8_t> lock;    // guards what follows but for the cells
  bool held = false;          // somebody is in the first stage
  bool ended = false;         // which has no more items, or is not asked any more
  bool closing = false;       // nor is it until all is carried out: several gain nothing
  std::uint32_t waiting = 0;  // workers that look for news
  std::uint32_t asked = 0;    // workers, and how many of them have come
  std::uint32_t came = 0;
  std::uint64_t next = 0;               // item of the first stage
  std::uint64_t failed = no_item;       // the first of those that threw; those behind it are not wanted any more
  std::uint32_t ready_first = no_slot;  // whose turn has come, oldest first
  std::uint32_t ready_last = no_slot;
  std::uint32_t slot_count = 0;
  std::uint32_t stage_count = 0;
  pipeline_slot* slots = nullptr;
  std::uint64_t* turns = nullptr;  // of each stage: the item that is next there
  static constexpr std::size_t turns_near = 7;
  std::uint64_t near_turns[turns_near];    // for as many stages
  std::uint64_t carried_ps = 0;            // since the last look: that workers carried items, in sum
  alignas(64) cell<std::uint32_t> news;    // changes when there may be something to take, if somebody waits
  alignas(64) cell<std::uint32_t> helped;  // another worker has come: who is alone opens the pipeline
  std::uint32_t losses = 0;                // looks in a row at which several gained nothing
  std::uint64_t alone_ps = 0;              // what one worker took for an item, under the same load of the machine
  std::uint64_t looked_ps = 0;             // when the last look was
  std::uint64_t looked_at = 0;             // the item that was next then
  bool has_gained = false;
  std::exception_ptr why;  // what the item that failed threw
};

// How long items take that one worker carries alone, and whether others are to come. It looks at the clock behind a
// number of items that takes some microseconds. Times are picoseconds.
struct pipeline_pace {
  std::uint32_t items = 1;  // between two looks
  bool was_long = false;
  std::uint64_t each = 0;   // what an item took at the last look,
  std::uint64_t least = 0;  // and at the better of the last two
  unsigned lost = 0;        // times in a row that several gained nothing
  std::uint64_t not_before = 0;

  std::uint64_t share_min = 0;  // an item that takes longer is worth another's way; as the runtime says, like `again`
  std::uint64_t again = 0;      // after several gained nothing, doubled each time
  static constexpr std::uint64_t look_max = 20'000'000;
  static constexpr std::uint32_t items_max = 64;
  static constexpr unsigned lost_max = 6;

  // `items` have taken so long. Twice in a row, because somebody else may have had the core meanwhile.
  [[nodiscard]] bool is_worth_sharing(std::uint64_t took, std::uint64_t now) noexcept {
    least = each == 0 || took / items < each ? took / items : each;
    each = took / items;
    const bool is_long = each >= share_min, is_sure = was_long || each >= look_max;
    was_long = is_long;
    if (took > look_max)
      items = (items + 1) / 2;
    else if (items < items_max && took <= look_max / 2)
      items *= 2;
    return is_long && is_sure && now >= not_before;
  }
  // Whether items were too short to be shared when it last looked.
  [[nodiscard]] bool is_short() const noexcept { return each != 0 && each < share_min; }
  void was_shared(bool gained, std::uint64_t now) noexcept {
    lost = gained ? 0 : lost < lost_max ? lost + 1 : lost_max;
    not_before = now + (again << lost);
    items = 1;
    each = 0;
    was_long = false;
  }
};

// What a worker is to do next.
struct pipeline_work {
  enum class kind : std::uint8_t { nothing, begin, resume };
  kind what = kind::nothing;
  std::uint32_t stage = 0;  // resume: where the value waits
  std::uint64_t item = 0;   // begin: its number, if the first stage has one
  std::uint64_t at_ps = 0;  // when that was
};

enum class pipeline_turn : std::uint8_t { mine, later, dropped };

// Who: a task that carries items. Order: acquire, release, by the lock.
struct pipeline_gates {
  // From when on items are shared; p is new.
  virtual void set_pace(pipeline_pace& p) const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t now_ps() = 0;
  [[nodiscard]] virtual unsigned workers() const noexcept = 0;
  // Several may come: from item `next` on, with the first stage the caller's. Who: nobody else knows p.
  virtual void open(pipeline_state& p, std::uint64_t next) = 0;
  // What is to be done; `since`: what the caller did last began then, 0: it did nothing. Waits a little if there is
  // nothing; is_first: the caller has just come.
  [[nodiscard]] virtual pipeline_work take(pipeline_state& p, std::uint64_t since_ps, bool is_first) = 0;
  // The first stage has item `next` now, or none. Returns whether another worker could help.
  [[nodiscard]] virtual bool produced(pipeline_state& p, bool one) = 0;
  // Who was alone and in the first stage lets others into it, from item `next` on; an item took it so long.
  virtual void admit(pipeline_state& p, std::uint64_t next, std::uint64_t alone_ps) = 0;
  // Another worker is asked.
  virtual void ask(pipeline_state& p) = 0;
  // Whether it is the item's turn at a serial stage.
  [[nodiscard]] virtual pipeline_turn arrive(pipeline_state& p, std::uint64_t item, std::uint32_t stage) = 0;
  // The same once its value lies in its slot, where it waits from now on if it is not.
  [[nodiscard]] virtual pipeline_turn park(pipeline_state& p, std::uint64_t item, std::uint32_t stage) = 0;
  // The item has been through a serial stage. Returns whether the next waits there and is the caller's now: only
  // behind the last stage, where the caller has nothing else; elsewhere it may be taken.
  [[nodiscard]] virtual bool leave(pipeline_state& p, std::uint64_t item, std::uint32_t stage, bool is_last) = 0;
  // It has been through all, or is dropped.
  virtual void over(pipeline_state& p, std::uint64_t item) = 0;
  // A stage threw on it: none after it is wanted.
  virtual void fail(pipeline_state& p, std::uint64_t item, std::exception_ptr why) = 0;

 protected:
  ~pipeline_gates() = default;
};

// What a stage did for an item; of short items that one worker carried one after the other, what all stages did for all
// of them.
struct pipeline_pass {
  static constexpr std::uint32_t all_stages = 255;
  std::uint32_t stage;
  std::uint32_t items;
  std::uint64_t item;  // the first of them
};

// What a trace is told of pipelines: where one is recorded. Who: whoever carries items.
struct pass_book {
  // A pipeline begins in the body of the caller, and ends there. serial: bit s is of stage s. Returns its number, and 0
  // if it is not recorded.
  [[nodiscard]] virtual std::uint32_t begins(std::uint64_t serial, std::uint32_t stages,
                                             std::uint32_t limit) noexcept = 0;
  virtual void ends() noexcept = 0;
  // The caller is a task that carries items of it, and nothing else.
  virtual void helps(std::uint32_t pipeline) noexcept = 0;
  // A stage begins; and is over. What the first returns is for the second.
  [[nodiscard]] virtual void* enters() noexcept = 0;
  virtual void leaves(void* entered, std::uint32_t pipeline, const pipeline_pass& what) noexcept = 0;

 protected:
  ~pass_book() = default;
};

}  // namespace weft::detail
