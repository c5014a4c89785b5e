// Time stepping as tasks that submit tasks (SuperGlue §6.2). A step is four stages; a stage is one task per tile, which
// adds to the derivatives of its block, and one task per block that ends the stage. No barrier anywhere: a block goes
// on as soon as its neighbours have.
//
// All steps cannot be submitted at once, so a generator task submits one step and then the generator of the step
// `ahead` steps later, which may start when one task of this step is done (the last one of block 0). So a run keeps
// about `ahead` steps of tasks in the world, however long it is. What the paper leaves unsaid: two generators must not
// submit at the same time, or a later step's tasks would come before an earlier one's in the program's order. They all
// write the log of generated steps, and that is what keeps them in turn.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../app.hpp"
#include "tiles.hpp"

namespace weft::apps::shallow_water {

enum class tile_access {
  add,    // tiles of a block in any order: rounding differs from the serial run
  write,  // in order of submission: the same bits
};

// Errors: weft::error for a word that is none of the two.
[[nodiscard]] tile_access parse_access(const std::string& word);

struct problem {
  std::size_t side = 140;
  std::size_t block = 1000;
  std::size_t steps = 300;
  std::size_t ahead = 5;
  tile_access access = tile_access::add;
  // Where the data are on a modelled machine. False: with whoever works on them first. True: with worker 0, which then
  // touches all of them before the clock starts, as a program does whose main thread assembles its matrices.
  bool assembled_serially = false;

  // A tile task, counted in order of submission from 0, to leave out; and a step to generate twice. They plant the
  // mistakes that the checks must find.
  static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t omitted_task = nothing;
  std::uint64_t repeated_step = nothing;

  [[nodiscard]] std::size_t nodes() const noexcept { return side * side; }
  [[nodiscard]] std::size_t blocks() const noexcept { return (nodes() + block - 1) / block; }
  [[nodiscard]] double time_step() const noexcept { return courant / static_cast<double>(side); }
  [[nodiscard]] std::uint64_t task_count(std::size_t tiles) const noexcept {
    return (assembled_serially ? 2 : 1) + std::uint64_t{steps} * (1 + stages * (tiles + blocks()));
  }
  // A block can be behind block 0 by one stage per block between them; those steps are on top of `ahead`.
  [[nodiscard]] std::size_t steps_in_flight_limit() const noexcept { return ahead + blocks() / stages + 1; }
};

struct outcome {
  std::vector<fields> solution;
  std::vector<std::uint32_t> generated;  // how often, per step
  bool in_order = true;                  // steps were generated one after the other
  std::size_t steps_in_flight_max = 0;
  std::size_t steps_begun_in_first = 0;  // by the time the first step was done
  std::size_t tiles = 0;
  double seconds = 0;
};

// Runs all steps and waits.
[[nodiscard]] outcome simulate(runtime& rt, const problem& p, const mesh& m, const std::vector<row>& rows,
                               progress& bar);

// A plain loop over whole rows, without blocks, tiles or tasks.
[[nodiscard]] std::vector<fields> simulate_serially(const problem& p, const mesh& m, const std::vector<row>& rows);

// Adds what must hold of `found` to r.checks.
void judge(result& r, const problem& p, const mesh& m, const std::vector<row>& rows, const outcome& found);

}  // namespace weft::apps::shallow_water
