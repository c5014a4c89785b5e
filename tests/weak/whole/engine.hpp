// The whole engine on the machine with weak memory. In the program weft_weak_whole a runtime is on this one,
// whatever machine it asks for: the words of the scheduler, of the rooms below it and of the inline paths have
// histories. It does what real threads do and not what a modelled machine does: a worker's calls take the short ways,
// records on stacks are themselves, sections are locks, and with every second seed handing over relies on the system's
// barrier.
#pragma once
#include <cstdint>

#include "machine/by_word.hpp"
#include "machine/stand_ins.hpp"
#include "weak/machine.hpp"

namespace weft::weak {

class whole : public machine_of_seed {
 public:
  explicit whole(const setup& s) : machine_of_seed(s), has_barrier_((s.seed & 1) != 0) {}
  ~whole();

  using stand_ins = machine::no_stand_ins;
  template <class T, unsigned Bits> using by_word = machine::by_hash<T, Bits>;

  [[nodiscard]] static constexpr bool sees_calls() noexcept { return false; }
  [[nodiscard]] static bool offers_barrier() noexcept { return running_->has_barrier_; }
  [[nodiscard]] static detail::worker* inline_self() noexcept { return detail::self(); }
  // Sections in order have executors for two kinds of machines: those here are for real threads.
  [[nodiscard]] static const char* name() noexcept { return "host"; }

  // As threads do, the workers begin when all of the engine is there.
  void start(unsigned n, entry e, void* engine, std::size_t stack_bytes);
  void run() noexcept;

  static inline bool tells_races = true;  // by a check that fails, at the end of each runtime

 private:
  static void enter(void* self, unsigned id);

  const bool has_barrier_;
  bool goes_ = false;
  entry begins_ = nullptr;
  void* engine_ = nullptr;
  static inline thread_local whole* running_ = nullptr;
};

}  // namespace weft::weak
