// Runs bodies for a section, one at a time, and answers what they ask: ahead of their order, where loads are logged and
// stores, calls and memory are kept until the body has returned, or in order, where things are just done.
// Who: the one thread that takes part in the section with it.
#pragma once
#include <bit>
#include <cstring>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "ordered/footprint.hpp"
#include "ordered/pending_calls.hpp"
#include "ordered/section_book.hpp"
#include "ordered/versions.hpp"
#include "weft/ordered.hpp"
#include "weft/runtime.hpp"

namespace weft::speculative {

static_assert(std::endian::native == std::endian::little, "a word's first byte is its lowest");

inline void free_memory(const allocation& a) noexcept { ::operator delete(a.at, std::align_val_t(a.alignment)); }

// Who can tell whether a task is the oldest.
class oldest_known {
 public:
  [[nodiscard]] virtual bool is_oldest(const task& t) = 0;

 protected:
  ~oldest_known() = default;
};

enum class outcome : std::uint8_t {
  published,   // what it did can be seen by those that come after it
  stale,       // it has read what is not so any more, or is dead
  waits,       // for the run of another: `waits_for`
  first_only,  // for all that come before it
};

template <class M> class runner final : public detail::ordered_hooks {
 public:
  runner(oldest_known& section, versions<M>& seen, pending_calls& pending, const runtime& rt)
      : section_(section), versions_(seen), pending_(pending), runtime_(rt), x_(*this, false) {}

  // Runs the body of t ahead and publishes what it did. Whatever comes of it, no access of a run before this one is
  // registered any more but what is published.
  // comes_first: all before t has happened, so nothing can change any more what it reads.
  [[nodiscard]] outcome run(task& t, bool comes_first) {
    begin(t);
    comes_first_ = comes_first;
    const double began = runtime_.now_ns();
    try {
      t.call.run(x_, t.call.timestamp, t.call.argument);
    } catch (const given_up&) {
    } catch (...) {
      error = std::current_exception();
    }
    ended_ns = runtime_.now_ns();
    t.body_ns = ended_ns - began;
    if (book_ != nullptr) [[unlikely]]
      times_of_run(t);
    if (M::load(t.stale, base::relaxed) != 0) came_to_ = outcome::stale;
    if (came_to_ == outcome::published)
      publish(t);
    else
      forget(t);
    return came_to_;
  }

  // Calls the body in order. Errors: what it throws.
  void call_in_order(const detail::ordered_call& call) {
    WEFT_ASSERT(in_order_);  // else its stores would go to the footprint of a task that is over
    x_.set_timestamp(call.timestamp);
    call.run(x_, call.timestamp, call.argument);
  }
  // The same where a trace is recorded, of the number-th of all calls.
  void call_and_tell(const detail::ordered_call& call, std::uint64_t number) {
    WEFT_ASSERT(in_order_ && book_ != nullptr);
    seen_.this_run().clear();
    footprint_.begin(seen_);
    touches_.clear();
    const std::uint64_t children = pending_.numbered();
    x_.set_timestamp(call.timestamp);
    serializes_ = false;
    is_seen_ = true;
    began_ps_ = book_->now_ps();
    call.run(x_, call.timestamp, call.argument);
    task_times when{.from_ps = began_ps_, .to_ps = book_->now_ps(), .serializes = serializes_};
    when.own_ps = when.to_ps - when.from_ps;
    book_->place(when);
    if (is_seen_)
      noting([this] {
        seen_.this_run().for_each([this](const word_access& a) {
          if (a.written == 0) return;
          touches_.push_back({a.word, read_memory<base::relaxed>(a.word, a.written), 0, a.written, true});
        });
      });
    if (is_seen_) book_->tell(call.timestamp, number, 0, when, pending_.numbered() - children, touches_);
  }
  // A modelled machine is told of what bodies do in order, too, and a trace.
  void be_in_order(bool on) noexcept {
    WEFT_ASSERT(in_order_ != on);
    in_order_ = on;
    x_.set_plain(on && !M::sees_calls() && book_ == nullptr);
  }

  // What is told of bodies from now on is told there; nullptr: to nobody.
  void tells(section_book<M>* book) noexcept { book_ = book; }

  // What the last run did beside its accesses.
  std::vector<detail::ordered_call> created;
  std::vector<allocation> allocated;
  std::vector<allocation> released;
  std::exception_ptr error;
  std::vector<task_ref> made_stale;
  bool has_happened = false;  // and nothing is left to commit
  task_ref waits_for;
  double ended_ns = 0;

 private:
  struct given_up {};  // thrown out of a body whose run is in vain

  // Of an instruction, on a modelled machine: one in each cycle at 2.5 GHz.
  static constexpr double instruction_ns = 0.4;

  void begin(task& t) {
    WEFT_ASSERT(t.now == phase::running && !in_order_);
    task_ = &t;
    ++t.runs;
    if (t.published) M::store(t.redone, std::uint32_t{1}, base::relaxed);
    t.last_run().for_each([this](word_access& a) { versions_.forget_read(a); });
    M::store(t.stale, std::uint32_t{0}, base::relaxed);  // of what this run reads nothing is known yet
    t.this_run().clear();
    footprint_.begin(t);
    created.clear();
    allocated.clear();
    released.clear();
    made_stale.clear();
    has_happened = false;
    error = nullptr;
    came_to_ = outcome::published;
    x_.set_timestamp(t.call.timestamp);
    if (book_ != nullptr) [[unlikely]] {
      serializes_ = false;
      began_ps_ = book_->now_ps();
      aside_ps_ = 0;
    }
  }
  void publish(task& t) {
    WEFT_ASSERT(task_ == &t && t.now == phase::running && !in_order_);
    // To ask takes a lock, and each word has one lock less for it.
    if (!t.published && (comes_first_ || (t.this_run().size() > 1 && section_.is_oldest(t)))) return happen(t);
    t.this_run().for_each([this](word_access& a) {
      if (a.written != 0) versions_.publish(a, made_stale);
    });
    t.last_run().for_each([this](word_access& a) { versions_.retract(a, made_stale); });
    t.last_run().clear();
    t.live = static_cast<std::uint8_t>(1 - t.live);
    t.published = true;
    M::store(t.redone, std::uint32_t{0}, base::relaxed);
  }
  // All that comes before t has happened, so what t did has happened, too.
  void happen(task& t) {
    WEFT_ASSERT(t.last_run().size() == 0 && detail::peek(t.stale) == 0);
    if (book_ != nullptr && error == nullptr) [[unlikely]] {
      book_->sees(t.this_run());
      book_->happens(t, created.size());
      t.times.is_told = true;
    }
    t.this_run().for_each([this](word_access& a) { versions_.happen(a, made_stale); });
    t.this_run().clear();
    has_happened = true;
  }
  void forget(task& t) noexcept {
    WEFT_ASSERT(task_ == &t && made_stale.empty());  // nobody has seen what it wrote
    t.this_run().for_each([this](word_access& a) { versions_.forget_read(a); });
    t.this_run().clear();
    created.clear();
    error = nullptr;
  }

  [[noreturn, gnu::cold]] void give_up(outcome why) {
    came_to_ = why;
    throw given_up();
  }
  // A body that caught what ended it is told again.
  void check() {
    if (came_to_ != outcome::published) [[unlikely]]
      throw given_up();
    if (detail::peek(task_->stale) != 0) [[unlikely]]
      give_up(outcome::stale);
  }

  void load(const void* from, void* to, std::size_t bytes) override {
    if (in_order_) {
      loads_in_order(from, bytes);
      std::memcpy(to, from, bytes);
      return;
    }
    check();
    for_each_word(from, bytes, [&](std::uintptr_t word, byte_mask mask, unsigned first, unsigned here, std::size_t at) {
      const word_access& a = seen(word, mask);
      std::memcpy(static_cast<std::byte*>(to) + at, reinterpret_cast<const std::byte*>(&a.value) + first, here);
    });
  }
  std::uint64_t load_word(const void* from) override {
    if (in_order_) {
      loads_in_order(from, sizeof(std::uint64_t));
      std::uint64_t value;
      std::memcpy(&value, from, sizeof value);
      return value;
    }
    check();
    return seen(reinterpret_cast<std::uintptr_t>(from), whole_word).value;
  }
  // The access of that word, which knows the bytes of `mask`.
  [[nodiscard, gnu::always_inline]] word_access& seen(std::uintptr_t word, byte_mask mask) {
    word_access& a = footprint_.of(word);
    const byte_mask missing = static_cast<byte_mask>(mask & ~(a.read | a.written));
    if (missing != 0) read(a, missing);
    WEFT_DEBUG_ASSERT((mask & ~(a.read | a.written)) == 0);  // somebody has written each byte it gets
    return a;
  }
  [[gnu::always_inline]] void read(word_access& a, byte_mask missing) {
    if (book_ != nullptr) [[unlikely]]
      return read_and_look(a, missing);
    read_unseen(a, missing);
  }
  [[gnu::always_inline]] void read_unseen(word_access& a, byte_mask missing) {
    if (comes_first_) return versions<M>::read_first(a, missing);
    const task_ref unsettled = versions_.read(*task_, a, missing);
    if (unsettled.to != nullptr) [[unlikely]]
      wait_for(unsettled);
  }
  // What the body has computed so far is of use, and what this takes is no computing.
  [[gnu::noinline]] void read_and_look(word_access& a, byte_mask missing) {
    const std::uint64_t now = book_->now_ps();
    if (a.read == 0) a.own_ps = static_cast<float>(now - began_ps_ - aside_ps_);
    read_unseen(a, missing);
    aside_ps_ += book_->now_ps() - now;
  }
  [[noreturn, gnu::cold]] void wait_for(task_ref unsettled) {
    waits_for = unsettled;
    give_up(outcome::waits);
  }
  void store(void* to, const void* from, std::size_t bytes) override {
    if (in_order_) {
      stores_in_order(to, bytes);
      std::memcpy(to, from, bytes);
      return;
    }
    check();
    for_each_word(to, bytes, [&](std::uintptr_t word, byte_mask mask, unsigned first, unsigned here, std::size_t at) {
      word_access& a = footprint_.of(word);
      std::memcpy(reinterpret_cast<std::byte*>(&a.value) + first, static_cast<const std::byte*>(from) + at, here);
      a.written = static_cast<byte_mask>(a.written | mask);
    });
  }
  void store_word(void* to, std::uint64_t value) override {
    if (in_order_) {
      stores_in_order(to, sizeof value);
      std::memcpy(to, &value, sizeof value);
      return;
    }
    check();
    word_access& a = footprint_.of(reinterpret_cast<std::uintptr_t>(to));
    a.value = value;
    a.written = whole_word;
  }
  void read_only(const void*, std::size_t) override {}
  void work(std::uint64_t instructions) override {
    if (M::takes_charges()) charge(static_cast<double>(instructions) * instruction_ns);
  }
  void create(const detail::ordered_call& call) override {
    if (in_order_)
      pending_.create(call);
    else
      created.push_back(call);
  }
  void* allocate(std::size_t bytes, std::size_t alignment) override {
    void* const at = ::operator new(bytes, std::align_val_t(alignment));
    std::memset(at, 0, bytes);  // a zombie may look before the stores are there: null it can check, what was here not
    if (!in_order_) allocated.push_back({at, bytes, alignment});
    return at;
  }
  void release(void* at, std::size_t bytes, std::size_t alignment) override {
    if (at == nullptr) return;
    if (in_order_)
      free_memory({at, bytes, alignment});
    else
      released.push_back({at, bytes, alignment});
  }
  void serialize() override {
    serializes_ = true;
    if (in_order_) return;
    check();
    if (!section_.is_oldest(*task_)) give_up(outcome::first_only);
  }

  // --- for a trace

  void times_of_run(task& t) noexcept {
    t.times = {.from_ps = began_ps_, .to_ps = book_->now_ps(), .serializes = serializes_};
    t.times.own_ps = t.times.to_ps - t.times.from_ps - aside_ps_;
    book_->place(t.times);
  }
  // Without memory for it the body is one that nobody saw, and happens nevertheless.
  template <class F> void noting(F f) noexcept {
    try {
      f();
    } catch (const std::bad_alloc&) {
      is_seen_ = false;
    }
  }
  void loads_in_order(const void* from, std::size_t bytes) noexcept {
    if (book_ == nullptr) return;
    noting([&] {
      for_each_word(from, bytes, [&](std::uintptr_t word, byte_mask mask, unsigned, unsigned, std::size_t) {
        word_access& a = footprint_.of(word);
        const byte_mask missing = static_cast<byte_mask>(mask & ~(a.read | a.written));
        if (missing == 0) return;
        a.read = static_cast<byte_mask>(a.read | missing);
        const auto own = static_cast<float>(book_->now_ps() - began_ps_);
        touches_.push_back({word, read_memory<base::relaxed>(word, missing), own, missing, false});
      });
    });
  }
  void stores_in_order(const void* to, std::size_t bytes) noexcept {
    if (book_ == nullptr) return;
    noting([&] {
      for_each_word(to, bytes, [&](std::uintptr_t word, byte_mask mask, unsigned, unsigned, std::size_t) {
        word_access& a = footprint_.of(word);
        a.written = static_cast<byte_mask>(a.written | mask);
      });
    });
  }

  oldest_known& section_;
  versions<M>& versions_;
  pending_calls& pending_;
  const runtime& runtime_;
  ordered_context x_;
  footprint footprint_;
  task* task_ = nullptr;
  outcome came_to_ = outcome::published;
  bool comes_first_ = false;
  bool in_order_ = false;
  section_book<M>* book_ = nullptr;
  bool serializes_ = false;                    // the run that goes on, of which a book is told
  bool is_seen_ = false;                       // in order: all that it did
  std::uint64_t began_ps_ = 0, aside_ps_ = 0;  // the run that goes on; what the section took of it
  task seen_;                                  // of bodies in order
  std::vector<touch> touches_;
};

}  // namespace weft::speculative
