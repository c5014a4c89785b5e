// Requests under thousands of random schedules: a main thread that hands over by the ring, a thread beside it that does
// by the inbox, a creator that sleeps and goes away, and a worker that creates meanwhile. In the end each request must
// be created once, behind all that was handed over before it, though all of them sleep. The main thread's stores become
// visible late, as a store buffer has them: in order, at the latest at its next read-modify-write or at a barrier on
// all threads. The same harness must reject five broken variants.
#include <cstring>
#include <vector>

#include "interleave.hpp"
#include "sched/queues/requests.hpp"
#include "scheduler.hpp"

namespace weft::sched {
namespace {

#ifdef WEFT_CELL_WORDS
// On a machine with weak memory stores are late by themselves.
class M : public interleave::watched {
 public:
  explicit M(std::uint64_t seed) : watched(seed) { main = beside = nullptr; }
  static bool offers_barrier() noexcept { return true; }
  static bool barrier_everywhere() noexcept {
    if (has_barrier) return watched::barrier_everywhere();
    return between_steps(), true;
  }
  template <class T>
  static T load(detail::cell<T>& c, base::order o, const std::source_location& at = std::source_location::current()) {
    const bool sees = detail::self() != beside || beside == nullptr || !blind || sizeof(T) != 4 || o != base::relaxed;
    return sees ? watched::load(c, o, at) : T{};
  }
  static void drain(std::size_t) noexcept {}
  static inline detail::worker *main = nullptr, *beside = nullptr;
  static inline bool blind = false;
  static inline bool has_barrier = true;
};
#else
// Core 0 watches, so worker i is core i + 1.
class M : public interleave::unsteady {
 public:
  explicit M(std::uint64_t seed) : unsteady(seed) {
    buffer_.clear();
    rng_ = base::random(seed * 3);
    main = beside = nullptr;
  }
  static bool offers_barrier() noexcept { return barrier_everywhere(); }
  static bool barrier_everywhere() noexcept {
    if (has_barrier) drain(buffer_.size());
    return true;
  }
  void park(unsigned worker) { unsteady::park(worker + 1); }
  void wake(unsigned worker) { unsteady::wake(worker + 1); }

  template <class T> static T load(detail::cell<T>& c, base::order o) {
    T value = unsteady::load(c, o);
    if (detail::self() == beside && beside != nullptr && blind && sizeof(T) == 4 && o == base::relaxed) return 0;
    if (!is_main()) return value;
    for (const late_store& s : buffer_)
      if (s.to == &c.raw) std::memcpy(&value, &s.value, sizeof value);
    if (rng_.below(4) == 0) drain(1);
    return value;
  }
  template <class T> static void store(detail::cell<T>& c, T v, base::order o) {
    if (!is_main()) return unsteady::store(c, v, o);
    late_store s{&c.raw, 0, sizeof v};
    std::memcpy(&s.value, &v, sizeof v);
    buffer_.push_back(s);
    relax(1);
    if (o == base::seq_cst) drain(buffer_.size());
  }
  template <class T> static T exchange(detail::cell<T>& c, T v, base::order o) {
    return settled(), unsteady::exchange(c, v, o);
  }
  template <class T> static bool compare_exchange(detail::cell<T>& c, T& expected, T v, base::order o) {
    return settled(), unsteady::compare_exchange(c, expected, v, o);
  }
  template <class T> static T fetch_add(detail::cell<T>& c, T v, base::order o) {
    return settled(), unsteady::fetch_add(c, v, o);
  }
  template <class T> static T fetch_sub(detail::cell<T>& c, T v, base::order o) {
    return settled(), unsteady::fetch_sub(c, v, o);
  }
  template <class T> static T fetch_and(detail::cell<T>& c, T v, base::order o) {
    return settled(), unsteady::fetch_and(c, v, o);
  }

  static void drain(std::size_t n) {
    for (; n > 0 && !buffer_.empty(); --n) {
      std::memcpy(buffer_.front().to, &buffer_.front().value, buffer_.front().bytes);
      buffer_.erase(buffer_.begin());
    }
  }
  static inline detail::worker* main = nullptr;  // whose stores are late
  static inline detail::worker* beside =
      nullptr;  // who, if blind, does not see how much the main thread has handed over
  static inline bool blind = false;
  static inline bool has_barrier = true;

