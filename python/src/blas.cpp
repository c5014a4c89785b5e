#include "blas.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

namespace weftrt::blas {

namespace {

struct library {
  std::string path;
  void (*set)(int);
  int (*get)();
  void (*call_back)(weft::openblas::threads_callback);
  int before = 0;  // its threads when the first runtime came
};

std::mutex lock;
std::vector<library> libraries;
unsigned runtimes = 0;

// NumPy's and SciPy's builds have a name before and a mark of 64-bit indices behind.
void* find(void* from, const std::string& name) {
  for (const char* before : {"scipy_", ""})
    for (const char* behind : {"64_", ""})
      if (void* const f = dlsym(from, (before + name + behind).c_str())) return f;
  return nullptr;
}

int note_path(dl_phdr_info* info, std::size_t, void* paths) {
  const std::string path = info->dlpi_name;
  if (path.find("openblas") != std::string::npos) static_cast<std::vector<std::string>*>(paths)->push_back(path);
  return 0;
}

void add(const std::string& path) {
  if (std::any_of(libraries.begin(), libraries.end(), [&](const library& l) { return l.path == path; })) return;
  void* const opened = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (opened == nullptr) return;
  library l{path, reinterpret_cast<void (*)(int)>(find(opened, "openblas_set_num_threads")),
            reinterpret_cast<int (*)()>(find(opened, "openblas_get_num_threads")),
            reinterpret_cast<void (*)(weft::openblas::threads_callback)>(
                find(opened, "openblas_set_threads_callback_function"))};
  if (l.set == nullptr || l.get == nullptr || l.call_back == nullptr) {
    dlclose(opened);
    return;
  }
  l.before = l.get();
  if (runtimes != 0) l.set(1);
  libraries.push_back(l);
}

}  // namespace

void look() {
  std::vector<std::string> paths;
  dl_iterate_phdr(&note_path, &paths);
  const std::lock_guard hold(lock);
  for (const std::string& p : paths) add(p);
}

void one_more_runtime() {
  look();
  const std::lock_guard hold(lock);
  if (runtimes++ != 0) return;
  for (library& l : libraries) {
    l.before = l.get();
    l.set(1);
  }
}

void one_less_runtime() {
  const std::lock_guard hold(lock);
  if (--runtimes != 0) return;
  for (const library& l : libraries) l.set(l.before);
}

const weft::openblas& all() noexcept {
  static const weft::openblas them{.set_num_threads =
                                       [](int n) {
                                         const std::lock_guard hold(lock);
                                         for (const library& l : libraries) l.set(n);
                                       },
                                   .get_num_threads =
                                       [] {
                                         const std::lock_guard hold(lock);
                                         return libraries.empty() ? 1 : libraries.front().get();
                                       },
                                   .set_threads_callback =
                                       [](weft::openblas::threads_callback f) {
                                         const std::lock_guard hold(lock);
                                         for (const library& l : libraries) l.call_back(f);
                                       }};
  return them;
}

}  // namespace weftrt::blas
