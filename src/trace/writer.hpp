// The trace file: an SQLite database whose tables docs/guide/10-traces.md describes.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "place/tree.hpp"
#include "trace/collect.hpp"
#include "weft/counts.hpp"

namespace weft::trace {

inline constexpr std::uint32_t application_id = 0x57656674;  // "Weft"
inline constexpr int format_version = 7;

// What is true of the whole run.
struct facts {
  std::string program;
  std::string machine;
  std::string policy;
  std::string schedule;  // of a modelled machine: who was next; of real cores always "time"
  std::uint64_t seed = 0;
  std::size_t window = 0;
  std::uint64_t duration_ns = 0;
  std::vector<std::string> counters;
  const place::tree* places = nullptr;
  joules energy{};     // of a modelled machine, until the trace is written
  bool bound = false;  // workers but the first are bound to the cores of their places
};

// Makes `path` anew. `tell`, if there is one, is called with the share that is written, some hundred times.
// Errors: weft::error that says what failed; there may be a part of a file then.
void write_file(const std::string& path, const facts& about, const contents& rows,
                const std::function<void(double)>& tell = {});

// Whether a file with this beginning (its first 100 bytes) is a trace.
inline constexpr std::size_t header_bytes = 100;
[[nodiscard]] bool is_trace_header(const unsigned char* bytes) noexcept;

}  // namespace weft::trace
