#include "openmp.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "child.hpp"
#include "output.hpp"
#include "weft/error.hpp"

namespace weft::tool {

namespace fs = std::filesystem;

namespace {

// A file's bytes, read where they are.
class bytes {
 public:
  explicit bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    is_there_ = in.good();
    all_.assign(std::istreambuf_iterator<char>(in), {});
  }
  [[nodiscard]] bool is_there() const { return is_there_; }
  template <class T> [[nodiscard]] bool get(std::uint64_t at, T& to) const {
    if (at > all_.size() || all_.size() - at < sizeof(T)) return false;
    std::memcpy(&to, all_.data() + at, sizeof(T));
    return true;
  }
  [[nodiscard]] std::string text(std::uint64_t at) const {
    if (at >= all_.size()) return {};
    return {all_.data() + at, strnlen(all_.data() + at, all_.size() - at)};
  }

 private:
  std::string all_;
  bool is_there_ = false;
};

// Where the address `a` of the loaded program lies in the file.
[[nodiscard]] std::uint64_t place_of(const std::vector<Elf64_Phdr>& parts, std::uint64_t a) {
  for (const Elf64_Phdr& p : parts)
    if (p.p_type == PT_LOAD && a >= p.p_vaddr && a - p.p_vaddr < p.p_filesz) return a - p.p_vaddr + p.p_offset;
  return ~std::uint64_t{0};
}

void read_needs(const bytes& file, const std::vector<Elf64_Phdr>& parts, const Elf64_Phdr& dynamic, program_file& to) {
  std::uint64_t texts = ~std::uint64_t{0};
  std::vector<std::uint64_t> names;
  Elf64_Dyn d{};
  for (std::uint64_t at = 0; at + sizeof d <= dynamic.p_filesz && file.get(dynamic.p_offset + at, d); at += sizeof d) {
    if (d.d_tag == DT_NULL) break;
    if (d.d_tag == DT_STRTAB) texts = place_of(parts, d.d_un.d_ptr);
    if (d.d_tag == DT_NEEDED) names.push_back(d.d_un.d_val);
  }
  for (const std::uint64_t name : names)
    if (texts != ~std::uint64_t{0}) to.needs.push_back(file.text(texts + name));
}

[[nodiscard]] bool needs(const std::vector<std::string>& all, const char* library) {
  return std::any_of(all.begin(), all.end(), [library](const std::string& n) { return n.starts_with(library); });
}

// What the program loads in the end: its libraries may need libgomp, too. The loader says so, and runs nothing.
[[nodiscard]] std::vector<std::string> loaded_by(const std::string& path) {
  constexpr double seconds_max = 30;
  const child_result r = run_child({path}, seconds_max, {"LD_TRACE_LOADED_OBJECTS=1", "LD_PRELOAD="});
  std::vector<std::string> all;
  std::istringstream words(r.out);
  for (std::string line; std::getline(words, line);)
    all.push_back(line.substr(std::min(line.size(), line.find_first_not_of(" \t"))));
  return all;
}

[[nodiscard]] fs::path omp_library() {
  std::error_code unknown;
  const fs::path here = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const fs::path& at : {here / "libweft-omp.so", here / WEFT_OMP_INSTALLED})
    if (fs::exists(at, unknown)) return fs::weakly_canonical(at, unknown);
  throw weft::error("run: libweft-omp.so is not beside " + (here / "weft").string() +
                    ", nor at " WEFT_OMP_INSTALLED " from there; build the target weft_omp, or install Weft");
}

}  // namespace

program_file read_program(const std::string& path) {
  program_file found;
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return found;
  const bytes file(path);
  if (!file.is_there()) return found;
  found.what = program_file::kind::is_no_program;
  Elf64_Ehdr head{};
  if (!file.get(0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return found;
  Elf64_Ehdr mine{};
  const bytes self("/proc/self/exe");
  if (self.get(0, mine) && (mine.e_machine != head.e_machine || mine.e_ident[EI_CLASS] != head.e_ident[EI_CLASS])) {
    found.what = program_file::kind::is_of_another_machine;
    return found;
  }
  std::vector<Elf64_Phdr> parts;
  Elf64_Phdr p{};
  for (unsigned i = 0; i < head.e_phnum && file.get(head.e_phoff + i * sizeof p, p); ++i) parts.push_back(p);
  const auto of_type = [&](std::uint32_t type) {
    return std::find_if(parts.begin(), parts.end(), [type](const Elf64_Phdr& x) { return x.p_type == type; });
  };
  found.what = of_type(PT_INTERP) != parts.end() ? program_file::kind::is_dynamic : program_file::kind::is_static;
  if (const auto dynamic = of_type(PT_DYNAMIC); dynamic != parts.end()) read_needs(file, parts, *dynamic, found);
  return found;
}

void demand_openmp(const std::string& path) {
  using kind = program_file::kind;
  const std::string begin = "run: " + path;
  const program_file f = read_program(path);
  switch (f.what) {
  case kind::is_absent: throw weft::error(begin + ": there is no such file, or it cannot be read");
  case kind::is_no_program: throw weft::error(begin + " is no program of machine code (ELF)");
  case kind::is_of_another_machine: throw weft::error(begin + " is a program for another kind of machine");
  case kind::is_static:
    throw weft::error(begin + " is linked statically, so libgomp is part of it; link it again without -static");
  case kind::is_dynamic: break;
  }
  if (needs(f.needs, "libgomp.so.1")) return;
  const std::vector<std::string> all = loaded_by(path);
  if (needs(all, "libgomp.so.1")) return;
  if (needs(all, "libomp.so") || needs(all, "libiomp"))
    throw weft::error(begin + " uses LLVM's OpenMP runtime (libomp), whose place Weft does not take; build it with "
                              "g++ -fopenmp");
  throw weft::error(begin + " does not use libgomp: it was not built with g++ -fopenmp, or that is linked statically");
}

int run_openmp(const std::vector<std::string>& command, const std::vector<std::string>& settings) {
  demand_openmp(command[0]);
  std::string preload = "LD_PRELOAD=" + omp_library().string();
  if (const char* others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0')
    preload += std::string(":") + others;
  std::vector<std::string> ours{preload};
  ours.insert(ours.end(), settings.begin(), settings.end());
  std::vector<std::string> environment = ours;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string line = *e, name = line.substr(0, line.find('=') + 1);
    if (std::none_of(ours.begin(), ours.end(), [&](const std::string& x) { return x.starts_with(name); }))
      environment.push_back(line);
  }
  const int status = run_in_place(command, environment);
  if (status >= 0) return status;
  std::fprintf(stderr, "weft: run: %s was ended by signal %d (%s)\n", printable_lines(command[0]).c_str(), -status,
               ::strsignal(-status));
  return 128 - status;
}

}  // namespace weft::tool
