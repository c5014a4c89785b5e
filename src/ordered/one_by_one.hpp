// What bodies get that run one after the other, in order: memory is taken and given back at once, as nothing is ever
// undone, and whoever runs is the oldest. Who: one thread.
#pragma once
#include <cstddef>
#include <new>

#include "weft/detail/ordered.hpp"

namespace weft::ordered_run {

class one_by_one : public detail::ordered_hooks {
 protected:
  ~one_by_one() = default;

 private:
  void* allocate(std::size_t bytes, std::size_t alignment) final {
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void release(void* at, std::size_t, std::size_t alignment) final {
    ::operator delete(at, std::align_val_t(alignment));
  }
  void serialize() final {}
};

}  // namespace weft::ordered_run
