// See page.hpp. The numbers are in the page as JSON, and whatif.js draws them.
#include "page.hpp"

#include "assets.hpp"
#include "tools/weft/output_file.hpp"

namespace weft::tool::sim {

namespace {

// JSON inside a script element: nothing in it may end that element.
std::string inside_html(const json& object) {
  std::string out;
  for (const char c : object.text(-1, true)) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

}  // namespace

void write_page(const std::string& path, const std::string& target, const std::vector<row>& rows,
                const std::vector<advice>& all, const fidelity* error) {
  json list = json::array();
  for (const row& r : rows) list.push_back(to_json(r));
  const json data = {{"target", target},
                     {"rows", list},
                     {"advice", to_json(all)},
                     {"fidelity", error == nullptr ? json(nullptr) : to_json(*error)}};
  std::string page(assets::whatif_html);
  const auto put = [&page](std::string_view mark, std::string_view text) {
    const std::size_t at = page.find(mark);
    if (at != std::string::npos) page.replace(at, mark.size(), text);
  };
  put("/* style */", assets::whatif_css);
  put("/* script */", assets::whatif_js);
  put("{/* data */}", inside_html(data));
  write_whole("--html", path, page);
}

}  // namespace weft::tool::sim
