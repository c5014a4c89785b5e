// Task reductions. A list of them, which the compiler makes:
//   [0] how many   [1] bytes of a thread's parts   [2] their alignment; from registration on, where the parts begin
//   [3], [5], [6] the runtime's   [4] the runtime's: the list around it
//   [7 + 3i] address of the original   [8 + 3i] where its part is in a thread's   [9 + 3i] the runtime's
// Parts are zero at first, and say themselves, by a flag beside them, whether they are in use. A list that several
// members register for one worksharing construct has its parts once.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "omp/abi.hpp"
#include "omp/worksharing.hpp"

namespace weft::omp {

namespace {

enum field : std::size_t { how_many, bytes, parts, unused, around, end_of_parts, first_original = 7 };

[[nodiscard]] std::uintptr_t new_parts(const team& of, const std::uintptr_t* list) {
  const std::size_t align = list[parts] > 16 ? list[parts] : 16;
  const std::size_t size = (list[bytes] * of.size + align - 1) / align * align;
  void* const block = std::aligned_alloc(align, size != 0 ? size : align);
  if (block == nullptr) throw std::bad_alloc();
  std::memset(block, 0, size);
  return reinterpret_cast<std::uintptr_t>(block);
}

void link(const team& of, group* g, std::uintptr_t* list, std::uintptr_t block) noexcept {
  list[parts] = block;
  list[end_of_parts] = block + list[bytes] * of.size;
  list[around] = reinterpret_cast<std::uintptr_t>(g->reductions);
  g->reductions = list;
}

// The part of thread `number` that stands for `address`, the original or another's part; 0: it is none of this list.
[[nodiscard]] std::uintptr_t part_of(const std::uintptr_t* list, std::uintptr_t address, unsigned number,
                                     std::uintptr_t& original) noexcept {
  const std::uintptr_t mine = list[parts] + list[bytes] * number;
  const bool is_part = address >= list[parts] && address < list[end_of_parts];
  const std::uintptr_t offset = is_part ? (address - list[parts]) % list[bytes] : 0;
  for (std::size_t i = 0; i < list[how_many]; ++i) {
    const std::uintptr_t* const one = list + first_original + 3 * i;
    if (is_part ? one[1] != offset : one[0] != address) continue;
    original = one[0];
    return mine + one[1];
  }
  if (is_part) {  // in the middle of one
    original = 0;
    return mine + offset;
  }
  return 0;
}

}  // namespace

void register_reductions(team& of, group* g, std::uintptr_t* list) { link(of, g, list, new_parts(of, list)); }
void unregister_reductions(std::uintptr_t* list) noexcept {
  std::free(reinterpret_cast<void*>(list[parts]));  // NOLINT
}

void begin_shared_reductions(thread& th, workshare& w, std::uintptr_t* list, bool is_first) {
  task& t = *th.now;
  if (is_first) w.shared = reinterpret_cast<void*>(new_parts(*t.of, list));  // NOLINT
  begin_group(t, *new group, false);
  t.groups->reductions = nullptr;
  if (!is_first) return;
  link(*t.of, t.groups, list, reinterpret_cast<std::uintptr_t>(w.shared));
}

void join_shared_reductions(thread& th, const workshare& w, std::uintptr_t* list) noexcept {
  task& t = *th.now;
  link(*t.of, t.groups, list, reinterpret_cast<std::uintptr_t>(w.shared));
}

}  // namespace weft::omp

using namespace weft::omp;

extern "C" {

WEFT_OMP void GOMP_taskgroup_reduction_register(std::uintptr_t* list) {
  task& t = *here().now;
  if (t.groups == nullptr) refuse("a task reduction outside of a taskgroup");
  try {
    register_reductions(*t.of, t.groups, list);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
}

WEFT_OMP void GOMP_taskgroup_reduction_unregister(std::uintptr_t* list) { unregister_reductions(list); }

WEFT_OMP void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  thread& th = here();
  task& t = *th.now;
  if (t.groups == nullptr || t.groups->reductions == nullptr) refuse("a task reduction ends that has not begun");
  std::uintptr_t* const list = t.groups->reductions;
  const bool is_first = th.number == 0;
  end_group(t);
  if (is_first) unregister_reductions(list);  // who combines the parts; the others need them no more
  if (!cancelled) barrier(here());
}

WEFT_OMP unsigned GOMP_parallel_reductions(function f, void* data, unsigned threads, unsigned) {
  std::uintptr_t* list = nullptr;
  std::memcpy(&list, data, sizeof list);
  const unsigned n = threads_for(*here().now, threads);
  struct shared {
    std::uintptr_t* list;
    group all;
  } s{list, {}};
  const auto prepare = [](team& of, void* with) {
    shared& x = *static_cast<shared*>(with);
    x.all.is_taskgroup = false;
    register_reductions(of, &x.all, x.list);
    for (unsigned i = 0; i < of.size; ++i) of.members[i].implicit.groups = &x.all;
  };
  parallel(f, data, n, {prepare, &s});
  return n;
}

WEFT_OMP void GOMP_task_reduction_remap(std::size_t count, std::size_t with_original, void** addresses) {
  thread& th = here();
  for (std::size_t i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(addresses[i]);
    std::uintptr_t part = 0, original = 0;
    for (const group* g = th.now->groups; g != nullptr && part == 0; g = g->outer)
      for (const std::uintptr_t* list = g->reductions; list != nullptr && part == 0;
           list = reinterpret_cast<const std::uintptr_t*>(list[around]))  // NOLINT
        part = part_of(list, address, th.number, original);
    if (part == 0) refuse("in_reduction of a variable that no task reduction around it names");
    addresses[i] = reinterpret_cast<void*>(part);                                     // NOLINT
    if (i < with_original) addresses[count + i] = reinterpret_cast<void*>(original);  // NOLINT
  }
}
}
