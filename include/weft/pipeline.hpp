// Pipelines: items go through stages, several at the same time.
//
//   weft::pipeline(weft::serial([&]() -> std::optional<line> { return next_line(file); }),   // until there is none
//                  weft::parallel([](line x) { return parse(x); }),
//                  weft::parallel([](entry& e) { e.check(); }),                              // in place: it goes on
//                  weft::serial([&](entry e) { out.write(e); }));
//
// A serial stage takes one item at a time, and all in the order in which the first stage made them; a parallel one
// takes any, at the same time. The first is serial. A worker carries an item through all stages that it can: so nothing
// is queued where nothing waits, and what an item brings along stays in that worker's caches. Where a serial stage is
// not at this item yet the item is left there, and who comes out of that stage sees to it.
// Short items are all carried by one worker, at the cost of calls. Where they take long enough to be worth it, workers
// that have nothing to do join, and leave again when that turns out to gain nothing: it is measured while it runs. So
// there is no grain to choose, and more workers are not slower than one. With WEFT_SERIAL defined all is plain calls.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/cancellation.hpp"
#include "weft/detail/pipeline_chain.hpp"
#include "weft/error.hpp"
#include "weft/finish.hpp"
#include "weft/fork_join.hpp"
#ifndef WEFT_SERIAL
#include "weft/detail/pipeline_state.hpp"
#endif

