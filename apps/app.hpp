// What a program must say about itself so that one tool can run, time and check it: a name, options, and a function
// from runtime options to a result. An app never prints and never exits: it returns what it measured and what it
// checked, or throws weft::error for input it cannot use, so the same code serves the terminal, JSON and the tests.
// Invariant: a result is good only if it carries at least one check and every check passed. An app that forgets to
// check itself therefore fails.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "progress.hpp"
#include "weft/weft.hpp"

namespace weft::apps {

// A measured or chosen quantity, in the order it shall be shown. `name` is a JSON key: snake_case, unique in a result.
struct field {
  using value_type = std::variant<bool, std::uint64_t, double, std::string>;
  std::string name;
  value_type value;
  const char* unit = "";
};

struct check {
  std::string name;
  bool passed;
  std::string detail;  // what was found and what was allowed
};

struct result {
  double seconds = 0;  // of the work alone, by the clock of the machine it ran on: virtual seconds on a modelled one
  unsigned workers = 0;
  std::string machine;
  std::string policy;
  std::string trace;  // the file it was recorded in; empty: none
  runtime::counts counts{};
  std::vector<field> fields;
  std::vector<check> checks;

  [[nodiscard]] bool ok() const noexcept;
  void add(std::string name, field::value_type value, const char* unit = "") {
    fields.push_back({std::move(name), std::move(value), unit});
  }
  // Notes where and how the work ran, and writes the trace if one is recorded. Call it after the last wait, so that
  // both are complete. Errors: weft::error if the trace cannot be written.
  void describe(runtime& rt);
};

// A command-line option of an app and the variable it sets. min and max bound numbers and are ignored for the others.
struct option {
  using target_type = std::variant<bool*, std::size_t*, std::string*>;
  const char* name;  // without the leading dashes
  const char* help;
  target_type target;
  std::size_t min = 0;
  std::size_t max = SIZE_MAX;
  const char* excludes = nullptr;  // an option that makes this one meaningless
};

struct app {
  const char* name;
  const char* summary;  // one line
  const char* example;  // arguments that follow `weft run`
  std::vector<option> options;
  // Errors: weft::error for options or input that cannot be used.
  std::function<result(const weft::options&, progress&)> run;
};

// Every app there is, in the order of a list. Made anew at each call: option targets belong to the returned objects.
[[nodiscard]] std::vector<app> all_apps();

[[nodiscard]] app astar_app();
[[nodiscard]] app bfs_app();
[[nodiscard]] app bitonic_app();
[[nodiscard]] app block_cholesky_app();
[[nodiscard]] app blur_roberts_app();
[[nodiscard]] app cholesky_app();
[[nodiscard]] app cilksort_app();
[[nodiscard]] app colouring_app();
[[nodiscard]] app compress_app();
[[nodiscard]] app des_app();
[[nodiscard]] app fft_app();
[[nodiscard]] app fm_radio_app();
[[nodiscard]] app heat_app();
[[nodiscard]] app independent_app();
[[nodiscard]] app kmeans_app();
[[nodiscard]] app ledger_app();
[[nodiscard]] app lulesh_app();
[[nodiscard]] app micro_count_app();
[[nodiscard]] app micro_dependencies_app();
[[nodiscard]] app micro_grain_app();
[[nodiscard]] app micro_graph_app();
[[nodiscard]] app msf_app();
[[nodiscard]] app nbody_app();
[[nodiscard]] app network_app();
[[nodiscard]] app random_graph_app();
[[nodiscard]] app shallow_water_app();
[[nodiscard]] app silo_app();
[[nodiscard]] app sor_app();
[[nodiscard]] app sparse_lu_app();
[[nodiscard]] app srad_app();
[[nodiscard]] app sssp_app();
[[nodiscard]] app stencil_app();
[[nodiscard]] std::vector<app> stencil_apps();  // Jacobi's and Seidel's, in one to three dimensions
[[nodiscard]] app tao_dag_app();
[[nodiscard]] app tao_sort_app();
[[nodiscard]] app taskgenx_app();
[[nodiscard]] app traverse_app();
[[nodiscard]] app uts_app();

// Throws weft::error if `bytes` will not fit in what the machine has left, before an allocation that Linux would grant
// and later take back by killing the process. `what` starts the message.
void require_memory(const std::string& what, double bytes);

}  // namespace weft::apps
