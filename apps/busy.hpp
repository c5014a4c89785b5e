// A body of a chosen length, for programs that show what the runtime adds to it.
#pragma once
#include <cstdint>

#include "weft/weft.hpp"

namespace weft::apps {

// Keeps a core busy for so many nanoseconds by counted work, so that a body of a microsecond is as exact as one of a
// millisecond; looking at a clock in between would make it longer by up to a look. On a modelled machine it does
// nothing: there the cost clause says how long the body is.
class busy {
 public:
  busy() = default;  // no time at all
  // Measures, for some milliseconds, how fast the calling core works.
  busy(const runtime& rt, double ns);
  // Who: any thread.
  void operator()() const noexcept;

 private:
  std::uint64_t rounds_ = 0;
};

}  // namespace weft::apps
