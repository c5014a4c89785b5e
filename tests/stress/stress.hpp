// What the stress programs share: how much to do, and how to fail. They run on real threads, where no seed replays a
// schedule; what they print is the setting that failed, to be run again in a loop.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// The amount of work: `full`, or a part of it where each step costs more; WEFT_STRESS=10 makes it ten times as much.
[[nodiscard]] inline unsigned amount(unsigned full) {
  const char* text = std::getenv("WEFT_STRESS");
  const unsigned factor = text == nullptr ? 1 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  return (sanitized ? full / 20 + 1 : full) * (factor == 0 ? 1 : factor);
}

// A hang is a failure, too: the setting that hung is on the last line.
inline void begin(const std::string& setting) {
  std::printf("%s\n", setting.c_str());
  std::fflush(stdout);
  ::alarm(sanitized ? 120 : 60);
}

inline void require(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  std::exit(1);
}
