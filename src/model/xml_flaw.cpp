#include "model/xml_flaw.hpp"

#include <algorithm>
#include <vector>

namespace weft::model {

namespace {

constexpr std::string_view spaces = " \t\r\n";

class scan {
 public:
  explicit scan(std::string_view text) : text_(text) {}

  std::optional<xml_flaw> run() {
    while (!found_ && (at_ = text_.find('<', at_)) != std::string_view::npos) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("<!--"))
        pass("-->", "a comment");
      else if (rest.starts_with("<?"))
        pass("?>", "what begins with <?");
      else if (rest.starts_with("<!"))
        pass(">", "what begins with <!");
      else
        element();
    }
    if (!found_ && !open_.empty()) report(open_.back().at, "<" + open_.back().name + "> does not end");
    if (!found_ && !has_topology_) report(0, "there is no <topology>");
    return found_;
  }

 private:
  struct begun {
    std::string name;
    std::size_t at;
  };
  void report(std::size_t at, std::string what) {
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    found_ = {static_cast<std::size_t>(lines) + 1, std::move(what)};
  }
  void pass(std::string_view end, const char* what) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return report(at_, std::string(what) + " does not end");
    at_ = found + end.size();
  }

  void element() {
    const std::size_t end = end_of_element();
    if (end == std::string_view::npos) return report(at_, "an element does not end");
    const bool closes = text_[at_ + 1] == '/';
    const std::size_t from = at_ + (closes ? 2 : 1);
    const std::size_t name_end = std::min({text_.find_first_of(spaces, from), text_.find('/', from), end});
    const std::string name(text_.substr(from, name_end - from));
    if (name.empty()) return report(at_, "an element has no name");
    if (closes) {
      if (open_.empty() || open_.back().name != name)
        return report(at_, "</" + name + "> ends what has not begun" +
                               (open_.empty() ? "" : "; <" + open_.back().name + "> is open"));
      open_.pop_back();
    } else {
      has_topology_ = has_topology_ || name == "topology";
      sets(name_end, end);
      if (text_[end - 1] != '/') open_.push_back({name, at_});
    }
    at_ = end + 1;
  }
  // Of the element that begins here: its '>', beyond all quotes.
  [[nodiscard]] std::size_t end_of_element() const {
    char quote = 0;
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != 0)
        quote = c == quote ? '\0' : quote;
      else if (c == '"' || c == '\'')
        quote = c;
      else if (c == '>')
        return i;
      else if (c == '<')
        break;
    }
    return std::string_view::npos;
  }
  // The attributes cpuset, complete_nodeset and their like, between there and there.
  void sets(std::size_t from, std::size_t end) {
    constexpr std::string_view key = "set=\"";
    for (std::size_t i = from; !found_ && (i = text_.find(key, i)) < end; i += key.size()) {
      const std::size_t begin = i + key.size(), close = text_.find('"', begin);
      const std::string_view value = text_.substr(begin, close - begin);
      if (!is_set(value)) report(i, "\"" + std::string(value.substr(0, shown_max)) + "\" is no set of numbers");
    }
  }
  // 32 bits each, greatest first: 0x0000000f,,0xffffffff; what is left out is 0, and 0xf...f has no end.
  [[nodiscard]] static bool is_set(std::string_view value) {
    while (true) {
      const std::size_t comma = std::min(value.find(','), value.size());
      std::string_view part = value.substr(0, comma);
      if (part.starts_with("0x")) part.remove_prefix(2);
      if (part != "f...f" && part.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return false;
      if (comma == value.size()) return true;
      value.remove_prefix(comma + 1);
    }
  }

  static constexpr std::size_t shown_max = 40;
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<begun> open_;
  bool has_topology_ = false;
  std::optional<xml_flaw> found_;
};

}  // namespace

std::optional<xml_flaw> first_flaw(std::string_view text) { return scan(text).run(); }

}  // namespace weft::model
