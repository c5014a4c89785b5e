// Whether anything in this process asked for libgomp when it began: a preloaded library is there without that, too.
#include <elf.h>
#include <link.h>

#include <cstring>

#include "omp/settings.hpp"

namespace weft::omp {

namespace {

// glibc makes addresses of the table's offsets, but in objects that it may not write to.
[[nodiscard]] const char* strings_of(const dl_phdr_info& object, const ElfW(Dyn) * table) noexcept {
  for (; table->d_tag != DT_NULL; ++table)
    if (table->d_tag == DT_STRTAB) {
      const ElfW(Addr) at = table->d_un.d_ptr;
      return reinterpret_cast<const char*>(at < object.dlpi_addr ? object.dlpi_addr + at : at);
    }
  return nullptr;
}

int needs_libgomp(dl_phdr_info* object, std::size_t, void*) noexcept {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* const table = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    const char* const strings = strings_of(*object, table);
    if (strings == nullptr) continue;
    for (const ElfW(Dyn)* d = table; d->d_tag != DT_NULL; ++d)
      if (d->d_tag == DT_NEEDED && std::strcmp(strings + d->d_un.d_val, "libgomp.so.1") == 0) return 1;
  }
  return 0;
}

}  // namespace

bool is_needed() noexcept { return dl_iterate_phdr(&needs_libgomp, nullptr) != 0; }

}  // namespace weft::omp
