// The one exception type Weft throws itself: what went wrong, where, and what to do about it, in one sentence each.
// Exceptions thrown by task bodies are not wrapped: the enclosing wait rethrows them as they were.
// It is a std::exception, and no std::runtime_error: <stdexcept> has all of <string> in it, which is half of what
// including Weft would cost.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace weft {

namespace detail {

// A text on the heap, up to its first 0. What cannot be copied for want of memory is lost, since to copy an exception
// must not throw.
class kept_text {
 public:
  explicit kept_text(const char* text) noexcept : text_(copy_of(text)) {}
  kept_text(const kept_text& other) noexcept : text_(copy_of(other.text_)) {}
  kept_text(kept_text&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}
  kept_text& operator=(kept_text other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  ~kept_text() { ::operator delete(text_); }
  [[nodiscard]] const char* c_str() const noexcept {
    return text_ != nullptr ? text_ : "weft: an error; its text was moved away, or no memory was left for it";
  }

 private:
  [[nodiscard]] static char* copy_of(const char* text) noexcept {
    if (text == nullptr) return nullptr;
    const std::size_t bytes = __builtin_strlen(text) + 1;
    void* const to = ::operator new(bytes, std::nothrow);
    return to == nullptr ? nullptr : static_cast<char*>(__builtin_memcpy(to, text, bytes));
  }

  char* text_;
};

}  // namespace detail

class error : public std::exception {
 public:
  // Of a text that ends with 0, or of a std::string; it is copied.
  explicit error(const char* text) noexcept : text_(text) {}
  template <class String>
    requires requires(const String& s) { static_cast<const char*>(s.c_str()); }
  explicit error(const String& text) noexcept : text_(text.c_str()) {}

  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  detail::kept_text text_;
};

}  // namespace weft
