// The third machine, for tests: cores and turns of the virtual one, whose words have histories (memory.hpp). What a
// load sees, and where in a word's order a store comes, is drawn by the seed as the turns are. A core stalls now and
// then as `interleave::unsteady` does. Each operation is a turn, that of the owner's inline path, too (words.hpp).
#pragma once
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <vector>

#include "base/lock.hpp"
#include "base/random.hpp"
#include "machine/virtual/virtual.hpp"
#include "weak/memory.hpp"
#include "weak/words.hpp"

namespace weft::weak {

using detail::cell;
using machine::virtual_machine;
using location_in_code = std::source_location;

// While the machine itself takes memory, that is no core's.
class inside {
 public:
  inside() noexcept { is_so = true; }
  ~inside() { is_so = before_; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  static inline thread_local bool is_so = false;

 private:
  bool before_ = is_so;
};

class machine_of_seed : public virtual_machine {
 public:
  explicit machine_of_seed(std::uint64_t seed) : machine_of_seed(setup{.seed = seed, .random_order = true}) {}
  explicit machine_of_seed(const setup& s)
      : virtual_machine(s), choices_(s.seed * 11), memory_(choices_), stalls_(~s.seed), seed_(s.seed) {
    WEFT_ASSERT(s.random_order);
  }
  ~machine_of_seed() { leave(); }

  template <class T> static T load(cell<T>& c, order o, const location_in_code& at = location_in_code::current()) {
    return turn(), unseen::load(c, o, at);
  }
  template <class T> static void store(cell<T>& c, std::type_identity_t<T> v, order o,
                                       const location_in_code& at = location_in_code::current()) {
    turn(), unseen::store(c, v, o, at);
  }
  template <class T> static T exchange(cell<T>& c, std::type_identity_t<T> v, order o,
                                       const location_in_code& at = location_in_code::current()) {
    return turn(), modify(c, o, at, [v](T) { return v; });
  }
  template <class T> static bool compare_exchange(cell<T>& c, T& expected, std::type_identity_t<T> v, order o,
                                                  const location_in_code& at = location_in_code::current()) {
    turn();
    std::uint64_t before = bits_of<T>(expected);
    const bool met = exchange_at(&c.raw, sizeof(T), before, bits_of<T>(v), o, at);
    expected = from_bits<T>(before);
    return met;
  }
  template <class T> static T fetch_add(cell<T>& c, std::type_identity_t<T> v, order o,
                                        const location_in_code& at = location_in_code::current()) {
    return turn(), unseen::fetch_add(c, v, o, at);
  }
  template <class T> static T fetch_sub(cell<T>& c, std::type_identity_t<T> v, order o,
                                        const location_in_code& at = location_in_code::current()) {
    return turn(), modify(c, o, at, [v](T old) { return static_cast<T>(old - v); });
  }
  template <class T> static T fetch_or(cell<T>& c, std::type_identity_t<T> v, order o,
                                       const location_in_code& at = location_in_code::current()) {
    return turn(), unseen::fetch_or(c, v, o, at);
  }
  template <class T> static T fetch_and(cell<T>& c, std::type_identity_t<T> v, order o,
                                        const location_in_code& at = location_in_code::current()) {
    return turn(), unseen::fetch_and(c, v, o, at);
  }
  template <class T> static T exchange_near(cell<std::uint8_t>&, cell<T>& c, std::type_identity_t<T> v, order o,
                                            const location_in_code& at = location_in_code::current()) {
    return exchange(c, v, o, at);
  }
  // Operations like the others, but for the turn.
  struct unseen {
    template <class T>
    static T load(const cell<T>& c, order o, const location_in_code& at = location_in_code::current()) {
      return from_bits<T>(load_at(&c.raw, sizeof(T), o, at));
    }
    template <class T> static void store(cell<T>& c, std::type_identity_t<T> v, order o,
                                         const location_in_code& at = location_in_code::current()) {
      store_at(&c.raw, sizeof(T), bits_of<T>(v), o, at);
    }
    template <class T> static T fetch_add(cell<T>& c, std::type_identity_t<T> v, order o,
                                          const location_in_code& at = location_in_code::current()) {
      return modify(c, o, at, [v](T old) { return static_cast<T>(old + v); });
    }
    template <class T> static T fetch_or(cell<T>& c, std::type_identity_t<T> v, order o,
                                         const location_in_code& at = location_in_code::current()) {
      return modify(c, o, at, [v](T old) { return static_cast<T>(old | v); });
    }
    template <class T> static T fetch_and(cell<T>& c, std::type_identity_t<T> v, order o,
                                          const location_in_code& at = location_in_code::current()) {
      return modify(c, o, at, [v](T old) { return static_cast<T>(old & v); });
    }
  };
  // Other cores may come in, since what is inline takes turns here.
  using section = base::locked<machine_of_seed>;

