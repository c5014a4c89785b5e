// Exceptions made where none may be thrown: the text of one needs memory, and the C++ runtime keeps some aside for
// std::bad_alloc, which takes its place.
#pragma once
#include <exception>
#include <new>

namespace weft::base {

template <class Make> [[nodiscard]] std::exception_ptr exception_or_bad_alloc(Make make) noexcept {
  try {
    return std::make_exception_ptr(make());
  } catch (const std::bad_alloc&) {
    return std::current_exception();
  }
}

}  // namespace weft::base
