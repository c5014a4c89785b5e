// The depend clauses of a task's children: each address that they name is a handle, made when it is first named. Only
// the task itself submits its children, so its table needs no lock; dependences of other tasks are other handles, as
// OpenMP wants it: between siblings only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "weft/weft.hpp"

namespace weft::omp {

// As the compiler numbers them in an omp_depend_t.
enum class depend_kind : std::uintptr_t { in = 1, out = 2, inout = 3, mutexinoutset = 4, inoutset = 5 };

// The accesses of one task, by kind; each handle once.
struct accesses {
  std::vector<handle<void>*> reads, writes, adds, concurrents;
};

class depends {
 public:
  depends();
  depends(const depends&) = delete;
  depends& operator=(const depends&) = delete;

  // What a depend list in either of the compiler's two forms says. Valid until the next call. Refuses
  // omp_all_memory, for which there is no address.
  [[nodiscard]] accesses& of(void** list);
  // Whether no child uses any of the handles.
  [[nodiscard]] bool idle() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct entry {
    explicit entry(const void* a) noexcept : address(a) {}
    const void* address;
    std::uint64_t list = 0;  // the last that named it, and how
    depend_kind kind = depend_kind::in;
    handle<void> order;
  };
  [[nodiscard]] entry& find(const void* address);
  void name(const void* address, depend_kind kind);
  void grow();

  std::deque<entry> entries_;  // they stay where they are
  std::vector<entry*> table_;  // open addressing, a power of two, at most half full
  std::vector<entry*> named_;  // by the list that is read
  std::uint64_t list_ = 0;
  accesses result_;
};

}  // namespace weft::omp