  static void between_steps() { turn(); }
  // Every core passes a full barrier at some moment between the beginning of this and its end: what the caller did
  // before is before what that core does next, and what that core did is before what the caller does next. What two
  // other cores do is not ordered by it.
  static bool barrier_everywhere();
  static void touch(const void* data, std::size_t, bool writes,
                    const location_in_code& at = location_in_code::current());
  static void fresh(const void* address, std::size_t bytes);
  static void gone(const void* address, std::size_t bytes, const location_in_code& at);
  // Not where a std::shared_ptr counts, whose count is no word of the machine's.
  static inline bool watches_what_is_gone = true;
  // A handle that is used first is no new memory: who made it has handed it over.
  template <class T, class U> static void fresh_unless(const T&, const U&, const void*, std::size_t) noexcept {}
  // Who judges a run from outside sees all that the cores know.
  static void know_all();

  void start(unsigned n, entry e, void* engine, std::size_t stack_bytes);
  void join();
  void park(unsigned id);
  void doze(unsigned id);
  void wake(unsigned id);

  // The first race of the last run on this thread, or nullptr; it is told once.
  [[nodiscard]] static const char* take_fault() noexcept;

  // For words.hpp.
  static void turn();
  static std::uint64_t load_at(const void* word, unsigned bytes, order o, const location_in_code& at);
  static void store_at(void* word, unsigned bytes, std::uint64_t v, order o, const location_in_code& at);
  static bool exchange_at(void* word, unsigned bytes, std::uint64_t& expected, std::uint64_t v, order o,
                          const location_in_code& at);
  static std::uint64_t modify_at(void* word, unsigned bytes, order o, const location_in_code& at,
                                 std::uint64_t (*changed)(std::uint64_t old, void* with), void* with);
  template <class T, class Change> static T modify(cell<T>& c, order o, const location_in_code& at, Change change) {
    const inside here;
    const site& s = met(at, kind::modify, o);
    const auto changed = [&](std::uint64_t old, std::uint64_t& out) {
      out = bits_of<T>(change(from_bits<T>(old)));
      return true;
    };
    machine_of_seed* const m = running_here_;
    if (m != nullptr)
      return from_bits<T>(m->memory_.modify(core_here(), &c.raw, sizeof(T), s.of(o), s.of(o), s, changed));
    const T old = c.raw;
    c.raw = change(old);
    return old;
  }

 protected:
  // The two halves of start(): until begin() words are plain, and take no turns.
  void prepare(unsigned n, entry e, void* engine, std::size_t stack_bytes);
  void begin() noexcept { running_here_ = this; }
  void leave() noexcept;

 private:
  class of_seed final : public chooser {
   public:
    explicit of_seed(std::uint64_t seed) : random_(seed) {}
    [[nodiscard]] std::uint32_t pick(std::uint32_t n) override { return random_.below(2) == 0 ? 0 : random_.below(n); }
    [[nodiscard]] std::uint32_t below(std::uint32_t n) { return random_.below(n); }

   private:
    base::random random_;
  };

  of_seed choices_;
  memory memory_;
  base::random stalls_;
  const std::uint64_t seed_;
  static constexpr std::uint64_t turns_max = 50'000'000;  // a thousand times those of the longest program
  std::uint64_t turns_ = 0;
  std::vector<knowledge> wakes_;  // [core] of all who woke it
  static inline thread_local machine_of_seed* running_here_ = nullptr;
};

}  // namespace weft::weak
