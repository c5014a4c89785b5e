#include "lab/swarm/options.hpp"

#include <bit>
#include <charconv>
#include <string>
#include <vector>

#include "base/near_name.hpp"
#include "lab/swarm/signature.hpp"
#include "lab/swarm/virtual_time.hpp"
#include "runtime/variables.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

struct option {
  std::string_view name;
  std::uint32_t swarm_options::*where;
  std::uint32_t least;
  std::uint32_t most;
};
constexpr std::uint32_t latency_max = 1'000'000;
constexpr option options[] = {
    {"cores", &swarm_options::cores, 1, 256},
    {"tile_cores", &swarm_options::tile_cores, 1, 8},
    {"task_units", &swarm_options::task_units, 0, 1},
    {"task_queue", &swarm_options::task_queue, 0, 1 << 20},
    {"commit_queue", &swarm_options::commit_queue, 0, 1 << 20},
    {"gvt_period", &swarm_options::gvt_period, 1, latency_max},
    {"bloom_bits", &swarm_options::bloom_bits, 8, 1 << 19},
    {"bloom_ways", &swarm_options::bloom_ways, 1, swarm::h3::ways_max},
    {"precise", &swarm_options::precise, 0, 1},
    {"canary_per_line", &swarm_options::canary_per_line, 0, 1},
    {"children", &swarm_options::children, 2, 1 << 15},
    {"helpers_foresee", &swarm_options::helpers_foresee, 0, 1},
    {"registers", &swarm_options::registers, 0, 6},
    {"task_instruction", &swarm_options::task_instruction, 1, latency_max},
    {"l1_kib", &swarm_options::l1_kib, 1, 1 << 16},
    {"l1_ways", &swarm_options::l1_ways, 1, 64},
    {"l1_latency", &swarm_options::l1_latency, 0, latency_max},
    {"l1_written_through", &swarm_options::l1_written_through, 0, 1},
    {"l2_kib", &swarm_options::l2_kib, 1, 1 << 20},
    {"l2_ways", &swarm_options::l2_ways, 1, 64},
    {"l2_latency", &swarm_options::l2_latency, 0, latency_max},
    {"l3_kib", &swarm_options::l3_kib, 1, 1 << 20},
    {"l3_ways", &swarm_options::l3_ways, 1, 64},
    {"l3_latency", &swarm_options::l3_latency, 0, latency_max},
    {"hop_latency", &swarm_options::hop_latency, 0, latency_max},
    {"memory_latency", &swarm_options::memory_latency, 0, latency_max},
    {"instant_memory", &swarm_options::instant_memory, 0, 1},
    {"tile_check", &swarm_options::tile_check, 0, latency_max},
    {"compare", &swarm_options::compare, 0, latency_max},
    {"rollback", &swarm_options::rollback, 0, latency_max},
    {"allocation", &swarm_options::allocation, 0, latency_max},
    {"spill_percent", &swarm_options::spill_percent, 1, 100},
    {"spill_tasks", &swarm_options::spill_tasks, 2, 1024},
    {"splitter_tasks", &swarm_options::splitter_tasks, 1, 1024},
    {"finished_give_way", &swarm_options::finished_give_way, 0, 1},
    {"nack_backoff", &swarm_options::nack_backoff, 1, latency_max},
    {"seed", &swarm_options::seed, 0, UINT32_MAX},
    {"sample_period", &swarm_options::sample_period, 0, UINT32_MAX},
    {"sample_from", &swarm_options::sample_from, 0, UINT32_MAX},
    {"sample_count", &swarm_options::sample_count, 1, 1 << 20},
    {"audit", &swarm_options::audit, 0, 1},
};

[[nodiscard]] const option& named(std::string_view name) {
  std::vector<std::string> known;
  for (const option& o : options) {
    if (o.name == name) return o;
    known.emplace_back(o.name);
  }
  throw error("weft: a swarm chip has no option '" + std::string(name) + "'" + base::did_you_mean(name, known));
}

}  // namespace

namespace swarm {

void require_possible(const swarm_options& given) {
  for (const option& o : options)
    if (given.*o.where < o.least || given.*o.where > o.most)
      throw error("weft: the swarm chip's " + std::string(o.name) + " is " + std::to_string(given.*o.where) +
                  "; it may be " + std::to_string(o.least) + " to " + std::to_string(o.most));
  if (given.cores > given.tile_cores && given.cores % given.tile_cores != 0)
    throw error("weft: " + std::to_string(given.cores) + " cores do not make whole tiles of " +
                std::to_string(given.tile_cores) + "; give a multiple, or another tile_cores");
  if (given.cores / given.tile_cores > virtual_time::tiles_max)
    throw error("weft: " + std::to_string(given.cores) + " cores in tiles of " + std::to_string(given.tile_cores) +
                " are more than " + std::to_string(virtual_time::tiles_max) + " tiles; give more tile_cores");
  const std::uint32_t columns = given.bloom_bits / given.bloom_ways;
  if (columns * given.bloom_ways != given.bloom_bits || !std::has_single_bit(columns) || columns > 1u << 16)
    throw error("weft: bloom_bits = " + std::to_string(given.bloom_bits) + " in " + std::to_string(given.bloom_ways) +
                " ways is no power of two a way, up to 65536; 2048 in 8 is the paper's");
}

swarm_options as_run(swarm_options o) {
  require_possible(o);
  if (o.instant_memory != 0)
    o.l1_latency = o.l2_latency = o.l3_latency = o.hop_latency = o.memory_latency = o.tile_check = o.compare = 0;
  return o;
}

swarm_options options_of_environment() {
  const char* const text = value_of_variable("swarm");
  if (text == nullptr) return {};
  try {
    return swarm_options_from(text);
  } catch (const error& wrong) {
    refuse_variable(std::string(wrong.what()) + " (WEFT_SWARM)");
  }
}

}  // namespace swarm

swarm_options swarm_options_from(std::string_view text) {
  swarm_options all;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(one.size() == text.size() ? one.size() : one.size() + 1);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos)
      throw error("weft: '" + std::string(one) + "' is no option of a swarm chip; write name=value, as in cores=16");
    const option& o = named(one.substr(0, equals));
    const std::string_view value = one.substr(equals + 1);
    const auto read = std::from_chars(value.data(), value.data() + value.size(), all.*o.where);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size())
      throw error("weft: the swarm chip's " + std::string(o.name) + " is a whole number from " +
                  std::to_string(o.least) + " to " + std::to_string(o.most) + ", not '" + std::string(value) + "'");
  }
  swarm::require_possible(all);
  return all;
}

}  // namespace weft
