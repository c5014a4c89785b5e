#include "dot_file.hpp"

#include <doctest/doctest.h>

#include "weft/error.hpp"

namespace weft::tool::foreign {

namespace {

dot_file read(const std::string& text) {
  return read_dot_file(source("x.dot", text), [](double) {});
}

std::string drawn(const dot_file& f) {
  std::string all;
  for (const dot_node& n : f.nodes) {
    all += n.id;
    for (const auto& [key, value] : n.of) all += "," + key + "=" + value;
    all += " ";
  }
  for (const dot_edge& e : f.edges) {
    all += f.nodes[e.before].id + ">" + f.nodes[e.after].id;
    for (const auto& [key, value] : e.of) all += "," + key + "=" + value;
    all += " ";
  }
  return all;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const weft::error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("import: DOT has defaults, chains, subgraphs and words of every kind") {
  CHECK(drawn(read("strict digraph g { a -> b -> c [w=1, v]; }")) == "a b c a>b,w=1,v=true b>c,w=1,v=true ");
  CHECK(drawn(read("digraph{node[w=2]a;subgraph s{node[w=3]b}c}")) == "a,w=2 b,w=3 c,w=2 ");
  CHECK(drawn(read("digraph { {a b} -> subgraph { c; d } }")) == "a b c d a>c a>d b>c b>d ");
  CHECK(drawn(read("digraph { \"a \\\"b\\\"\" [l=\"x\" + \"y\\\nz\"] -1.5 <i<b>> }")) == "a \"b\",l=xyz -1.5 <i<b>> ");
  CHECK(drawn(read("# no\ndigraph { // no\n a:port:n -> b /* no */ ; rank=same; edge [x=1] b->a }")) ==
        "a b a>b b>a,x=1 ");
  CHECK(drawn(read("digraph { a; a [w=1]; a [w=2] }")) == "a,w=2 ");
  CHECK(read("DiGraph \"the name\" {}").name == "the name");
}

TEST_CASE("import: DOT that is none is refused with the line") {
  const auto says = [](const std::string& text, const char* part) {
    CAPTURE(refusal(text));
    CHECK(refusal(text).find(part) != std::string::npos);
  };
  says("graph { a -- b }", "x.dot: line 1: the edges of a graph have no direction");
  says("digraph {\n\n a -- b }", "line 3: an edge of a digraph is ->");
  says("digraph { a -> }", "line 1: here must be {");
  says("digraph { a [w= ] }", "line 1: here must be a value");
  says("digraph {\n a /* \n", "line 2: a comment that begins there never ends");
  says("digraph { a } b", "line 1: there is more behind the end");
  says("digraph { \x01 }", "line 1: '?' is nothing that DOT knows");
  says("digraph " + std::string(100'000, '{'), "lie deeper");
}

}  // namespace weft::tool::foreign
