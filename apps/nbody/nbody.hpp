// The n-body program of SuperGlue §6.1 as tasks. In each step one task per pair of blocks adds forces to both blocks,
// and one task per block moves its particles and clears their forces. Every block gets a contribution from every block,
// so all that limits a step is what the program says about these additions:
//
//   reduce  they run at the same time; a task whose block is busy adds into a buffer of its own (§4.5)
//   add     one at a time per block, in any order: at most half as many tasks at a time as there are blocks
//   write   in the order of submission: a wave through the pairs, narrow at both ends; the same bits every run
//
// There is no barrier between steps: a block moves when its own forces are complete.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../app.hpp"
#include "particles.hpp"

namespace weft::apps::nbody {

enum class force_access { reduce, add, write };

// Errors: weft::error for a word that is none of the three.
[[nodiscard]] force_access parse_access(const std::string& word);

struct problem {
  std::size_t n = 8192;
  std::size_t block = 256;
  std::size_t steps = 16;
  force_access access = force_access::reduce;

  // A pair task, counted in order of submission from 0, to leave out: plants the mistake that the checks must find.
  static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t omitted_task = nothing;

  [[nodiscard]] std::size_t blocks() const noexcept { return (n + block - 1) / block; }
  [[nodiscard]] std::uint64_t force_tasks() const noexcept {
    return std::uint64_t{steps} * blocks() * (blocks() + 1) / 2;
  }
  [[nodiscard]] std::uint64_t move_tasks() const noexcept { return std::uint64_t{steps} * blocks(); }
};

struct outcome {
  std::vector<particles> blocks;
  std::uint64_t incomplete_moves = 0;  // moves of a block that had not got exactly one contribution from every block
  double seconds = 0;
};

inline constexpr double time_step = 0.005;  // a hundredth or so of the fastest vibration

// Submits all steps and waits.
[[nodiscard]] outcome simulate(runtime& rt, const problem& p, std::vector<particles> blocks, progress& bar);

// The same kernels called in the order of submission by a plain loop.
[[nodiscard]] std::vector<particles> simulate_serially(const problem& p, std::vector<particles> blocks);

// Adds what must hold of `found`, a run of p that began with `start`, to r.checks.
void judge(result& r, const problem& p, const std::vector<particles>& start, const outcome& found);

}  // namespace weft::apps::nbody
