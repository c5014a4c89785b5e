// A directed graph in the language of Graphviz: nodes and edges with their attributes, whatever subgraphs they are in.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "dot_words.hpp"

namespace weft::tool::foreign {

using attributes = std::vector<std::pair<std::string, std::string>>;
// "" if there is none of that name.
[[nodiscard]] std::string_view attribute(const attributes& all, std::string_view name) noexcept;

struct dot_node {
  std::string id;
  std::uint32_t line;
  attributes of;
};

struct dot_edge {
  std::uint32_t before, after;  // in nodes
  std::uint32_t line;
  attributes of;
};

struct dot_file {
  std::string name;
  std::vector<dot_node> nodes;  // in the order in which they are met
  std::vector<dot_edge> edges;
};

// Errors: weft::error with the line; of a graph without directions, too.
[[nodiscard]] dot_file read_dot_file(const source& from, const std::function<void(double)>& tell);

}  // namespace weft::tool::foreign