namespace weft {
namespace detail {

struct in_flight_limit {
  std::uint32_t items;
};
template <class T> inline constexpr bool is_limit = std::is_same_v<T, in_flight_limit>;

template <class Made>
concept an_item_or_none = requires(Made m) {
  static_cast<bool>(m.has_value());
  *m;
};

// A pipeline while it runs.
template <class Source, class... Stages> class pipeline_run {
  using made = std::remove_cvref_t<std::invoke_result_t<Source&>>;
  static_assert(an_item_or_none<made>,
                "weft: the first stage of a pipeline returns an std::optional, which is empty when there are no more");
  using item = std::remove_cvref_t<decltype(*std::declval<made&>())>;
  using stages = chain<1, item, Stages...>;
  static constexpr std::uint32_t stage_count = sizeof...(Stages) + 1;

 public:
  pipeline_run(in_flight_limit limit, stage<Source, true>& source, Stages&... others) noexcept
      : limit_(limit.items), source_(source.body), stages_(others...) {}
  pipeline_run(const pipeline_run&) = delete;
  pipeline_run& operator=(const pipeline_run&) = delete;

#ifdef WEFT_SERIAL
  void run(here&) { run_serially(); }
#else
  ~pipeline_run() {
    if (rooms_ != nullptr)
      for (std::uint32_t i = 0; i < state_.slot_count; ++i)
        if (state_.slots[i].stage != 0) forget<1>(stages_, state_.slots[i].stage, rooms_[i]);
    delete[] rooms_;  // the others may be there without: memory may have been short
    delete[] state_.slots;
    if (state_.turns != state_.near_turns) delete[] state_.turns;
  }

  // Who: a body, or a thread that no runtime knows.
  void run(here& at) {
    if (at.on->engine == nullptr) return run_serially();
    gates_ = &at.on->engine->pipelines();
    gates_->set_pace(pace_);
    if (pass_book* const book = at.on->engine->passes(); book != nullptr) [[unlikely]]
      return run_recorded(at, *book);
    run_all(at);
  }
#endif

 private:
  // Returns false if there are no more.
  [[gnu::always_inline]] bool one() {
    made x = source_();
    if (!x.has_value()) return false;
    stages_.through(*x, unwatched());
    return true;
  }
  void run_serially() {
    while (one())
      if (weft::cancelled()) throw cancelled_error();
  }

#ifndef WEFT_SERIAL
  enum class pause : std::uint8_t { ended, worth_sharing, helped };
  struct alignas(64) alignas(stages::alignment) room {
    std::byte bytes[stages::bytes];
  };

  void run_recorded(here& at, pass_book& book) {
    number_ = book.begins(bit_of_stage(0) | stages_.serial(), stage_count, limit_);
    if (number_ == 0) return run_all(at);
    book_ = &book;
    struct at_end {
      pass_book& book;
      ~at_end() { book.ends(); }
    } const over{book};
    run_all(at);
  }
  void run_all(here& at) {
    const bool may_share = limit_ != 1 && gates_->workers() > 1;
    while (alone(at, may_share) == pause::worth_sharing && !share(at)) {
    }
    if (cancelled_) throw cancelled_error();
  }

  // A pass, while it goes on. Without a book it is nothing.
  class pass {
   public:
    pass(pipeline_run& of, std::uint64_t item, std::uint32_t stage) noexcept : of_(of), item_(item), stage_(stage) {
      if (of_.book_ != nullptr) [[unlikely]]
        entered_ = of_.book_->enters();
    }
    ~pass() {
      if (of_.book_ != nullptr) [[unlikely]]
        of_.book_->leaves(entered_, of_.number_, {stage_, 1, item_});
    }
    pass(const pass&) = delete;
    pass& operator=(const pass&) = delete;

   private:
    pipeline_run& of_;
    void* entered_ = nullptr;
    const std::uint64_t item_;
    const std::uint32_t stage_;
  };
  struct watched {
    pipeline_run& of;
    std::uint64_t item;
    [[nodiscard]] pass operator()(std::uint32_t stage) const noexcept { return {of, item, stage}; }
  };

  // Short items of the caller, one after the other, as one pass through all stages: to tell them apart costs more than
  // they take.
  class together {
   public:
    explicit together(pipeline_run& of) noexcept : of_(of) {}
    ~together() { ends(); }
    together(const together&) = delete;
    together& operator=(const together&) = delete;
    void begins(std::uint64_t now) noexcept {
      is_open_ = true;
      since_ = now;
      first_ = of_.next_;
      entered_ = of_.book_->enters();
    }
    void ends() noexcept {
      if (!is_open_) return;
      is_open_ = false;
      const auto items = static_cast<std::uint32_t>(of_.next_ - first_);
      of_.book_->leaves(entered_, of_.number_, {pipeline_pass::all_stages, items, first_});
    }
    // Whether the next items belong to it, too.
    [[nodiscard]] bool lasts(std::uint64_t now) const noexcept {
      return is_open_ && of_.pace_.is_short() && now - since_ < pipeline_pace::look_max;
    }

   private:
    pipeline_run& of_;
    bool is_open_ = false;
    std::uint64_t since_ = 0, first_ = 0;
    void* entered_ = nullptr;
  };

  [[nodiscard]] made make(std::uint64_t n) {
    const pass inside(*this, n, 0);
    return source_();
  }
  bool one_watched() {
    made x = make(next_);
    if (!x.has_value()) return false;
    stages_.through(*x, watched{*this, next_});
    return true;
  }

  // So many of the next items. Returns `worth_sharing` if that is all there is to say.
  template <class One> [[gnu::always_inline]] pause some(std::uint32_t n, One next_one) {
    for (std::uint32_t i = 0; i != n; ++i) {
      if (!next_one()) return pause::ended;
      ++next_;
      if (peek(state_.helped) != 0) [[unlikely]]
        return pause::helped;
    }
    return pause::worth_sharing;
  }

  // The same where a trace is recorded. Of short items one is told apart now and then, for what each stage takes.
  [[gnu::noinline]] pause some_recorded(together& short_ones, std::uint64_t now) {
    const auto next_one = [this] { return one(); };
    const auto next_apart = [this] { return one_watched(); };
    const std::uint32_t n = pace_.items;
    if (short_ones.lasts(now)) return some(n, next_one);
    short_ones.ends();
    if (!pace_.is_short()) return some(n, next_apart);
    if (const pause p = some(1, next_apart); p != pause::worth_sharing) return p;
    short_ones.begins(gates_->now_ps());
    return some(n - 1, next_one);
  }

  // The caller carries all items itself and nobody else is in the pipeline: no stage is asked whose turn it is. It
  // looks up only whether somebody has come, and now and then at the clock.
  pause alone(here& at, bool may_share) {
    std::uint64_t before = gates_->now_ps();
    together short_ones(*this);
    for (;;) {
      const pause p =
          book_ == nullptr ? some(pace_.items, [this] { return one(); }) : some_recorded(short_ones, before);
      if (p != pause::worth_sharing) return p;
      if (weft::cancelled()) {
        cancelled_ = true;
        return pause::ended;
      }
      const std::uint64_t now = gates_->now_ps();
      if (pace_.is_worth_sharing(now - before, now) && may_share && somebody_starves(at)) return pause::worth_sharing;
      before = now;
    }
  }

  // Others may come. Until one does the caller goes on alone; then each carries items until there are no more, or they
  // gain nothing. Returns whether there are no more.
  bool share(here& at) {
    make_room();
    gates_->open(state_, next_);
    try {
      finish(at, [this](here& x) {
        try {
          call_another(x);
          if (alone(x, false) == pause::helped) {
            gates_->admit(state_, next_, pace_.least);
            carry_items(x, false);
          } else {
            static_cast<void>(gates_->produced(state_, false));
          }
        } catch (...) {
          gates_->fail(state_, next_, std::current_exception());
        }
      });
    } catch (...) {
      if (state_.why == nullptr) throw;  // else it is of the finish, and comes after
    }
    if (state_.why != nullptr) std::rethrow_exception(state_.why);
    poke(state_.helped, 0u);
    next_ = state_.next;
    pace_.was_shared(state_.has_gained, gates_->now_ps());
    return state_.ended;
  }

  void make_room() {
    if (rooms_ != nullptr) return;
    constexpr std::uint32_t per_worker = 16,
                            per_worker_max = 1024;  // whoever waits for more waits for one of the first
    const std::uint32_t workers = gates_->workers(), most = per_worker_max * workers;
    const std::uint32_t slots = limit_ == 0 ? per_worker * workers : limit_ < most ? limit_ : most;
    state_.slots = new pipeline_slot[slots];
    const bool is_near = stage_count <= pipeline_state::turns_near;
    state_.turns = is_near ? state_.near_turns : new std::uint64_t[stage_count];
    state_.slot_count = slots;
    state_.stage_count = stage_count;
    rooms_ = new room[slots];
  }

  void call_another(here& at) {
    gates_->ask(state_);
    async(at, [this](here& x) {
      if (book_ != nullptr) [[unlikely]]
        book_->helps(number_);
      carry_items(x, true);
    });
  }

  void carry_items(here& at, bool is_first) {
    std::uint64_t since_ps = 0;
    for (;;) {
      const pipeline_work w = gates_->take(state_, since_ps, is_first);
      if (w.what == pipeline_work::kind::nothing) return;
      is_first = false;
      since_ps = w.at_ps;
      std::uint64_t n = w.item;
      try {
        bool goes_on = w.what == pipeline_work::kind::begin ? begin(at, n) : resume<1>(stages_, w.stage, n);
        while (goes_on) goes_on = resume<1>(stages_, sizeof...(Stages), ++n);
      } catch (...) {
        gates_->fail(state_, n, std::current_exception());
      }
    }
  }

  // These return whether the next item waits at the last stage, for the caller.
  bool begin(here& at, std::uint64_t n) {
    if (weft::cancelled()) {
      cancelled_ = true;
      return gates_->produced(state_, false);
    }
    made x = make(n);
    if (!x.has_value()) return gates_->produced(state_, false);
    if (gates_->produced(state_, true) && somebody_starves(at)) call_another(at);
    return carry<1>(stages_, *x, n);
  }

  template <std::uint32_t K, class In, class... Left> bool carry(chain<K, In, Left...>& c, In& x, std::uint64_t n) {
    if constexpr (sizeof...(Left) == 0) {
      gates_->over(state_, n);
      return false;
    } else {
      if (c.here.is_serial()) {
        pipeline_turn t = gates_->arrive(state_, n, K);
        if (t == pipeline_turn::later) {
          new (room_of(n)) In(static_cast<In&&>(x));
          t = gates_->park(state_, n, K);
          if (t == pipeline_turn::later) return false;
          if (t == pipeline_turn::mine) return resume<K>(c, K, n);
          static_cast<In*>(room_of(n))->~In();
        }
        if (t == pipeline_turn::dropped) {
          gates_->over(state_, n);
          return false;
        }
      }
      return pass_on<K>(c, x, n);
    }
  }

  // It is the item's turn.
  template <std::uint32_t K, class In, class... Left> bool pass_on(chain<K, In, Left...>& c, In& x, std::uint64_t n) {
    using here_on = chain<K, In, Left...>;
    const watched around{*this, n};
    if constexpr (here_on::is_last) {
      c.call(x, around);
      if (c.here.is_serial()) return gates_->leave(state_, n, K, true);
      gates_->over(state_, n);
      return false;
    } else if constexpr (here_on::traits::hands_on) {
      c.hand_on(x, around);
      if (c.here.is_serial()) static_cast<void>(gates_->leave(state_, n, K, false));
      return carry<K + 1>(c.rest, x, n);
    } else {
      typename here_on::out y = c.call(x, around);
      if (c.here.is_serial()) static_cast<void>(gates_->leave(state_, n, K, false));
      return carry<K + 1>(c.rest, y, n);
    }
  }

  // The same with the value that waits before stage `at`. It is taken out first: behind the last stage the room may be
  // another's.
  template <std::uint32_t K, class In, class... Left>
  bool resume(chain<K, In, Left...>& c, std::uint32_t stage, std::uint64_t n) {
    if constexpr (sizeof...(Left) > 1)
      if (stage != K) return resume<K + 1>(c.rest, stage, n);
    if constexpr (sizeof...(Left) != 0) {
      In& there = *static_cast<In*>(room_of(n));
      struct at_end {
        In& value;
        ~at_end() { value.~In(); }
      };
      In x = [&there] {
        const at_end guard{there};
        return static_cast<In&&>(there);
      }();
      return pass_on<K>(c, x, n);
    }
    return false;
  }

  template <std::uint32_t K, class In, class... Left>
  static void forget(chain<K, In, Left...>& c, std::uint32_t stage, room& r) noexcept {
    if constexpr (sizeof...(Left) > 1)
      if (stage != K) return forget<K + 1>(c.rest, stage, r);
    reinterpret_cast<In*>(r.bytes)->~In();
  }

  [[nodiscard]] void* room_of(std::uint64_t n) noexcept { return rooms_[n % state_.slot_count].bytes; }
#endif

  std::uint32_t limit_;
  bool cancelled_ = false;
  Source& source_;
  [[no_unique_address]] stages stages_;
#ifndef WEFT_SERIAL
  pipeline_gates* gates_ = nullptr;
  pipeline_pace pace_;
  std::uint64_t next_ = 0;
  pass_book* book_ = nullptr;  // of a trace, which has the pipeline by this number
  std::uint32_t number_ = 0;
  room* rooms_ = nullptr;
  pipeline_state state_;
#endif
};

template <class Source, class... Stages>
void run_pipeline(here& at, in_flight_limit limit, stage<Source, true>& source, Stages&... stages) {
  pipeline_run<Source, Stages...> p(limit, source, stages...);
#ifndef WEFT_SERIAL
  if (at.on->engine != nullptr && body_around(at.on->current) == nullptr)
    return finish(at, [&p](here& x) { async(x, [&p](here& y) { p.run(y); }); });
#endif
  p.run(at);
}

}  // namespace detail

// A stage that takes one item at a time, in the order in which the first stage made them.
template <class F> [[nodiscard]] detail::stage<std::decay_t<F>, true> serial(F&& f) { return {static_cast<F&&>(f)}; }
// A stage that takes several items at the same time, in any order.
template <class F> [[nodiscard]] detail::stage<std::decay_t<F>, false> parallel(F&& f) { return {static_cast<F&&>(f)}; }
// So many items at most have begun and not ended, and never more than 1024 for each worker. Default: 16 for each.
// Errors: weft::error for 0.
[[nodiscard]] inline detail::in_flight_limit in_flight(std::uint32_t items) {
  if (items == 0) [[unlikely]]
    throw error("weft: a pipeline needs at least 1 item in flight");
  return {items};
}

// Calls the first stage until it returns an empty std::optional, and each other stage with each item, in turn; returns
// when all items are through. The first stage takes nothing. The others take what the one before returned, for good or
// as a T&, and return the next item; or they take a T& and return nothing, and then that item goes on. What the last
// returns is ignored. Items can be moved. What a stage does for one item must not wait for what one does for a later.
// Who: any thread; on one that no runtime knows, and with WEFT_SERIAL, the caller does all, item by item.
// Cost: of calls for items shorter than a microsecond, or if nobody is there to help; else some 40 ns for each step of
// an item into or out of a serial stage. A lock each. Memory: the items in flight.
// Errors: rethrows what a stage threw: if several did, that of the item that came first. The items before it go through
// all stages, it and those behind it through no later one that is serial, and the first stage is not called again. In a
// finish that is cancelled: cancelled_error, when the items that have begun are through.
template <class Source, class... Stages>
  requires(detail::is_stage<Stages> && ...)
void pipeline(here& at, detail::in_flight_limit limit, detail::stage<Source, true> source, Stages... stages) {
  detail::run_pipeline(at, limit, source, stages...);
}
template <class Source, bool Serial, class... Stages>
  requires(detail::is_stage<Stages> && ...)
void pipeline(here& at, detail::stage<Source, Serial> source, Stages... stages) {
  static_assert(Serial, "weft: the first stage of a pipeline makes the items, and is serial: weft::serial(...)");
  if constexpr (Serial) detail::run_pipeline(at, {0}, source, stages...);
}
template <class First, class... Rest>
  requires(detail::is_stage<First> || detail::is_limit<First>)
void pipeline(First first, Rest... rest) {
  detail::with_here([&](here& at) { pipeline(at, static_cast<First&&>(first), static_cast<Rest&&>(rest)...); });
}

}  // namespace weft
