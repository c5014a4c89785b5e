// What a guest of a team (weft/guest.hpp) and the scheduler tell each other.
#pragma once
#include <cstdint>
#include <exception>

#include "weft/detail/team.hpp"

namespace weft {
class guest_context;
}

namespace weft::detail {

// How a call of weft::guest ended for a member.
enum class guest_end : std::uint8_t { was_here, team_failed, member_gone };

// A member's call. What the last member to come has here is what is run.
struct guest_call {
  void (*run)(void* body, guest_context& self);
  void* body;
  std::exception_ptr why;  // what body has thrown
  guest_end end;
};

// What a guest_context shows. at_once: job(argument, i) on the worker of thread i, for all of them at one time.
struct guest_crew {
  unsigned threads = 1;
  const int* cpus = nullptr;  // of each thread, -1: anywhere; nullptr: of none
  void (*at_once)(guest_crew& self, void (*job)(void*, unsigned), void* argument) = nullptr;
};

}  // namespace weft::detail
