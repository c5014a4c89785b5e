// The pools of this process, which all runtimes share: a buffer may outlive the runtime whose task took it. They are
// never destroyed, because a stream of static storage may be ended after they would be.
#include "weft/node_memory.hpp"

#include <new>
#include <string>

#include "base/limits.hpp"
#include "memory/pools.hpp"
#include "weft/deferred.hpp"

namespace weft {

namespace {

constexpr std::size_t pool_alignment = 64;

[[nodiscard]] memory::pools& common() {
  static auto* const pages = new memory::host_pages(memory::host::here(), true);
  static auto* const all = new memory::pools(memory::host::here().nodes(), *pages);
  return *all;
}

}  // namespace

node_memory_counts node_memory() {
  const memory::pool_counts c = common().counts();
  return {c.all.in_use, c.all.peak, c.all.held};
}

namespace detail {

// Beyond the limit what is rounded up to whole units would begin again at 0; the C++ library's own `new` is not sure.
void* take_here(std::size_t bytes, std::size_t alignment) {
  if (bytes > base::array_bytes_max) throw std::bad_alloc();
  if (alignment > pool_alignment) return ::operator new(bytes, std::align_val_t{alignment});
  memory::pools& all = common();
  return all.take(bytes, all.nodes() == 1 ? 0 : memory::host::here().current_node());
}

void throw_never_written(std::size_t n) {
  throw error("weft: deferred data of " + std::to_string(n) +
              " elements are read before any task has written them; submit the task that writes them first");
}

void give_back(void* block, std::size_t bytes, std::size_t alignment) noexcept {
  if (alignment > pool_alignment) return ::operator delete(block, std::align_val_t{alignment});
  common().give_back(block, bytes);
}

}  // namespace detail
}  // namespace weft
