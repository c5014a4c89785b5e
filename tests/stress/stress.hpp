// What the stress programs share: how much to do, and how to fail. They run on real threads, where no seed replays a
// schedule; what they print is the setting that failed, to be run again in a loop.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "sanitized.hpp"

// WEFT_STRESS=10 makes the work ten times as much.
[[nodiscard]] inline unsigned amount_factor() {
  const char* text = std::getenv("WEFT_STRESS");
  const unsigned factor = text == nullptr ? 1 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  return factor == 0 ? 1 : factor;
}

// The amount of work: `full`, or a part of it where each step costs more.
[[nodiscard]] inline unsigned amount(unsigned full) { return (sanitized ? full / 20 + 1 : full) * amount_factor(); }

// A hang is a failure, too: the setting that hung is on the last line. Ten minutes a setting, because a busy machine is
// no hang; as many times that as there is work.
inline void begin(const std::string& setting) {
  std::printf("%s\n", setting.c_str());
  std::fflush(stdout);
  ::alarm(amount_factor() * (sanitized ? 1200 : 600));
}

inline void require(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  std::exit(1);
}
