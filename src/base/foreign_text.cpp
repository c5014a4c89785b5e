#include "base/foreign_text.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/assert.hpp"

namespace weft::base {

void copy_foreign_text(char* to, std::size_t bytes, const char* from) noexcept {
  WEFT_ASSERT(bytes != 0);
  to[0] = '\0';
  if (from == nullptr || bytes == 1) return;
  static const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t wanted = bytes - 1;
  // In two pieces where a page ends, for the second may not be there.
  const std::size_t first = std::min(wanted, page - reinterpret_cast<std::uintptr_t>(from) % page);
  iovec local{to, wanted};
  const iovec remote[2] = {{const_cast<char*>(from), first}, {const_cast<char*>(from + first), wanted - first}};
  const ssize_t copied = ::process_vm_readv(::getpid(), &local, 1, remote, first < wanted ? 2 : 1, 0);
  to[copied > 0 ? static_cast<std::size_t>(copied) : 0] = '\0';
}

}  // namespace weft::base
