// The two assemblies of TAO's sort (§6, Figs 8 and 9), as work units that a private scheduler runs: Merge makes one
// sorted row of four, by two merges into a second array and one back; QuickMerge sorts the four quarters first. Each
// merge is split once: a unit finds where, two others merge. So at most four units run at a time, and two at the end.
#pragma once
#include <cstddef>
#include <cstdint>

#include "weft/weft.hpp"

namespace weft::apps::tao {

using integer = std::int64_t;

// Real work, or its cost on modelled machines alone: then merges are split in the middle, as random values would be,
// within a few in a thousand.
enum class doing { all, only_charging };

// What an assembly works on: four quarters of n / 4 values each from `at` on, in `values`, with room in `room`.
struct piece {
  numa_array<integer>* values;
  numa_array<integer>* room;
  std::size_t at;
  std::size_t n;
};

// Where a merge of x and y is split: of x before `in_x` and of y before `in_y` come first.
struct split {
  std::size_t in_x, in_y;
};

// A mistake that units_done() must find: a unit that runs twice, or one that does not wait for what it needs.
enum class planted : std::uint8_t { nothing, twice, early };

class assembly {
 public:
  static constexpr const char *name = "Merge", *name_with_sorts = "QuickMerge";
  static constexpr std::size_t units = 9, units_with_sorts = 13;

  assembly() = default;
  // n: a multiple of 4.
  assembly(const piece& of, bool sorts, doing how, planted wrong = planted::nothing) noexcept
      : of_(of), sorts_(sorts), how_(how), planted_(wrong) {}

  // By who is free, in the order that dependences leave; step by step, by a table.
  void by_graph(team_context& t);
  void by_table(team_context& t);

  // As tasks of the caller's, one for each unit, in a finish for each step (BOTS's sort with one split a merge).
  void by_tasks();

  // That ran once, and behind all that they need. Who: nobody else uses it.
  [[nodiscard]] std::size_t units_done() const noexcept;

 private:
  enum class unit : std::uint8_t { sort, find, merge, last_find, last_merge };
  void run(unit what, std::size_t i);
  void sort(std::size_t quarter);
  void find(std::size_t merge);
  void merge(std::size_t merge, std::size_t half);
  [[nodiscard]] std::size_t quarter() const noexcept { return of_.n / 4; }

  struct side;
  [[nodiscard]] side sides(std::size_t merge) const noexcept;

  piece of_{};
  bool sorts_ = false;
  doing how_ = doing::all;
  split splits_[3]{};
  planted planted_ = planted::nothing;
  // How often each unit has ended; out_of_order if one began too early. Each is written by the unit that it is of.
  using times = std::uint8_t;
  static constexpr times out_of_order = 128;
  static void ended(times& unit, bool in_order) noexcept;
  [[nodiscard]] bool may_find(std::size_t merge) const noexcept;
  times sorted_[4]{}, found_[3]{}, merged_[3][2]{};
};

}  // namespace weft::apps::tao
