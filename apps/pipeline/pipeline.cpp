#include "pipeline.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace weft::apps::pipeline {

check each_once(std::span<const std::uint8_t> ran) {
  const auto once = static_cast<std::size_t>(std::ranges::count(ran, std::uint8_t{1}));
  return {"each_body_once", once == ran.size(), std::to_string(once) + " bodies of " + std::to_string(ran.size())};
}

check at_most(std::string name, double found, double allowed) {
  char text[80];
  std::snprintf(text, sizeof text, "off by %.2g, allowed are %.2g", found, allowed);
  return {std::move(name), found <= allowed, text};
}

}  // namespace weft::apps::pipeline
