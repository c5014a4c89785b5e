// What the C interface (weft.h) is made of, behind its opaque names: runtimes, handles, and how an exception becomes a
// status. Nothing thrown may leave: every function of weft.h that can fail runs inside guarded() or answer().
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/limits.hpp"
#include "weft.h"
#include "weft/weft.hpp"

namespace weft::c {
enum class nature : std::uint8_t { plain, reduction, resource };
}

struct weft_runtime {
  explicit weft_runtime(const weft::options& opt);

  weft::runtime rt;
  weft::detail::engine_base* engine = nullptr;
  std::thread::id maker = std::this_thread::get_id();
  bool modelled;
};

struct weft_handle : weft::handle_base {
  using nature = weft::c::nature;
  weft_handle(nature k, void* d, std::uint32_t u = 0) : kind(k), units(u), data(d) {
    if (k == nature::resource) state().group_start = u;
  }
  ~weft_handle() { state().drain(); }
  weft_handle(const weft_handle&) = delete;
  weft_handle& operator=(const weft_handle&) = delete;

  nature kind;
  std::uint32_t units;
  void* data;
  std::string text;  // its name
};

namespace weft::c {

// --- errors

// Who: a catch block. Keeps its exception's text for weft_last_error() and gives the status that tells of it.
[[nodiscard]] int told() noexcept;
[[nodiscard]] const char* last_error() noexcept;

// What weft_fail() throws when the body has returned.
struct task_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Work> int guarded(Work work) noexcept {
  try {
    work();
    return WEFT_OK;
  } catch (...) {
    return told();
  }
}

// The result of `work`, or `otherwise` if it throws.
template <class Result, class Work> Result answer(Result otherwise, Work work) noexcept {
  try {
    return work();
  } catch (...) {
    static_cast<void>(told());
    return otherwise;
  }
}

inline void require(bool right, const char* function, const char* what) {
  if (!right) [[unlikely]]
    throw error("weft: " + std::string(function) + ": " + what);
}

// Errors: weft::error if `size`, which a struct of the caller's says it has, or a byte behind what we know of it is not
// to be understood. name: of the struct.
void check_size(const void* given, std::size_t size, std::size_t known, const char* name);

// A struct of the caller's as this library knows it.
template <class Struct> const Struct& known_part(const Struct* given, const char* name) {
  if (given == nullptr || given->size != sizeof(Struct)) [[unlikely]]
    check_size(given, given == nullptr ? 0 : given->size, sizeof(Struct), name);
  return *given;
}

template <class T> T& given(T* p, const char* function) {
  require(p != nullptr, function,
          std::is_same_v<T, const weft_runtime> ? "the runtime is NULL" : "its argument is NULL");
  return *p;
}

// The runtime, if this thread may call it: a modelled machine would end the program otherwise.
template <class Runtime> Runtime& callable(Runtime* rt, const char* function) {
  require(rt != nullptr, function, "the runtime is NULL");
  require(!rt->modelled || rt->maker == std::this_thread::get_id(), function,
          "a runtime on a modelled machine is used only by the thread that made it");
  return *rt;
}

// --- reductions and tasks

// weft::reduction with the types taken out; see there for why this is right.
struct reduction_handle : weft_handle {
  reduction_handle(void* d, const weft_reduction& op) : weft_handle(nature::reduction, d), operation(op) {
    detail::register_reduction(state(), [](detail::handle_state& h) { of(h).apply_rest(); });
  }
  ~reduction_handle() {
    state().drain();
    detail::forget_reduction(state());
    if (left_over.raw != nullptr) destroy_buffer(left_over.raw);
  }
  reduction_handle(const reduction_handle&) = delete;
  reduction_handle& operator=(const reduction_handle&) = delete;

  [[nodiscard]] static reduction_handle& of(detail::handle_state& h) noexcept {
    return static_cast<reduction_handle&>(reinterpret_cast<weft::handle_base&>(h));
  }

  // Who: a task that reduces, with its engine: state().engine says the same, but others may be writing it.
  [[nodiscard]] void* take_part(detail::engine_base& e) {
    if (operation.apply == nullptr && e.try_exclusive(state())) return data;
    void* part = e.exchange(state(), left_over, nullptr);
    return part != nullptr ? part : make_buffer();
  }
  // Every round takes one buffer out of the world, so it ends. Errors: what merge throws; that buffer is lost.
  void give_part(detail::engine_base& e, void* part) {
    if (part == data) return e.release_exclusive(state());
    while (void* other = e.exchange(state(), left_over, part)) {
      part = e.exchange(state(), left_over, nullptr);
      if (part == nullptr) {
        part = other;
        continue;
      }
      const owner lost{*this, other};
      owner kept{*this, part};
      operation.merge(operation.context, part, other);
      kept.buffer = nullptr;
    }
  }

 private:
  struct owner {
    reduction_handle& of;
    void* buffer;
    ~owner() {
      if (buffer != nullptr) of.destroy_buffer(buffer);
    }
  };

  [[nodiscard]] void* make_buffer() {
    if (operation.buffer_bytes > base::array_bytes_max) throw std::bad_alloc();
    void* b = ::operator new(operation.buffer_bytes, alignment);
    if (operation.create == nullptr) return std::memset(b, 0, operation.buffer_bytes);
    try {
      operation.create(operation.context, b, data);
    } catch (...) {
      ::operator delete(b, alignment);
      throw;
    }
    return b;
  }
  void destroy_buffer(void* b) noexcept {
    if (operation.destroy != nullptr) operation.destroy(operation.context, b);
    ::operator delete(b, alignment);
  }
  // Who: the task that closes a group of reduces; nobody else touches the handle then.
  void apply_rest() {
    const owner rest{*this, std::exchange(left_over.raw, nullptr)};
    if (rest.buffer != nullptr)
      (operation.apply != nullptr ? operation.apply : operation.merge)(operation.context, data, rest.buffer);
  }

  static constexpr std::align_val_t alignment{64};
  const weft_reduction operation;
  detail::cell<void*> left_over;
};

// Who: weft_submit. Errors: weft::error for what cannot be meant; nothing is submitted then.
void submit_task(detail::engine_base& e, const weft_task& t);
// Who: the body of a task that submit_task made. Errors: weft::error anywhere else.
void fail_running_task(const char* message);
// The task whose body the calling thread runs, or nullptr.
[[nodiscard]] inline detail::record* running_task() noexcept {
  const detail::worker* w = detail::self_out_of_line();
  return w == nullptr ? nullptr : w->current;
}

}  // namespace weft::c
