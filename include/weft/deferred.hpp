// Data of a handle whose memory is taken when the first task writes it, on the node where that task runs (OpenStream
// §3):
//
//   weft::handle<weft::deferred<double>> block{n};
//   rt.submit(weft::write(block), [](weft::deferred<double>& b) { fill(b.get()); });
//   rt.submit(weft::read(block), [](const weft::deferred<double>& b) { use(b.get()); });
//
// A program that makes a million such handles first uses memory for those that were written. drop() gives it back, from
// the last task that needs it. For data that goes from one task to the next and is then no more, a stream does all that
// by itself (weft/stream.hpp).
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

#include "weft/error.hpp"
#include "weft/node_memory.hpp"

namespace weft {

namespace detail {
[[noreturn]] void throw_never_written(std::size_t n);  // weft::error
}

template <class T> class deferred {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && std::is_default_constructible_v<T>,
                "weft: deferred data are objects that can be made by default");

 public:
  using value_type = T;
  // n elements, which take no memory yet.
  explicit deferred(std::size_t n) noexcept : size_(n) {}
  ~deferred() { drop(); }
  deferred(const deferred&) = delete;
  deferred& operator=(const deferred&) = delete;

  // The elements. The first call takes the memory, here, and makes them; those of plain types have no values yet.
  // Who: a task that writes the handle. Errors: std::bad_alloc; what making an element throws, and then nothing is
  // there.
  [[nodiscard]] std::span<T> get() {
    if (data_ == nullptr && size_ != 0) take();
    return {data_, size_};
  }
  // Who: a task that reads it. Errors: weft::error if nobody has written them.
  [[nodiscard]] std::span<const T> get() const {
    if (data_ == nullptr && size_ != 0) [[unlikely]]
      detail::throw_never_written(size_);
    return {data_, size_};
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_there() const noexcept { return data_ != nullptr; }
  // Ends the elements and gives the memory back. Who: as the first get().
  void drop() noexcept {
    if (data_ == nullptr) return;
    end(size_);
  }

 private:
  void take() {
    if (size_ > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    data_ = static_cast<T*>(detail::take_here(size_ * sizeof(T), alignof(T)));
    if constexpr (!std::is_trivially_default_constructible_v<T>) {
      std::size_t made = 0;
      try {
        for (; made < size_; ++made) new (data_ + made) T();
      } catch (...) {
        end(made);
        throw;
      }
    }
  }
  void end(std::size_t made) noexcept {
    for (std::size_t i = 0; i < made; ++i) data_[i].~T();
    detail::give_back(data_, size_ * sizeof(T), alignof(T));
    data_ = nullptr;
  }

  T* data_ = nullptr;
  std::size_t size_;
};

}  // namespace weft
