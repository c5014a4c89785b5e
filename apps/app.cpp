// The list of apps is written out, not gathered by static constructors: a static library may drop an object file that
// nobody names, and then an app would silently be missing.
#include "app.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

namespace weft::apps {

std::vector<app> all_apps() {
  std::vector<app> apps;
  apps.push_back(astar_app());
  apps.push_back(bfs_app());
  apps.push_back(bitonic_app());
  apps.push_back(block_cholesky_app());
  apps.push_back(blur_roberts_app());
  apps.push_back(cholesky_app());
  apps.push_back(cilksort_app());
  apps.push_back(colouring_app());
  apps.push_back(compress_app());
  apps.push_back(des_app());
  apps.push_back(fft_app());
  apps.push_back(fm_radio_app());
  apps.push_back(heat_app());
  apps.push_back(independent_app());
  apps.push_back(kmeans_app());
  apps.push_back(ledger_app());
  apps.push_back(lulesh_app());
  apps.push_back(micro_count_app());
  apps.push_back(micro_dependencies_app());
  apps.push_back(micro_grain_app());
  apps.push_back(micro_graph_app());
  apps.push_back(msf_app());
  apps.push_back(nbody_app());
  apps.push_back(network_app());
  apps.push_back(random_graph_app());
  apps.push_back(shallow_water_app());
  apps.push_back(silo_app());
  apps.push_back(sor_app());
  apps.push_back(sparse_lu_app());
  apps.push_back(srad_app());
  apps.push_back(sssp_app());
  apps.push_back(stencil_app());
  apps.push_back(tao_dag_app());
  apps.push_back(tao_sort_app());
  apps.push_back(taskgenx_app());
  apps.push_back(traverse_app());
  apps.push_back(uts_app());
  std::ranges::move(stencil_apps(), std::back_inserter(apps));
  std::ranges::sort(apps, {}, [](const app& a) { return std::string_view(a.name); });
  return apps;
}

bool result::ok() const noexcept {
  return !checks.empty() && std::all_of(checks.begin(), checks.end(), [](const check& c) { return c.passed; });
}

void result::describe(runtime& rt) {
  workers = rt.workers();
  machine = rt.machine();
  policy = rt.policy();
  counts = rt.statistics();
  if (rt.trace_path() == nullptr) return;
  rt.write_trace();
  trace = rt.trace_path();
}

namespace {

// MemAvailable counts what can be had without swapping; absent (not Linux, or hidden), nothing is refused.
double available_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string key, unit; in >> key;) {
    double kib = 0;
    if (!(in >> kib)) break;
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(in, unit);
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

void require_memory(const std::string& what, double bytes) {
  const double available = available_bytes();
  if (bytes <= available) return;
  char text[128];
  std::snprintf(text, sizeof text, " needs %.1f GiB of memory and %.1f GiB are available; choose a smaller size",
                bytes / 0x1p30, available / 0x1p30);
  throw weft::error(what + text);
}

}  // namespace weft::apps
