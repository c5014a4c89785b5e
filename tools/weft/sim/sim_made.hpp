// Runs for the tests of the replay: recorded by a real runtime on the machine "virtual", so that what is replayed is
// what Weft writes.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "replay.hpp"

namespace weft::tool::sim {

class recorded {
 public:
  recorded(unsigned workers, const std::function<void(runtime&)>& program, const char* machine = "virtual")
      : machine_(machine) {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-sim-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    const std::string path = folder_ / "run.weft";
    {
      runtime rt({.workers = workers, .machine = machine, .trace = path.c_str()});
      program(rt);
    }
    file = trace::load(path);
  }
  ~recorded() { std::filesystem::remove_all(folder_); }
  recorded(const recorded&) = delete;
  recorded& operator=(const recorded&) = delete;

  [[nodiscard]] replayed on(unsigned workers, bool keep_gaps = false, double speed = 1,
                            const char* policy = "local") const {
    replay_options opt;
    for (const char* own : {"TRACE", "SCHEDULE", "PAUSED", "COUNTERS"}) opt.machine.set(own, "");
    opt.machine.set("MACHINE", machine_);
    opt.machine.set("WORKERS", std::to_string(workers));
    opt.machine.set("POLICY", policy);
    opt.keep_gaps = keep_gaps;
    opt.speed = speed;
    return replay(file, script(file), opt, [](double) {});
  }

  trace::file file;

 private:
  const char* machine_;  // on which it was recorded, and is replayed
  std::filesystem::path folder_;
};

}  // namespace weft::tool::sim
