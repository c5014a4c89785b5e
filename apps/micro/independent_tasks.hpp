// Independent tasks that wait: the program of SuperGlue §5.2, §7.1 and §7.3. Each counts its runs in a slot of its own.
#pragma once
#include "micro.hpp"

namespace weft::apps::micro {

enum class creation {
  timed,   // tasks run while others are still submitted, and both count (§7.1, §7.3)
  before,  // all tasks are submitted to a paused runtime, then the clock starts (§5.2)
};

[[nodiscard]] sample run_independent(runtime& rt, std::size_t tasks, std::size_t grain_ns, creation when,
                                     const mistake& planted = {});

}  // namespace weft::apps::micro
