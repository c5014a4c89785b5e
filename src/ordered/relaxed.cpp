// Relaxed: whoever takes part runs one of the earliest calls there are, and leaves when there are none; nobody waits in
// here. Who creates calls while some of the workers are not here asks for one more. It is over when the last has left:
// each looks for calls after its last body, and one that is created by another is that one's to find.
// Bodies about one object, the first argument, take turns: each of many groups of objects is somebody's or nobody's.
// Nobody waits for long until a group is free, because a body that has it may be set aside, by a wait, and its worker
// is wanted: the call is left with the group, and who has that puts it back into the queue afterwards, and then looks
// there. What a body creates is pushed when it has let go of the group, so no lock is held where another is taken.
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "machine/host/host.hpp"
#include "machine/virtual/virtual.hpp"
#include "ordered/executors.hpp"
#include "ordered/relaxed_queue.hpp"
#include "ordered/section_task.hpp"
#include "ordered/side_by_side.hpp"
#include "weft/runtime.hpp"

namespace weft::ordered_run {

namespace {

class body_side final : public side_by_side {
 public:
  std::vector<detail::ordered_call> created;
  std::unique_ptr<body_side> next;  // of those whose worker has left

 private:
  void create(const detail::ordered_call& call) override { created.push_back(call); }
  [[nodiscard]] const char* executor() const noexcept override { return "relaxed"; }
};

template <class M> class alignas(64) relaxed final : public executor {
 public:
  explicit relaxed(runtime& rt) : runtime_(rt), queue_(rt.workers()) {}

  void create(const detail::ordered_call& call) override { roots_.push_back(call); }

  void run() override {
    detail::poke(here_, std::uint32_t{1});
    try {
      run_section(runtime_, counts_, [this] {
        base::random rng(1);
        for (const detail::ordered_call& c : roots_) queue_.push(c, rng);
        take_part(0);
      });
    } catch (...) {
      forget_calls();
      throw;
    }
    WEFT_ASSERT(detail::peek(here_) == 0);
    WEFT_ASSERT(thrown_ != nullptr || queue_.empty());  // nobody has left while there was a call
    roots_.clear();
    while (released_ != nullptr) released_ = std::move(released_->next);
    counts_.committed = detail::peek(done_);
    counts_.started = counts_.committed + detail::peek(failed_);
    if (thrown_ == nullptr) return;
    forget_calls();
    std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

  [[nodiscard]] ordered_counts counts() const override { return counts_; }

 private:
  static constexpr unsigned groups = 4096;  // of objects
  static constexpr unsigned object_bits = 4;
  // Whose turn it is, in whole lines, wherever they are allocated.
  class turns {
   public:
    [[nodiscard]] detail::cell<std::uint8_t>& operator[](unsigned group) noexcept {
      WEFT_ASSERT(group < groups);
      return lines_[group / 64].of[group % 64];
    }

   private:
    struct alignas(64) line {
      detail::cell<std::uint8_t> of[64];
    };
    std::vector<line> lines_{groups / 64};
  };
  static constexpr unsigned spins_max = 64;                          // most bodies are short
  static constexpr std::uint8_t nobodys = 0, taken = 1, wanted = 2;  // a group; wanted: calls were left with it

  // After a failure: groups may be somebody's who has left. Who: nobody else is here.
  void forget_calls() noexcept {
    roots_.clear();
    queue_.clear();
    left_.clear();
    for (unsigned group = 0; group < groups; ++group) detail::poke(turns_[group], nobodys);
    detail::poke(stop_, std::uint8_t{0});
  }

  // Who: a helper. Without memory for one more the section goes on with those there are.
  void invite() {
    const std::uint32_t n = M::fetch_add(here_, std::uint32_t{1}, base::relaxed);
    try {
      runtime_.submit(named("ordered helper"), [this, n] { take_part(n); });
    } catch (const std::bad_alloc&) {
      leave();
    } catch (...) {
      leave();
      throw;
    }
  }

  // Fails never, but by failed(): who is here leaves.
  void take_part(std::uint32_t number) noexcept {
    std::unique_ptr<body_side> side;
    detail::ordered_call call;
    call.timestamp = ~std::uint64_t{0};
    std::uint64_t done = 0;
    try {
      side = std::make_unique<body_side>();
      run_calls(*side, number, call, done);
    } catch (...) {
      failed(call.timestamp, std::current_exception());
    }
    M::fetch_add(done_, done, base::relaxed);
    const base::locked<M> guard(lock_);
    if (side != nullptr) {  // others may look at what its bodies have released
      side->next = std::move(released_);
      released_ = std::move(side);
    }
    leave();
  }
  void leave() noexcept {
    WEFT_ASSERT(detail::peek(here_) > 0);
    M::fetch_add(here_, ~std::uint32_t{0}, base::relaxed);
  }

  // call: the one that is run. done: grows with each that has returned. Errors: std::bad_alloc; a group may be kept.
  void run_calls(body_side& side, std::uint32_t number, detail::ordered_call& call, std::uint64_t& done) {
    base::random rng(number + 2);
    ordered_context x(side, false);
    while (M::load(stop_, base::relaxed) == 0 && queue_.take(call, rng)) {
      const unsigned group = group_of(call);
      if (!enter(group, call)) continue;
      const bool returned = call_body(x, call);
      leave(group, side.created);
      if (!returned) break;
      ++done;
      for (const detail::ordered_call& c : side.created) queue_.push(c, rng);
      if (!side.created.empty() && M::load(here_, base::relaxed) < runtime_.workers()) invite();
      side.created.clear();
    }
  }

  [[nodiscard]] static unsigned group_of(const detail::ordered_call& call) noexcept {
    return static_cast<unsigned>((call.object >> object_bits ^ call.object >> 18) % groups);
  }
  [[nodiscard]] bool changes(unsigned group, std::uint8_t from, std::uint8_t to, base::order o) noexcept {
    return M::compare_exchange(turns_[group], from, to, o);
  }
  // Returns whether the group is the caller's; if not, the call is left there. Order: acquire; pairs with leave().
  [[nodiscard]] bool enter(unsigned group, const detail::ordered_call& call) {
    for (unsigned spins = 0; spins < spins_max; M::relax(++spins))
      if (M::load(turns_[group], base::relaxed) == nobodys && changes(group, nobodys, taken, base::acquire))
        return true;
    const base::locked<M> guard(left_lock_);
    while (!changes(group, taken, wanted, base::relaxed) && M::load(turns_[group], base::relaxed) != wanted)
      if (changes(group, nobodys, taken, base::acquire)) return true;
    left_[group].push_back(call);
    return false;
  }
  // Adds the calls that were left there to `to`.
  void leave(unsigned group, std::vector<detail::ordered_call>& to) {
    if (changes(group, taken, nobodys, base::release)) return;
    const base::locked<M> guard(left_lock_);
    std::vector<detail::ordered_call>& calls = left_[group];
    to.insert(to.end(), calls.begin(), calls.end());
    calls.clear();
    M::store(turns_[group], nobodys, base::release);
  }

  [[nodiscard]] bool call_body(ordered_context& x, const detail::ordered_call& call) {
    x.set_timestamp(call.timestamp);
    try {
      call.run(x, call.timestamp, call.argument);
      return true;
    } catch (...) {
      failed(call.timestamp, std::current_exception());
      return false;
    }
  }

  void failed(std::uint64_t timestamp, std::exception_ptr what) {
    const base::locked<M> guard(lock_);
    WEFT_ASSERT(thrown_ == nullptr || detail::peek(stop_) != 0);
    M::fetch_add(failed_, std::uint64_t{1}, base::relaxed);
    M::store(stop_, std::uint8_t{1}, base::relaxed);
    if (thrown_ != nullptr && timestamp >= thrown_at_) return;
    thrown_ = std::move(what);
    thrown_at_ = timestamp;
  }

  runtime& runtime_;
  relaxed_queue<M> queue_;
  std::vector<detail::ordered_call> roots_;
  turns turns_;
  detail::cell<std::uint8_t> left_lock_;
  std::unordered_map<unsigned, std::vector<detail::ordered_call>> left_;  // by group; changed with left_lock_ held
  detail::cell<std::uint32_t> here_;                                      // who takes part, or is about to
  detail::cell<std::uint64_t> done_, failed_;
  detail::cell<std::uint8_t> stop_;
  detail::cell<std::uint8_t> lock_;  // of what follows
  std::unique_ptr<body_side> released_;
  std::exception_ptr thrown_;
  std::uint64_t thrown_at_ = 0;
  ordered_counts counts_;
};

}  // namespace

std::unique_ptr<executor> make_relaxed(runtime& rt, const ordered_options&) {
  if (std::string_view(rt.machine()) == machine::host::name()) return std::make_unique<relaxed<machine::host>>(rt);
  return std::make_unique<relaxed<machine::virtual_machine>>(rt);
}

}  // namespace weft::ordered_run
