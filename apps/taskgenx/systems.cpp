#include "systems.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <iterator>

namespace weft::apps::taskgenx {

namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

// What the paper's runtime does for a task, in cycles of a general core: creation, where tasks are submitted or on the
// core made for it; and dependences and scheduling, on the core that runs it or on that same core for all. It is all
// that it does, memory accesses included, so nothing else of the scheduler is counted on top.
std::string costs_of(const system_choice& s, const workload& w) {
  const double moved = w.create_cycles * static_cast<double>(s.inserts) / 100;
  std::string change = "runtime.submit.cycles = " + number(w.create_cycles - moved) +
                       "\nruntime.run.cycles = " + number(w.dependences_cycles + moved) +
                       "\nlines.transfer.node.ns = 0\n";
  for (const char* counted : {"lines.load", "lines.store", "lines.modify", "runtime.submit_access",
                              "runtime.run_access", "runtime.advance", "runtime.steal"})
    change += std::string(counted) + ".ns = 0\n";
  return change;
}

// The core made for the runtime is the last. Which of several idle cores takes a task is chance, so that does not
// matter.
std::string cores_of(const system_choice& s, std::size_t cores) {
  const std::string general = s.big == 0 ? std::to_string(cores) + " core"
                                         : std::to_string(s.big) + " big, " + std::to_string(cores - s.big) + " little";
  return "topology.types = \"" + general + (s.name == "baseline" ? "" : ", 1 rtopt") + "\"\n";
}

void check(const system_choice& s, const options& given) {
  static constexpr const char* systems[] = {"baseline", "rtopt", "taskgenx", "runtime", "dependences"};
  if (std::find(std::begin(systems), std::end(systems), s.name) == std::end(systems))
    throw weft::error("taskgenx: there is no system '" + s.name +
                      "'; there are baseline, rtopt, taskgenx, runtime, dependences");
  if (given.machine != nullptr || given.workers != 0)
    throw weft::error("taskgenx: --system has a machine of its own: give --cores, and neither --machine nor --workers");
  if (s.cores != 1 && (s.cores < 8 || !std::has_single_bit(s.cores)))
    throw weft::error("taskgenx: --cores must be 1, 8, 16, 32, 64, 128, 256 or 512");
  if (s.cores == 1 && s.name != "baseline") throw weft::error("taskgenx: one core is for --system baseline");
  if (s.big > s.cores || (s.cores == 1 && s.big != 0)) throw weft::error("taskgenx: --big must be at most --cores");
  if (s.inserts != 0 && s.name != "dependences") throw weft::error("taskgenx: --inserts is for --system dependences");
  if (s.master != "big" && s.master != "little") throw weft::error("taskgenx: --master must be big or little");
}

}  // namespace

options on_system(const system_choice& s, const workload& w, const options& given, std::string (&keep)[2]) {
  check(s, given);
  const bool creates_there = s.name == "taskgenx" || s.name == "runtime";
  const std::size_t cores = s.cores == 1 ? 8 : s.cores;
  auto& [machine, change] = keep;
  machine = "tasksim-" + std::to_string(cores) + (s.name == "baseline" ? "" : "-rtopt");
  change = costs_of(s, w) + cores_of(s, cores) + "types.rtopt.runtime_speed.x = " + std::to_string(s.r) + "\n";
  if (s.name == "runtime") change += "types.rtopt.serves = \"submit, run\"\n";
  if (s.name == "dependences") change += "types.rtopt.serves = \"run\"\n";

  options o = given;
  o.machine = machine.c_str();
  o.model.change = change.c_str();
  o.model.mode = s.fine ? "fine" : "coarse";
  // The program is on the first general core, or on the first little one.
  o.model.core = static_cast<unsigned>(s.master == "little" && s.big < cores ? s.big : 0);
  o.workers = static_cast<unsigned>(s.cores + (s.name == "rtopt" || creates_there ? 1 : 0));
  o.creation = creates_there ? "decoupled" : "inline";
  if (given.policy == nullptr) o.policy = "taskgenx";
  o.window = std::size_t{1} << 24;  // the paper tells of no limit
  o.search_us = 0;                  // idle cores of that machine notice tasks at once and disturb nobody
  return o;
}

}  // namespace weft::apps::taskgenx
