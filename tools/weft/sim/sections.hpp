// The ordered sections of a recorded run, once more: each run of one is a run of weft::ordered, whose bodies compute as
// long as they did, load and store as many words at the same places, and create the same calls. So whether running
// ahead pays, who is in vain and what runs again is decided by the section itself.
//
// What a body loads decides what it stores. If that is what it was when the body happened, it stores what it stored
// then; else something that nobody else stores. So a body that runs too early is wrong, as it was, and a store that
// changed nothing changes nothing.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tools/weft/report/pieces.hpp"
#include "weft/weft.hpp"

namespace weft::tool::sim {

// What bodies do beside, to whoever runs the section.
class section_steps {
 public:
  virtual void body_computes(std::uint32_t section, double ns) = 0;
  virtual void body_submits(std::uint32_t section, std::uint32_t task) = 0;
  virtual void body_waits(const trace::wait& w) = 0;

 protected:
  ~section_steps() = default;
};

class sections {
 public:
  explicit sections(const trace::file& f);

  // Which section the submission of task t is, and its helpers are; report::none: t is a task as any.
  [[nodiscard]] std::uint32_t of(std::uint32_t t) const noexcept {
    return t < file_.crews.size() && file_.crews[t] != report::none && file_.sections[file_.crews[t]].is_known
               ? file_.crews[t]
               : report::none;
  }
  // Runs it. Who: a body or the main program.
  void run(runtime& rt, std::uint32_t section, section_steps& by);
  void call(ordered_context& x, std::uint32_t body, std::vector<std::uint64_t>& words, section_steps& by) const;

 private:
  struct item {
    std::uint32_t body;
    double at_ps;                       // of the body's own time
    std::uint32_t task = report::none;  // that is submitted; none: a wait
    const trace::wait* wait = nullptr;
  };
  [[nodiscard]] std::uint32_t body_at(std::uint32_t t, std::int64_t time) const;
  void find_items();

  const trace::file& file_;
  std::vector<std::uint32_t> by_task_;                     // bodies, by their task and time
  std::vector<item> items_;                                // by body and time
  std::vector<double> waited_ps_;                          // of each body
  std::map<std::int64_t, std::unique_ptr<ordered>> made_;  // of each section, for all its runs
};

}  // namespace weft::tool::sim
