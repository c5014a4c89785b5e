// See graph.hpp.
#include "graph.hpp"

#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

// The number of a text in a list of different ones.
template <class Numbers, class Make>
index intern(Numbers& known, std::string_view text, std::size_t next, const Make& make) {
  if (const auto at = known.find(text); at != known.end()) return at->second;
  known.emplace(std::string(text), static_cast<index>(next));
  make();
  return static_cast<index>(next);
}

}  // namespace

index graph::add(std::string_view id, std::string_view name, ns duration, index place) {
  if (tasks.size() == tasks_max) from_.fail("has more tasks than " + std::to_string(tasks_max));
  const auto number = static_cast<index>(tasks.size());
  const auto [at, fresh] = by_id_.try_emplace(std::string(id), number);
  if (!fresh) from_.fail_at(place, "there is a " + called(at->second) + " already; every task needs an id of its own");
  index name_number = none;
  if (!name.empty()) name_number = intern(by_name_, name, names.size(), [&] { names.emplace_back(name); });
  tasks.push_back({number, name_number, place, duration});
  ids.emplace_back(id);
  return number;
}

index graph::find(std::string_view id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? none : at->second;
}

index graph::datum_of(std::string_view name) {
  return intern(by_datum_, name, data.size(), [&] { data.push_back({std::string(name)}); });
}

void graph::order(index before, index after) {
  if (before == after) from_.fail_at(tasks[after].place, called(after) + " is to come after itself");
  if (edges.size() == edges_max) from_.fail("has more edges than " + std::to_string(edges_max));
  edges.push_back({before, after});
}

std::string graph::called(index t) const {
  return "task '" + printable(id_of(t), name_width_max) + "' (" + from_.place_text(tasks[t].place) + ")";
}

}  // namespace weft::tool::foreign
