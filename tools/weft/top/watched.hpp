// A program that lets others look at its counters: found by its number or its name, and asked (trace/live_page.hpp has
// the layout and the protocol). All that is known of it comes through /proc, and so does the right to look.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/live_page.hpp"

namespace weft::tool {

// What a runtime said at one moment.
struct live_answer {
  trace::live_head head;
  std::vector<trace::live_row> rows;
};

// One runtime of a process, and its page.
class live_page {
 public:
  // file: the page, which is ours from here on. Errors: weft::error about `whose` if it is none, or of another
  // layout.
  live_page(int file, const std::string& whose);
  ~live_page();
  live_page(live_page&& other) noexcept;
  live_page(const live_page&) = delete;
  live_page& operator=(const live_page&) = delete;

  [[nodiscard]] const trace::live_head& head() const noexcept { return *head_; }
  [[nodiscard]] bool over() const noexcept;
  // Takes the turn to ask; false: another reader has it. It is given back by give_turn(), and when this ends.
  [[nodiscard]] bool take_turn() noexcept;
  void give_turn() noexcept;
  // Who: whose turn it is. `ask` begins, `answered` waits for so long and says whether the answer is there.
  void ask() noexcept;
  [[nodiscard]] bool answered(unsigned within_ms) noexcept;
  [[nodiscard]] live_answer read() const;

 private:
  int file_;
  std::size_t bytes_ = 0;
  trace::live_head* head_ = nullptr;
  std::uint32_t question_ = 0;
};

class watched_program {
 public:
  // who: the number of a process; or a name, of its executable or its command; "" is the only one that lets others
  // look. Errors: weft::error: there is none, or several, it lets nobody look, or the system does not.
  explicit watched_program(const std::string& who);

  [[nodiscard]] int process() const noexcept { return process_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // "process 12 (solver)".
  [[nodiscard]] std::string words() const;
  // What its runtimes say, the oldest first; also those that it has made since. None: there is no runtime now.
  // Errors: weft::error if it does not answer.
  [[nodiscard]] std::vector<live_answer> look();
  // Whether the process has ended.
  [[nodiscard]] bool ended() const;

 private:
  void find_pages();
  [[nodiscard]] bool ask(live_page& s, live_answer& answer) const;  // false: it is over
  [[nodiscard]] bool waits_on(unsigned passed_ms) const;

  int process_ = 0;
  std::string name_;
  std::string began_;                         // when, as /proc says it: numbers are given out again
  std::map<std::uint32_t, live_page> pages_;  // by the numbers of their runtimes
};

}  // namespace weft::tool
