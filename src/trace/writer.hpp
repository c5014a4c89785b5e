// The trace file: an SQLite database whose tables docs/guide/10-traces.md describes.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "place/tree.hpp"
#include "trace/collect.hpp"
#include "weft/counts.hpp"
#include "weft/rule.hpp"

namespace weft::trace {

inline constexpr std::uint32_t application_id = 0x57656674;  // "Weft"
inline constexpr int format_version = 11;

// A rule of the scheduler in that run, and how often it decided.
struct rule_row {
  const char* name = nullptr;
  std::uint64_t value = 0, off = 0, decided = 0;
};

// What is true of the whole run.
struct facts {
  std::string program;
  std::string machine;
  std::string policy;
  std::string creation;  // who registers tasks: "inline" or "decoupled"
  std::string schedule;  // of a modelled machine: who was next; of real cores always "time"
  std::uint64_t seed = 0;
  std::size_t window = 0;
  std::uint64_t duration_ns = 0;
  std::vector<std::string> counters;
  const place::tree* places = nullptr;
  joules energy{};          // of a modelled machine, until the trace is written
  std::uint64_t forks = 0;  // and loops that may be divided: what bodies did that could run on several workers
  std::uint64_t forks_elsewhere = 0;  // branches of them that another worker ran
  std::uint64_t pipelines = 0;
  std::array<rule_row, detail::rule_count> rules{};  // without names where the run was recovered
  bool recovered = false;                            // from the journal of a program that was killed
  bool bound = false;                                // workers but the first are bound to the cores of their places
};

// Makes `path` anew: it is there whole or not at all, and what had the name stays until then. `tell`, if there is one,
// is called with the share that is written, some hundred times. Errors: weft::error that says what failed.
void write_file(const std::string& path, const facts& about, const contents& rows,
                const std::function<void(double)>& tell = {});

// Whether a file with this beginning (its first 100 bytes) is a trace.
inline constexpr std::size_t header_bytes = 100;
[[nodiscard]] bool is_trace_header(const unsigned char* bytes) noexcept;

}  // namespace weft::trace
