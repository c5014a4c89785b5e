// The words of the language of Graphviz: names, numbers, quoted and HTML texts, and signs; without comments.
#pragma once
#include <string>

#include "source.hpp"

namespace weft::tool::foreign {

struct dot_word {
  enum class what : std::uint8_t { name, sign, end } kind = what::end;
  std::string text;        // of a sign: "{", "}", "[", "]", ";", ",", "=", ":", "->", "--"
  std::uint32_t line = 1;  // where it begins
  bool is_quoted = false;  // then it is no keyword

  [[nodiscard]] bool is(std::string_view sign) const noexcept { return kind == what::sign && text == sign; }
  // Keywords are the same in capitals.
  [[nodiscard]] bool is_keyword(std::string_view word) const noexcept;
};

class dot_words {
 public:
  explicit dot_words(const source& from) : from_(from), text_(from.text()) {}
  // The next word. Errors: weft::error with the line.
  [[nodiscard]] dot_word next();
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  void skip();
  void skip_to(std::string_view end, const char* what);
  void quoted(dot_word& into);
  void html(dot_word& into);

  const source& from_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace weft::tool::foreign
