// A clause that stands for all clauses of a recorded task at once. Programs write theirs in the call, where the
// compiler sees them; here they come from a file, so this fills the record directly, as the C interface does, and
// everything after submit() knows no difference.
#pragma once
#include <cstring>
#include <vector>

#include "weft/weft.hpp"

namespace weft::detail {

struct recorded_clause {
  using value_type = void;  // the body gets no data
  const access* accesses;
  std::size_t count;
  const char* name;
  std::uint16_t pin;
  std::uint64_t cost_ps;    // beside what the body charges itself
  std::uint8_t exclusives;  // as record::exclusives
  bool urgent, subtasks, plain;
  std::uint8_t near;  // as record::near
};

template <> struct access_traits<recorded_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool is_range = true;
  static constexpr bool exclusive_range = false;  // note() counts
  using type = void;
};

inline void note(record& r, access*& a, const recorded_clause& c) noexcept {
  std::memcpy(a, c.accesses, c.count * sizeof(access));
  a += c.count;
  r.name = c.name;
  r.pin = c.pin;
  r.urgent = c.urgent;
  r.subtasks = c.subtasks;
  r.exclusives = c.exclusives;
  r.plain = c.plain;
  r.near = c.near & 63;
  r.cost_ps = c.cost_ps | record::charged_bit;  // so that no time at all is not the machine's default
}

}  // namespace weft::detail

namespace weft::tool::sim {

// Something that reduces, without data: the buffers that pass from hand to hand are told apart, and that is all.
class dry_reduction : public handle_base {
 public:
  explicit dry_reduction(void (*apply)(detail::handle_state&)) { detail::register_reduction(state(), apply); }
  ~dry_reduction() {
    state().drain();
    detail::forget_reduction(state());
  }
  dry_reduction(const dry_reduction&) = delete;
  dry_reduction& operator=(const dry_reduction&) = delete;

  // As weft::reduction::part: the datum itself if nobody else has it, else a buffer, which meets others at the end.
  class part {
   public:
    explicit part(dry_reduction& r) : r_(r), engine_(*r.state().engine), whole_(engine_.try_exclusive(r.state())) {
      if (!whole_) static_cast<void>(engine_.exchange(r.state(), r.left_over_, nullptr));
    }
    ~part() {
      if (whole_)
        engine_.release_exclusive(r_.state());
      else
        while (engine_.exchange(r_.state(), r_.left_over_, this) != nullptr)
          static_cast<void>(engine_.exchange(r_.state(), r_.left_over_, nullptr));
    }
    part(const part&) = delete;
    part& operator=(const part&) = delete;

   private:
    dry_reduction& r_;
    detail::engine_base& engine_;
    const bool whole_;
  };

 private:
  detail::cell<void*> left_over_;
};

}  // namespace weft::tool::sim
