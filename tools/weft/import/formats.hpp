// The formats that can be imported: each is a row, with what makes it known by its content and what reads it.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "graph.hpp"

namespace weft::tool::foreign {

// What else the reader was told.
struct reading {
  std::optional<double> unit_ns;   // of one in a file whose numbers have no unit
  std::string weight;              // DOT: the attribute that is a task's duration; empty: one of the usual
  const source* beside = nullptr;  // a second file that belongs to it
  std::function<void(double)> tell = [](double) {};
};

struct format {
  const char* name;
  const char* what;
  const char* beside;  // what the second file is; nullptr: there is none
  bool (*is)(std::string_view text);
  void (*read)(source& from, const reading& how, graph& into);
};

[[nodiscard]] std::span<const format> formats() noexcept;
// By its name, or, if that is empty, by the content. Errors: weft::error that lists what there is.
[[nodiscard]] const format& format_of(const source& from, const std::string& name);

// --- csv.cpp: our own
[[nodiscard]] bool is_csv(std::string_view text);
void read_csv(source& from, const reading& how, graph& into);
// --- stg.cpp
[[nodiscard]] bool is_stg(std::string_view text);
void read_stg(source& from, const reading& how, graph& into);
// --- wfcommons.cpp
[[nodiscard]] bool is_wfcommons(std::string_view text);
void read_wfcommons(source& from, const reading& how, graph& into);
// --- starpu.cpp
[[nodiscard]] bool is_starpu(std::string_view text);
void read_starpu(source& from, const reading& how, graph& into);
// --- chrome.cpp
[[nodiscard]] bool is_chrome(std::string_view text);
void read_chrome(source& from, const reading& how, graph& into);
// --- tfprof.cpp
[[nodiscard]] bool is_tfprof(std::string_view text);
void read_tfprof(source& from, const reading& how, graph& into);
// --- dot.cpp
[[nodiscard]] bool is_dot(std::string_view text);
void read_dot(source& from, const reading& how, graph& into);

}  // namespace weft::tool::foreign