 private:
  struct late_store {
    void* to;
    std::uint64_t value;
    std::size_t bytes;
  };
  [[nodiscard]] static bool is_main() noexcept { return main != nullptr && detail::self() == main; }
  static void settled() {
    if (is_main()) drain(buffer_.size());
  }
  static inline std::vector<late_store> buffer_;
  static inline base::random rng_{0};
};
#endif

enum class flaw {
  none,
  no_barrier,               // who sleeps or leaves only looks
  looks_before_it_says_so,  // the creator announces its sleep after its last look
  leaves_without_a_look,    // the creator goes away, and nobody is told of what it leaves
  asks_for_the_creator,     // a submitter wakes the creator alone, which may be away
  comes_as_it_likes         // who is beside the main thread does not say how much of the ring is before its own
};

template <flaw Flaw> class trial {
 public:
  explicit trial(std::uint64_t seed) : play_(seed), rng_(seed * 7), s_(play_.machine(), workers) {
    M::blind = Flaw == flaw::comes_as_it_likes;
    M::has_barrier = Flaw != flaw::no_barrier;
    s_.open();
    s_.sleep.set_apart(creator);
    q_.open();
    for (auto* all : {&of_main_, &of_beside_}) *all = std::vector<request>(1 + rng_.below(8));
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) {
      seat(id);
      if (id == 1) main();
      if (id == 2) work();
      if (id == 3) create();
      if (id == 4) beside();
      sched::set_current_worker(nullptr);
    };
    const bool done = play_.run(4, core, [this] { return wrong_ != nullptr || at_rest(); });
    if (!done) complain("they do not come to rest");
    return wrong_;
  }

 private:
  static constexpr unsigned workers = 3, creator = 2;
  struct request {
    testing::task t{detail::record_state::requested};
    std::size_t of_others = 0;  // so many of the other submitter's come before it
    bool created = false;
  };

  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends() const noexcept { return play_.over() || wrong_ != nullptr; }
  // So that an access knows whose it is.
  void seat(unsigned id) {
    detail::worker* w = id < 4 ? static_cast<detail::worker*>(&s_.crew[id - 1]) : &beside_;
    play_.machine().seat(id, w);
    sched::set_current_worker(w);
    if (id == 1) M::main = w;
    if (id == 4) M::beside = w;
  }
  // Both submitters are through and all others have been parked for longer than a wake could be on its way. A store
  // buffer does not keep anything for ever.
  [[nodiscard]] bool at_rest() {
    calm_ = through_ == 2 && parked_ == 2 ? calm_ + 1 : 0;
    if (calm_ == 1000) M::drain(~std::size_t{0});
    if (calm_ < 3000) return false;
    for (const auto* all : {&of_main_, &of_beside_})
      for (const request& r : *all)
        if (!r.created) complain("a request is left, and all sleep");
    return true;
  }

  // creation.hpp's, over accesses that can be held up.
  void tell() {
    if (Flaw == flaw::asks_for_the_creator || M::load(away_, base::seq_cst) == 0)
      s_.sleep.notify_apart(play_.machine());
    else
      s_.sleep.notify(play_.machine());
  }
  [[nodiscard]] bool create_one() {
    if (q_.empty() || M::exchange(creating_, std::uint8_t{1}, base::acquire) != 0) return false;
    detail::record* r = q_.pop();
    if (r != nullptr) created(*reinterpret_cast<request*>(r));
    static_cast<void>(q_.has_created());
    base::release_lock<M>(creating_);
    return r != nullptr;
  }
  void created(request& r) {
    const bool is_mains = &r >= of_main_.data() && &r < of_main_.data() + of_main_.size();
    std::size_t& its = is_mains ? created_of_main_ : created_of_beside_;
    const std::size_t others = is_mains ? created_of_beside_ : created_of_main_;
    if (std::exchange(r.created, true)) complain("a request was created twice");
    if (&r != &(is_mains ? of_main_ : of_beside_)[its++]) complain("a submitter's requests were created out of order");
    if (others < r.of_others) complain("a request was created before one that was handed over before it");
  }

