// Written out for the same reason as the list of apps.
#include "systems.hpp"

#include <filesystem>

namespace weft::bench {

const std::vector<listed_system>& all_systems() {
  static const std::vector<listed_system> systems = {
      {"serial", "serial", "a plain loop or recursion, no tasks", "", false, true, true},
      {"weft", "weft", "this library", "", true, true, true},
      {"weft-here", "weft", "this library, its weft::here handed along", "", true, false, true},
      {"weft-async", "weft", "this library, by async and finish", "", true, false, true},
      {"libgomp", "libgomp", "OpenMP, compiled by g++", "libgomp1", true, true, true},
      {"libomp", "libomp", "OpenMP, compiled by clang", "libomp-16-dev clang-16", true, true, true},
      {"tbb", "tbb", "oneTBB: flow graph, task_group", "libtbb-dev", true, true, true},
      {"starpu", "starpu", "StarPU", "libstarpu-dev", true, true, false},
      {"rayon", "rayon", "join of rayon, in Rust", "librust-rayon-core-dev cargo", true, false, true},
      {"chili", "chili", "join of chili, in Rust", "chili of crates.io and Rust 1.79", true, false, true},
  };
  return systems;
}

std::vector<std::string> program_folders() {
  namespace fs = std::filesystem;
  std::error_code unknown;  // then the folders are relative to the working directory, and nothing will be found
  const fs::path here = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  return {(here / "bench" / "systems").string(), (here / WEFT_BENCH_DIR_INSTALLED).lexically_normal().string()};
}

}  // namespace weft::bench
