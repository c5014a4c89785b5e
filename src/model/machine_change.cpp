#include "model/machine_change.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::model {

namespace {

// { cycles = 5 }, { ns = [1, 2] }: against a table of further keys. What the file has there tells a list of figures,
// network.sides, from a figure: no figure has tables in it.
bool is_number(const toml::table& t, const toml::node* in_file) {
  const toml::table* const there = in_file == nullptr ? nullptr : in_file->as_table();
  if (there != nullptr && std::any_of(there->begin(), there->end(), [](const auto& e) { return e.second.is_table(); }))
    return false;
  return std::any_of(t.begin(), t.end(),
                     [](const auto& entry) { return entry.second.is_number() || entry.second.is_array(); });
}

void assign(toml::table& into, std::string_view key, const toml::node& value) {
  WEFT_ASSERT(!key.empty());
  value.visit([&](const auto& v) { into.insert_or_assign(key, v); });
}

void merge(toml::table& into, const toml::table& change) {
  for (const auto& [key, value] : change) {
    const toml::table* inner = value.as_table();
    toml::node* here = into.get(key);
    if (inner == nullptr) {
      assign(into, key, value);
    } else if (is_number(*inner, here)) {
      toml::table number = *inner;
      if (!number.contains("from")) {
        number.insert("from", "assumed");
        number.insert("why", "given by the option model.change");
      }
      assign(into, key, number);
    } else {
      if (here == nullptr || !here->is_table()) assign(into, key, toml::table{});
      merge(*into.get(key)->as_table(), *inner);
    }
  }
}

}  // namespace

void apply_change(toml::table& file, const toml::table& change) {
  toml::table own = change;
  if (toml::table* family = file["family"].as_table())
    if (toml::array* machines = (*family)["variants"].as_array())
      if (const toml::table* topology = own["topology"].as_table()) {
        for (toml::node& one : *machines)
          if (toml::table* t = one.as_table()) merge(*t, *topology);
        own.erase("topology");
      }
  merge(file, own);
}

}  // namespace weft::model
