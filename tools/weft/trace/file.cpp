// What a trace in memory says of itself: the words of its columns, and the names of its rows (reader.hpp).
#include <algorithm>
#include <array>

#include "reader.hpp"

namespace weft::tool::trace {

const char* text(outcome o) noexcept {
  return std::array{"done", "failed", "skipped", "not run"}[static_cast<std::size_t>(o)];
}

const char* text(wait_reason w) noexcept {
  constexpr const char* texts[wait_reasons] = {"children", "all",  "handle",  "window",
                                               "event",    "join", "barrier", "spawn"};
  return texts[static_cast<int>(w)];
}

const char* text(booty b) noexcept { return std::array{"task", "stack", "branch"}[static_cast<std::size_t>(b)]; }

const char* text(aim a) noexcept { return std::array{"fixed", "time", "cost"}[static_cast<std::size_t>(a)]; }

kind_flags standard_flags(std::string_view kind) {
  const bool read = kind == "read", add = kind == "add";
  const bool several = read || add || kind == "concurrent" || kind == "reduce";
  return {read, several, add || kind == "write", !kind.starts_with("user ")};
}

std::string file::about(std::string_view key) const {
  const auto at = meta.find(key);
  return at == meta.end() ? std::string() : at->second;
}

std::string file::task_name(index t) const {
  return tasks[t].name == none ? "task " + std::to_string(tasks[t].id) : names[tasks[t].name];
}

std::string file::handle_name(index h) const {
  return handles[h].name.empty() ? "handle " + std::to_string(handles[h].id) : handles[h].name;
}

std::span<const counter> counters_of(const file& f, index t) {
  const auto found = std::equal_range(f.counters.begin(), f.counters.end(), counter{t, 0, 0},
                                      [](const counter& a, const counter& b) { return a.task < b.task; });
  return {found.first, found.second};
}

}  // namespace weft::tool::trace
