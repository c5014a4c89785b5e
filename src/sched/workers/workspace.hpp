// Memory that bodies on a worker use one after the other (weft::workspace). Grows by doubling, so that tasks of
// growing needs do not allocate each time, and lives as long as the worker.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "base/assert.hpp"
#include "base/limits.hpp"

namespace weft::sched {

class workspace {
 public:
  // At least so many bytes, with any content. Who: the worker's thread. Errors: std::bad_alloc, and then
  // what there was stays.
  [[nodiscard]] void* get(std::size_t bytes) {
    if (bytes_ < bytes) {
      if (bytes > base::array_bytes_max) throw std::bad_alloc();
      const std::size_t wanted = std::max({bytes, 2 * bytes_, std::size_t{4096}});
      memory_.reset(static_cast<std::byte*>(::operator new(wanted, std::align_val_t{alignment})));
      bytes_ = wanted;  // once it is there
    }
    WEFT_ASSERT(bytes == 0 || memory_ != nullptr);
    return memory_.get();
  }
  void clear() noexcept {
    memory_.reset();
    bytes_ = 0;
  }

 private:
  static constexpr std::size_t alignment = 64;
  struct free {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte, free> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace weft::sched
