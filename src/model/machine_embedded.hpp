// The files of machines/, as they were when the library was built (cmake/embed.cmake writes their bytes into a source).
#pragma once
#include <span>
#include <string_view>

namespace weft::model {

struct embedded_file {
  std::string_view name;
  std::string_view text;
};
extern const std::span<const embedded_file> embedded_machines;  // by name

}  // namespace weft::model
