// The report as one HTML file that needs nothing else: page.html, page.css and the scripts beside this file, put into
// the tool at build time, and the run as packed columns. Names come from the traced program and may be anything, so
// they only ever enter as JSON in which no "<" is left, and the scripts only show them as text.
#pragma once
#include "analysis.hpp"

namespace weft::tool::report {

// Replaces the file. Errors: weft::error with the file and the reason; then there is no file.
void write_page(const std::string& path, const trace::file& r, const analysis& a);

}  // namespace weft::tool::report
