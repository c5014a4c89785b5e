// A variable that one thread hands over to another, with something else that orders the two. It is a plain T, at no
// cost. In a test of weak memory (tests/weak) each access is watched: two of them, one a write, that do not happen one
// before the other are reported with both places.
#pragma once
#include <utility>

#include "weft/detail/cell.hpp"

namespace weft::base {

template <class T> class plain {
 public:
  constexpr plain() = default;
  constexpr explicit plain(T value) : value_(std::move(value)) {}

#ifdef WEFT_CELL_WORDS
  using place = detail::place_in_code;
  [[nodiscard]] const T& read(const place& at = place::current()) const {
    weak::touch_plain(&value_, false, at);
    return value_;
  }
  [[nodiscard]] T& write(const place& at = place::current()) {
    weak::touch_plain(&value_, true, at);
    return value_;
  }
#else
  [[nodiscard]] const T& read() const noexcept { return value_; }
  [[nodiscard]] T& write() noexcept { return value_; }
#endif

 private:
  T value_{};
};

}  // namespace weft::base
