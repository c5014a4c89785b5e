// See dot_words.hpp.
#include "dot_words.hpp"

#include <algorithm>

#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool is_digit(char c) noexcept { return (c >= '0' && c <= '9') || c == '.'; }
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool dot_word::is_keyword(std::string_view word) const noexcept {
  return kind == what::name && !is_quoted && std::ranges::equal(text, word, {}, lower);
}

void dot_words::skip_to(std::string_view end, const char* what) {
  const std::size_t found = text_.find(end, at_);
  if (found == std::string_view::npos) {
    if (what != nullptr) from_.fail_at(line_, std::string(what) + " that begins there never ends");
    at_ = text_.size();
    return;
  }
  line_ += static_cast<std::uint32_t>(std::ranges::count(text_.substr(at_, found - at_), '\n'));
  at_ = found + end.size();
}

// Blanks and comments; a line that begins with # is one, too.
void dot_words::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '#' && (at_ == 0 || text_[at_ - 1] == '\n')) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_).starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_).starts_with("/*")) {
      at_ += 2;
      skip_to("*/", "a comment");
    } else {
      return;
    }
  }
}

dot_word dot_words::next() {
  skip();
  dot_word word;
  word.line = line_;
  if (at_ == text_.size()) return word;
  const char c = text_[at_];
  const std::string_view rest = text_.substr(at_);
  if (c == '"') {
    quoted(word);
  } else if (c == '<') {
    html(word);
  } else if (rest.starts_with("->") || rest.starts_with("--")) {
    word.kind = dot_word::what::sign;
    word.text = rest.substr(0, 2);
    at_ += 2;
  } else if (std::string_view("{}[];,=:").find(c) != std::string_view::npos) {
    word.kind = dot_word::what::sign;
    word.text = c;
    ++at_;
  } else if (is_letter(c) || is_digit(c) || c == '-') {
    const auto goes_on = [digits = !is_letter(c)](char x) { return is_digit(x) || (!digits && is_letter(x)); };
    std::size_t end = 1;
    while (end < rest.size() && goes_on(rest[end])) ++end;
    word.kind = dot_word::what::name;
    word.text = rest.substr(0, end);
    at_ += end;
  } else {
    from_.fail_at(line_, std::string("'") + printable(rest.substr(0, 1), 8) + "' is nothing that DOT knows");
  }
  return word;
}

// Texts may be joined by a plus. \" is a quote; a \ at the end of a line joins two lines; other escapes are for labels.
void dot_words::quoted(dot_word& into) {
  into.kind = dot_word::what::name;
  into.is_quoted = true;
  for (;;) {
    const std::uint32_t begun = line_;
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) from_.fail_at(begun, "a quote that begins there never ends");
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\n') ++line_;
      if (c == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\n')) {
        ++at_;
        if (text_[at_] == '\n')
          ++line_;
        else
          into.text += '"';
        continue;
      }
      into.text += c;
    }
    ++at_;
    const std::size_t behind = at_;
    const std::uint32_t line = line_;
    skip();
    if (at_ < text_.size() && text_[at_] == '+') {
      ++at_;
      skip();
      if (at_ < text_.size() && text_[at_] == '"') continue;
      from_.fail_at(line_, "a + joins two quoted texts, and none follows");
    }
    at_ = behind;
    line_ = line;
    return;
  }
}

void dot_words::html(dot_word& into) {
  into.kind = dot_word::what::name;
  into.is_quoted = true;
  const std::uint32_t begun = line_;
  std::size_t depth = 0;
  do {
    if (at_ >= text_.size()) from_.fail_at(begun, "a text in < > that begins there never ends");
    const char c = text_[at_++];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (c == '\n') ++line_;
    into.text += c;
  } while (depth != 0);
}

}  // namespace weft::tool::foreign
