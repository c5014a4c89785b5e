// The files of the page, as they were when the tool was built (cmake/embed.cmake writes their bytes into a source).
#pragma once
#include <string_view>

namespace weft::tool::report::assets {

extern const std::string_view page_html;
extern const std::string_view page_css;
extern const std::string_view data_js;
extern const std::string_view coverage_js;
extern const std::string_view timeline_js;
extern const std::string_view curves_js;
extern const std::string_view selection_js;
extern const std::string_view page_js;
extern const std::string_view input_js;

}  // namespace weft::tool::report::assets
