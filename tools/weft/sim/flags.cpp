// See flags.hpp.
#include "flags.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/weft/command.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::sim {

void flags::add_to(const command_line& line, bool single) {
  if (texts_.empty())
    texts_ = {{"--machine", "MACHINE", {}}, {"--policy", "POLICY", {}},    {"--creation", "CREATION", {}},
              {"--mode", "MODE", {}},       {"--body", "BODY", {}},        {"--creator", "CREATOR", {}},
              {"--core", "CORE", {}},       {"--schedule", "SCHEDULE", {}}};
  constexpr const char* help[] = {
      "A modelled machine: a name that weft info lists, or a machine file; default: virtual",
      "Scheduling policy; default: local",
      "Who registers tasks: inline or decoupled",
      "fine (every shared word is an event) or coarse (a step of a task's life is)",
      "Programs: declared (what bodies say they cost) or measured",
      "With --creation decoupled: the worker that does it; default: the last",
      "The core that worker 0, the main program's, sits on; default: the first",
      "Order of events; default: time",
  };
  if (single)
    line.add_option("--workers", workers_, "Number of workers; default: the machine's cores, or as recorded")
        .in_range(1, workers_max)
        .type_name("N");
  for (std::size_t i = 0; i + 1 < texts_.size(); ++i) {
    if (!single && i < 3) continue;
    line.add_option(texts_[i].option, texts_[i].value, help[i]).type_name(i == 5 || i == 6 ? "N" : "NAME");
  }
  line.add_option("--seed", seed, "Seed of everything random; default: 1").type_name("N");
  line.add_option(
          "--submitter", submitter_,
          "Traces: asap (the main program submits as fast as the modelled runtime can) or trace (it computes in "
          "between as it did); default: asap")
      .one_of({"asap", "trace"})
      .type_name("NAME");
  line.add_option("--speed", speed, "Traces: bodies run so many times as fast as they were recorded")
      .capture_default_str()
      .between(1e-6, 1e6)
      .type_name("X");
}

settings flags::values() const {
  settings s;
  for (const char* own : {"TRACE", "COUNTERS", "PAUSED", "SCHEDULE"}) s.set(own, "");
  for (const text_option& t : texts_)
    if (!t.value.empty()) s.set(t.name, t.value);
  if (workers_ != 0) s.set("WORKERS", std::to_string(workers_));
  if (!seed.empty()) s.set("SEED", seed);
  if (s.value("MACHINE").empty()) s.set("MACHINE", "virtual");
  return s;
}

namespace {

// The first bytes of a file; shorter if there are no more.
std::string beginning(const std::string& path) {
  std::string bytes(16, '\0');
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return "";
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

}  // namespace

target what_is(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (path.find('/') == std::string::npos && !path.ends_with(".weft")) return target::program;  // perhaps in PATH
    throw weft::error(path + ": " + std::strerror(errno) + "; give a trace, or a program with its path");
  }
  if (S_ISDIR(found.st_mode)) throw weft::error(path + ": is a folder; give a trace or a program");
  const std::string head = beginning(path);
  // Any database: the reader says what is wrong with one that is no trace. And what claims to be a trace by its name.
  if (head.starts_with("SQLite format 3") || path.ends_with(".weft")) return target::trace;
  if (::access(path.c_str(), X_OK) != 0)
    throw weft::error(path + ": is neither a trace of Weft nor a program (it may not be executed)");
  return target::program;
}

unsigned try_out(const settings& s) {
  settings without_trace = s;
  without_trace.set("TRACE", "");
  if (without_trace.value("MACHINE") == "host")
    throw weft::error("machine host is this machine itself; choose a modelled one with --machine, as weft info lists "
                      "them");
  try {
    return runtime(without_trace.options()).workers();
  } catch (const weft::error& e) {
    throw weft::error(s.blamed(e.what()));
  }
}

void take_recorded(settings& s, const char* name, const trace::file& f, const char* key) {
  settings trial;
  for (const char* own : {"TRACE", "COUNTERS", "PAUSED", "CREATION", "SCHEDULE"}) trial.set(own, "");
  trial.set("MACHINE", "virtual");
  trial.set(name, f.about(key));
  try {
    static_cast<void>(try_out(trial));
  } catch (const weft::error&) {
    throw weft::error(f.path + ": meta has \"" + printable(f.about(key), name_width_max) + "\" as " + key +
                      ", which cannot be; record the run again");
  }
  s.set(name, f.about(key));
}

}  // namespace weft::tool::sim
