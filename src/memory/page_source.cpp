#include "memory/page_source.hpp"

#include "base/assert.hpp"

namespace weft::memory {

void* host_pages::take(std::uint64_t bytes, unsigned node) noexcept {
  WEFT_ASSERT(bytes != 0 && bytes % source_unit_bytes == 0);
  return computer_.take_on(bytes, chunk_bytes, node, large_);
}
void host_pages::give_back(void* begin, std::uint64_t bytes) noexcept { host::unmap(begin, bytes); }
void host_pages::forget(void* begin, std::uint64_t bytes) noexcept { host::forget(begin, bytes); }

void* address_space::take(std::uint64_t bytes, unsigned) noexcept {
  WEFT_ASSERT(bytes != 0 && bytes % source_unit_bytes == 0);
  return host::map(bytes, chunk_bytes, host::promise::none);
}
void address_space::give_back(void* begin, std::uint64_t bytes) noexcept { host::unmap(begin, bytes); }
void address_space::forget(void* begin, std::uint64_t bytes) noexcept { host::forget(begin, bytes); }

}  // namespace weft::memory
