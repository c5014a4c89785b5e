// The files of the page, as they were when the tool was built (cmake/embed.cmake writes their bytes into a source).
#pragma once
#include <string_view>

namespace weft::tool::sim::assets {

extern const std::string_view whatif_html;
extern const std::string_view whatif_css;
extern const std::string_view whatif_js;

}  // namespace weft::tool::sim::assets