  void dawdle() {
    for (std::uint32_t turns = rng_.below(3) == 0 ? rng_.below(300) : 0; turns > 0 && !ends(); --turns) M::relax(1);
  }
  void main() {
    for (request& r : of_main_) {
      if (ends()) return;
      r.of_others = M::load(beside_said_, base::acquire);
      while (!q_.put(&r.t.r) && !ends()) M::relax(1);
      tell();
      M::store(main_said_, M::load(main_said_, base::relaxed) + 1, base::release);
      dawdle();
    }
    ++through_;
  }
  void beside() {
    for (request& r : of_beside_) {
      if (ends()) return;
      dawdle();
      r.of_others = M::load(main_said_, base::acquire);
      q_.push(&r.t.r);
      tell();
      M::store(beside_said_, M::load(beside_said_, base::relaxed) + 1, base::release);
    }
    ++through_;
  }

  void create() {
    for (unsigned bodies = 2; !ends();) {
      M::store(away_, 0u, base::seq_cst);
      while (create_one()) {
      }
      if (bodies > 0 && rng_.below(4) == 0) {
        --bodies;
        M::store(away_, 1u, base::seq_cst);
        if (Flaw != flaw::leaves_without_a_look && q_.any_for_sure()) s_.sleep.notify(play_.machine());
        for (std::uint32_t turns = bodies == 0 ? 4000 : rng_.below(300); turns > 0 && !is_calm(); --turns) M::relax(1);
        continue;
      }
      const bool seen_before = Flaw == flaw::looks_before_it_says_so && q_.any_for_sure();
      static_cast<void>(s_.sleep.announce(creator));
      const bool any = Flaw == flaw::looks_before_it_says_so ? seen_before : q_.any_for_sure();
      if (!any || !s_.sleep.retract(creator)) park(creator);
    }
  }
  // A body that runs for so long must end when nobody else moves, or it would hide what is lost meanwhile.
  [[nodiscard]] bool is_calm() {
    if (through_ != 2 || parked_ != 1) return ends();
    if (++still_ == 500) M::drain(~std::size_t{0});
    if (still_ < 2000) return ends();
    for (const auto* all : {&of_main_, &of_beside_})
      for (const request& r : *all)
        if (!r.created) complain("a request is left while the creator is away, and all others sleep");
    return true;
  }

  void work() {
    while (!ends()) {
      const bool counted = s_.sleep.begin_search();
      while (M::load(away_, base::seq_cst) != 0 && create_one()) {
      }
      if (counted) s_.sleep.give_up();
      static_cast<void>(s_.sleep.announce(1));
      const bool any = M::load(away_, base::seq_cst) != 0 && q_.any_for_sure();
      if (any && s_.sleep.retract(1)) continue;
      park(1);
      if (!play_.over()) s_.sleep.give_up();  // whoever is woken was counted
    }
  }
  void park(unsigned id) {
    ++parked_;
    play_.machine().park(id);
    --parked_;
    still_ = 0;
  }

  interleave::play<M> play_;
  base::random rng_;
  testing::scheduler<M> s_;
  requests<M, 4> q_;
  detail::worker beside_;
  detail::cell<std::uint32_t> away_;
  detail::cell<std::uint8_t> creating_;
  detail::cell<std::uint64_t> main_said_, beside_said_;  // how many each has handed over: the program's own words
  std::vector<request> of_main_, of_beside_;
  std::size_t created_of_main_ = 0, created_of_beside_ = 0;
  unsigned through_ = 0, parked_ = 0, calm_ = 0, still_ = 0;
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("requests model: each is created once, in order, and none is left beside sleepers") {
  interleave::all_seeds(3000, &tried<flaw::none>);
}
TEST_CASE("requests model: must fail without the barrier") {
  CHECK(interleave::caught(3000, &tried<flaw::no_barrier>));
}
TEST_CASE("requests model: must fail if the creator looks before it says that it sleeps") {
  CHECK(interleave::caught(3000, &tried<flaw::looks_before_it_says_so>));
}
TEST_CASE("requests model: must fail if the creator goes away without a look") {
  CHECK(interleave::caught(3000, &tried<flaw::leaves_without_a_look>));
}
TEST_CASE("requests model: must fail if only the creator is told") {
  CHECK(interleave::caught(3000, &tried<flaw::asks_for_the_creator>));
}
TEST_CASE("requests model: must fail if those beside do not say what is before their own") {
  CHECK(interleave::caught(3000, &tried<flaw::comes_as_it_likes>));
}

}  // namespace weft::sched
