// See page.hpp. The numbers are in the page as JSON, and whatif.js draws them.
#include "page.hpp"

#include <fstream>

#include "assets.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::sim {

namespace {

// JSON inside a script element: nothing in it may end that element.
std::string inside_html(const json& object) {
  std::string out;
  for (const char c : object.text(-1, true)) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

}  // namespace

void write_page(const std::string& path, const std::string& target, const std::vector<json>& rows,
                const std::vector<advice>& all) {
  json told = json::array();
  for (const advice& a : all) told.push_back({{"kind", a.kind}, {"text", a.text}});
  const json data = {{"target", target}, {"rows", rows}, {"advice", told}};
  std::string page(assets::whatif_html);
  const auto put = [&page](std::string_view mark, std::string_view text) {
    const std::size_t at = page.find(mark);
    if (at != std::string::npos) page.replace(at, mark.size(), text);
  };
  put("/* style */", assets::whatif_css);
  put("/* script */", assets::whatif_js);
  put("{/* data */}", inside_html(data));
  std::ofstream file(path, std::ios::binary);
  file << page << std::flush;
  if (!file) throw output_error("cannot write " + path);
}

}  // namespace weft::tool::sim
