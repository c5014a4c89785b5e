// A graph of tasks that was recorded by another system, or written by hand: what every reader of a format fills, and
// what is then laid out (layout.hpp) and becomes a trace (make_trace.hpp).
//
// Two things order tasks. Accesses do, as in Weft: tasks on one datum follow each other in the order of the file, but
// within a group of reads, of adds or of concurrent ones. And so do edges, which may lead anywhere in the file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source.hpp"

namespace weft::tool::foreign {

using index = std::uint32_t;
using ns = std::int64_t;
inline constexpr index none = UINT32_MAX;
inline constexpr index tasks_max = 1u << 28, edges_max = 1u << 30;  // so that every sum of them is an index
inline constexpr unsigned workers_max = 1024;                       // as a runtime has

inline constexpr std::uint64_t bytes_max = std::uint64_t{1} << 48;  // of a datum

enum class mode : std::uint8_t { read, write, add, concurrent };

struct task {
  index id;           // in ids
  index name = none;  // in names
  index place = 0;    // where it stands in the file, for messages
  ns duration = 0;
  ns begin = no_time;  // since any moment, the same for all tasks
  index worker = none;
  bool priority = false;
};

struct datum {
  std::string name;
  std::uint64_t bytes = 0;  // 0: nobody says
};

struct access {
  index task, datum;
  foreign::mode mode;
};

struct edge {
  index before, after;
  [[nodiscard]] auto operator<=>(const edge&) const noexcept = default;
};

class graph {
 public:
  explicit graph(const source& from) : from_(from) {}

  // Adds a task. Errors: weft::error if the file has that id already.
  index add(std::string_view id, std::string_view name, ns duration, index place);
  // none: there is none.
  [[nodiscard]] index find(std::string_view id) const;
  // The datum of that name, made when it is first met.
  index datum_of(std::string_view name);
  void access(index task, index datum, foreign::mode mode) { accesses.push_back({task, datum, mode}); }
  // `after` waits for the end of `before`. Errors: weft::error if they are the same.
  void order(index before, index after);

  [[nodiscard]] const std::string& id_of(index t) const { return ids[tasks[t].id]; }
  // "task 'x' (line 7)".
  [[nodiscard]] std::string called(index t) const;
  [[nodiscard]] const source& from() const noexcept { return from_; }
  // What a reader left out, or took in another way than the file says: each a sentence without a full stop.
  void note(std::string text) { notes.push_back(std::move(text)); }
  void note(std::uint64_t count, const std::string& what) {
    if (count != 0) note(std::to_string(count) + " " + what);
  }

  std::vector<task> tasks;
  std::vector<std::string> ids, names;
  std::vector<datum> data;
  std::vector<foreign::access> accesses;  // of a task in any order; of a datum as in the file
  std::vector<edge> edges;
  std::vector<std::string> notes;
  std::string program;    // what the file calls it; may be empty
  unsigned workers = 0;   // that the original had; 0: it does not say
  ns makespan = no_time;  // that was recorded for all of it
  bool has_edges = true;  // else the format has none, or the file: nothing is known of what orders the tasks

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>()(s); }
  };
  using numbers = std::unordered_map<std::string, index, hash, std::equal_to<>>;

  const source& from_;
  numbers by_id_, by_name_, by_datum_;
};

}  // namespace weft::tool::foreign
