// See dot_file.hpp. A descent over the grammar, which is small: a body is a list of statements, each of which begins
// with a word that says what it is. Subgraphs are bodies in bodies; the edges of one are those of all that is in it.
#include "dot_file.hpp"

#include <algorithm>

#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

constexpr unsigned depth_max = 200;  // of subgraphs, so that no file can use up the stack

void set(attributes& all, const std::string& name, const std::string& value) {
  for (auto& [key, was] : all)
    if (key == name) {
      was = value;
      return;
    }
  all.emplace_back(name, value);
}

class dot_parser {
 public:
  dot_parser(const source& from, const std::function<void(double)>& tell) : from_(from), tell_(tell), words_(from) {}

  dot_file parse() {
    advance();
    if (word_.is_keyword("strict")) advance();
    if (word_.is_keyword("graph"))
      fail("the edges of a graph have no direction, so nobody knows who waits; a digraph with -> is needed");
    if (!word_.is_keyword("digraph")) fail("a DOT file begins with digraph");
    advance();
    if (word_.kind == dot_word::what::name) {
      out_.name = word_.text;
      advance();
    }
    body({}, {}, 0);
    if (word_.kind != dot_word::what::end) fail("there is more behind the end of the graph");
    return std::move(out_);
  }

 private:
  using set_of_nodes = std::vector<std::uint32_t>;

  void advance() {
    word_ = words_.next();
    if (++seen_ % 65536 == 0) tell_(static_cast<double>(words_.at()) / static_cast<double>(from_.text().size()));
  }
  [[noreturn]] void fail(const std::string& what) const { from_.fail_at(word_.line, what); }
  void expect(std::string_view sign, const char* why) {
    if (!word_.is(sign)) {
      const std::string found =
          word_.kind == dot_word::what::end ? "the end of the file" : "'" + printable(word_.text, name_width_max) + "'";
      fail("here must be " + std::string(sign) + " " + why + ", and there is " + found);
    }
    advance();
  }
  std::string name(const char* why) {
    if (word_.kind != dot_word::what::name) fail(std::string("here must be ") + why);
    std::string text = std::move(word_.text);
    advance();
    return text;
  }

  // What is in braces, with the defaults of around it. Returns its nodes.
  set_of_nodes body(attributes node, attributes edge, unsigned depth) {
    if (depth > depth_max) fail("subgraphs lie deeper in each other than " + std::to_string(depth_max));
    expect("{", "that begins a graph");
    set_of_nodes all;
    while (!word_.is("}")) {
      if (word_.kind == dot_word::what::end) fail("the graph is not ended: a } is missing; the file was cut off");
      statement(node, edge, all, depth);
      while (word_.is(";") || word_.is(",")) advance();
    }
    advance();
    return all;
  }

  void statement(attributes& node, attributes& edge, set_of_nodes& all, unsigned depth) {
    if (word_.is_keyword("node")) return defaults(node);
    if (word_.is_keyword("edge")) return defaults(edge);
    attributes ignored;
    if (word_.is_keyword("graph")) return defaults(ignored);
    bool is_node = false;
    const std::uint32_t line = word_.line;
    if (word_.kind == dot_word::what::name && !word_.is_keyword("subgraph")) {
      std::string id = name("the name of a node");
      if (word_.is("=")) {  // an attribute of the graph
        advance();
        static_cast<void>(name("a value"));
        return;
      }
      chain({node_of(std::move(id), line, node)}, is_node = true, node, edge, all, depth, line);
    } else {
      chain(subgraph(node, edge, depth), is_node, node, edge, all, depth, line);
    }
  }

  void defaults(attributes& of) {
    advance();
    list(of);
  }

  set_of_nodes subgraph(const attributes& node, const attributes& edge, unsigned depth) {
    if (word_.is_keyword("subgraph")) {
      advance();
      if (word_.kind == dot_word::what::name) advance();
      if (!word_.is("{")) return {};  // one that was there before, by its name
    }
    return body(node, edge, depth + 1);
  }

  std::uint32_t node_of(std::string id, std::uint32_t line, const attributes& defaults) {
    while (word_.is(":")) {  // where at the node an edge ends
      advance();
      static_cast<void>(name("a port"));
    }
    const auto [at, fresh] = known_.try_emplace(std::move(id), static_cast<std::uint32_t>(out_.nodes.size()));
    if (fresh) out_.nodes.push_back({at->first, line, defaults});
    return at->second;
  }

  // A node, or what else edges go on from.
  void chain(set_of_nodes from, bool is_node, const attributes& node, const attributes& edge, set_of_nodes& all,
             unsigned depth, std::uint32_t line) {
    const std::size_t first = out_.edges.size();
    all.insert(all.end(), from.begin(), from.end());
    bool has_edges = false;
    while (word_.is("->") || word_.is("--")) {
      if (word_.is("--")) fail("an edge of a digraph is ->");
      advance();
      set_of_nodes to;
      if (word_.kind == dot_word::what::name && !word_.is_keyword("subgraph")) {
        const std::uint32_t at = word_.line;
        std::string id = name("the name of a node");
        to = {node_of(std::move(id), at, node)};
      } else {
        to = subgraph(node, edge, depth);
      }
      constexpr std::size_t edges_at_once_max = 1 << 24;
      if (from.size() * to.size() > edges_at_once_max) fail("too many edges from subgraph to subgraph");
      for (const std::uint32_t b : from)
        for (const std::uint32_t a : to) out_.edges.push_back({b, a, line, edge});
      all.insert(all.end(), to.begin(), to.end());
      from = std::move(to);
      has_edges = true;
    }
    attributes own;
    list(own);
    for (const auto& [key, value] : own) {
      for (std::size_t e = first; e < out_.edges.size(); ++e) set(out_.edges[e].of, key, value);
      if (!has_edges && is_node) set(out_.nodes[from[0]].of, key, value);
    }
  }

  // [a=1, b=2][c]
  void list(attributes& into) {
    while (word_.is("[")) {
      advance();
      while (!word_.is("]")) {
        const std::string key = name("an attribute, or a ]");
        std::string value = "true";
        if (word_.is("=")) {
          advance();
          value = name("a value");
        }
        set(into, key, value);
        while (word_.is(";") || word_.is(",")) advance();
      }
      advance();
    }
  }

  const source& from_;
  const std::function<void(double)>& tell_;
  dot_words words_;
  dot_word word_;
  dot_file out_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::uint64_t seen_ = 0;
};

}  // namespace

std::string_view attribute(const attributes& all, std::string_view name) noexcept {
  for (const auto& [key, value] : all)
    if (key == name) return value;
  return {};
}

dot_file read_dot_file(const source& from, const std::function<void(double)>& tell) {
  return dot_parser(from, tell).parse();
}

}  // namespace weft::tool::foreign
