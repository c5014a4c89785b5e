// Loads the plug-in, calls it and lets it go, several times: nothing of Weft may be left that runs on unloaded code.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** argv) {
  int result = 0;
  for (int i = 0; i < 3; ++i) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    const auto call = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_result"));
    if (call == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    result = call();
    if (dlclose(plugin) != 0) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  }
  std::printf("%d\n", result);
  return result == 42 ? 0 : 1;
}
