// The trace of one runtime: where it goes, a recorder per worker, and the writing of it. The engine calls the recorders
// (sched/replay/recording.hpp); this file knows nothing of schedulers.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/part_file.hpp"
#include "trace/collect.hpp"
#include "trace/recorder.hpp"
#include "trace/writer.hpp"

namespace weft::trace {

class session {
 public:
  // Reserves a name for this runtime's trace and sees that it can be written: `path`, or if this process has used that
  // already name.2.weft, name.3.weft and so on. `counters`: a list, or nullptr.
  // Errors: weft::error naming the file and the reason; nothing is left behind.
  session(const char* path, std::size_t mib, const char* counters);
  // One that has no file: what is recorded is numbered, for who listens, and of the events few are kept.
  session() : shared_(0) {}
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // The run begins: what is known of it, for who reads the journal of a program that was killed. Before anything is
  // recorded that is to be read there.
  void begins(facts about, std::uint64_t start_ps);
  // Makes the recorders. Who: the thread that makes the runtime, before any other worker runs.
  void open(unsigned workers);
  [[nodiscard]] recorder& of(unsigned worker) noexcept { return *recorders_[worker]; }
  // For a thread that is no worker: as recorder::submitted().
  void submitted_outside(detail::record& r, std::uint64_t now) noexcept;
  // A run of an ordered section has ended. Who: record_section().
  void section(const section_row& row) noexcept;
  // Who: trace::count().
  void count(unsigned worker, const event& counted, const char* name) noexcept;
  // For the calling thread, whose recorder it is.
  void open_counters(recorder& r) noexcept;

  // What options::schedule was, for the readers of the trace. Before the machine starts.
  void schedule(const char* name) { schedule_ = name; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const char* file() const noexcept { return path_.empty() ? nullptr : path_.c_str(); }

  // Writes all there is so far. The file appears whole or not at all: what was there before stays until then.
  // Errors: weft::error naming the file and the reason.
  void write(facts about, std::uint64_t start_ps);
  // Whether write() would add a task, or the end of one, or a section. Who: anyone, when no task runs.
  [[nodiscard]] bool anything_new() const noexcept;
  // What the last write() threw, or "".
  [[nodiscard]] const std::string& last_error() const noexcept { return last_error_; }

 private:
  [[nodiscard]] std::uint64_t issued() const noexcept;  // tasks and sections
  void complete(facts& about) const;                    // with what the engine does not know
  [[nodiscard]] std::vector<std::string> all_counters() const;
  [[nodiscard]] contents gather(const std::vector<recorder*>& all, std::uint64_t start_ps);

  std::string path_;
  base::part_file file_;  // of the journal; gone when the runtime has ended
  std::string schedule_ = "time";
  std::vector<std::string> counters_;      // of the processor
  std::vector<std::string> own_counters_;  // behind them: what count() was told of; guarded by outside_
  shared_state shared_;
  std::vector<std::unique_ptr<recorder>> recorders_;  // by worker; the last one for threads outside the runtime
  mutable std::mutex outside_;                        // guards the last one's writer side, and what follows
  std::vector<section_row> sections_;                 // few beside tasks: each is a run of many bodies
  std::uint64_t sections_lost_ = 0;
  std::string last_error_;
  bool written_whole_ = false;  // the last write() had no task that had not run
  std::uint64_t written_ = 0;   // and so many tasks and sections
};

// The same for the runtime whose trace has this path: those above it know no more of it, and no other has that.
void record_section(const char* path, const section_row& row) noexcept;
// A counter of a task that the processor does not have, by its name. Who: the worker that runs the task, once for a
// name, before the task is over. Without room, or without such a runtime, nothing is counted.
void count(const char* path, unsigned worker, std::uint32_t task, const char* name, std::uint64_t value) noexcept;

}  // namespace weft::trace
