// What ranks tell one another beside data: what they have submitted, so that different programs are found and named;
// that all is done, and what failed first; that somebody gives up. Rank 0 hears all and tells all.
// Who: the thread of the program, and whoever calls the transport: under a mutex, and what is to be sent is sent after.
#pragma once
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "poller.hpp"
#include "weft/cluster.hpp"

namespace weft::detail {

// The first failure in the order of the program, of a rank or of all.
struct first_failure {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static constexpr std::uint64_t of_no_task = none - 1;  // something else than a task has failed
  std::uint64_t task = none;
  int rank = -1;
  std::string text;
};

[[nodiscard]] std::string text_of(const std::exception_ptr& e);

class agreement {
 public:
  agreement(cluster& w, poller& p, int control_tag);
  agreement(const agreement&) = delete;
  agreement& operator=(const agreement&) = delete;

  // The tasks since the last call, and a hash of all. Every rank calls it as often.
  void compare(std::uint64_t tasks, std::uint64_t hash, std::vector<task_note> since);
  // All is done here. Returns when it is on every rank: what failed. Errors: weft::error if the ranks are at an end.
  [[nodiscard]] first_failure end(first_failure mine);
  // All ranks fail with this. Returns at once.
  void give_up(const std::string& why);

 private:
  enum class kind : std::uint32_t { compare, ask_notes, notes, ask_name, name, done, release, fail };
  static constexpr std::size_t text_bytes_max = 4096;
  struct letter {
    kind what = kind::fail;
    std::int32_t from = 0;
    std::uint64_t a = 0, b = 0, c = 0;
    std::uint64_t size = 0;  // of the text
    char text[text_bytes_max];
    [[nodiscard]] std::string str() const { return {text, text + size}; }
    void set(const void* data, std::size_t n);
  };
  struct letter_flight : flight {
    letter content;
    agreement* of = nullptr;
  };
  // What is to be done when the mutex is free again.
  struct outbox {
    struct item {
      int to;
      letter content;
    };
    std::vector<item> letters;
    std::string fail;  // not empty: all here fails with this
    event* released = nullptr;
    std::exception_ptr why;
  };
  // A part of the program whose tasks are compared at once.
  struct part {
    std::uint64_t index, first;
    std::vector<task_note> notes;
  };
  // Rank 0: what the first rank said of a part.
  struct said {
    int rank;
    std::uint64_t tasks, hash;
    int ranks;
  };
  // Rank 0: two ranks differ in a part, and are asked.
  struct search {
    std::uint64_t index;
    int ranks[2];
    std::optional<std::vector<std::uint32_t>> notes[2];
    std::optional<std::string> names[2];
    std::uint64_t first = 0;
  };

  void expect_letter(letter_flight& f);
  static void letter_over(flight& f, const std::exception_ptr& why);
  static void sent(flight& f, const std::exception_ptr& why);
  void arrived(const letter& l);
  void broken(const std::exception_ptr& why);
  void act(outbox& out);
  void to(outbox& out, int rank, const letter& l);
  [[nodiscard]] letter about(kind what, std::uint64_t a = 0, std::uint64_t b = 0, const std::string& text = {}) const;
  void handle(const letter& l, outbox& out);
  void compared(const letter& l, outbox& out);
  void has_notes(const letter& l, outbox& out);
  void has_name(const letter& l, outbox& out);
  void done(const letter& l, outbox& out);
  void fail_all(const std::string& why, outbox& out);
  [[nodiscard]] letter notes_of(std::uint64_t index) const;
  [[nodiscard]] letter name_of(std::uint64_t index, std::uint64_t offset) const;

  const int rank_, size_, tag_;
  runtime& rt_;
  poller& poller_;
  std::vector<std::unique_ptr<letter_flight>> expected_;
  std::mutex mutex_;  // what follows
  std::deque<part> parts_;
  std::uint64_t parts_so_far_ = 0, compared_tasks_ = 0;
  std::exception_ptr broken_;
  event* waiting_ = nullptr;
  first_failure verdict_;
  std::map<std::uint64_t, said> said_;
  std::optional<search> search_;
  bool failing_ = false;
  int done_ = 0;
  first_failure first_;
};

}  // namespace weft::detail
