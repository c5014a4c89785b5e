// A program that was built by g++ -fopenmp, in libgomp's place Weft's own library: what the file says of itself, and
// running it.
#pragma once
#include <string>
#include <vector>

namespace weft::tool {

// What a file of machine code says of the libraries that it needs. Nothing in it is trusted.
struct program_file {
  enum class kind { is_absent, is_no_program, is_of_another_machine, is_static, is_dynamic };
  kind what = kind::is_absent;
  std::vector<std::string> needs;  // by name
};
[[nodiscard]] program_file read_program(const std::string& path);

// Throws weft::error, with what to do, if `path` is no program that libgomp's place can be taken in.
void demand_openmp(const std::string& path);

// Runs `command` with libweft-omp in libgomp's place; settings: NAME=value, which come before the environment. Returns
// its exit status; 128 + n if signal n ended it. Errors: weft::error.
[[nodiscard]] int run_openmp(const std::vector<std::string>& command, const std::vector<std::string>& settings);

}  // namespace weft::tool
