// Written out for the same reason as the list of apps.
#include "systems.hpp"

#include <filesystem>

namespace weft::bench {

const std::vector<listed_system>& all_systems() {
  static const std::vector<listed_system> systems = {
      {"serial", "serial", "a plain loop, no tasks", "", false},
      {"weft", "weft", "this library", "", true},
      {"libgomp", "libgomp", "OpenMP depend, compiled by g++", "libgomp1", true},
      {"libomp", "libomp", "OpenMP depend, compiled by clang", "libomp-16-dev clang-16", true},
      {"tbb", "tbb", "oneTBB flow graph", "libtbb-dev", true},
      {"starpu", "starpu", "StarPU", "libstarpu-dev", true},
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
