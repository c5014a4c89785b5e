#include "model/toml_section.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

#include "base/near_name.hpp"
#include "base/printable.hpp"
#include "weft/error.hpp"

namespace weft::model {

namespace {

struct unit {
  const char* key;    // as it stands in the file
  const char* shown;  // as people write it
  double factor;      // to the quantity's own
};

// The limits are far beyond any machine: who meets one has the wrong unit.
struct dimension {
  const char* name;
  double least;
  double most;
  std::vector<unit> units;
};

const dimension& dimension_of(quantity q) {
  constexpr double kib = 1024;
  static const dimension all[] = {
      {"a time",
       0,
       1e15,
       {{"ps", "ps", 1}, {"ns", "ns", 1e3}, {"us", "us", 1e6}, {"ms", "ms", 1e9}, {"cycles", "cycles", 0}}},
      {"a size",
       0,
       1e15,
       {{"bytes", "bytes", 1}, {"KiB", "KiB", kib}, {"MiB", "MiB", kib * kib}, {"GiB", "GiB", kib * kib * kib}}},
      {"a rate", 0, 1e9, {{"GBps", "GB/s", 1}, {"MBps", "MB/s", 1e-3}}},
      {"a factor", 1e-6, 1e6, {{"x", "x", 1}}},
      {"a clock rate", 1e-3, 1e3, {{"GHz", "GHz", 1}, {"MHz", "MHz", 1e-3}}},
      {"a number", 1, 1e9, {{"count", "", 1}}},
      {"a power", 0, 1e6, {{"W", "W", 1}, {"mW", "mW", 1e-3}}},
      {"an energy per byte", 0, 1e9, {{"pJ_per_byte", "pJ/byte", 1}, {"pJ_per_bit", "pJ/bit", 8}}},
  };
  return all[static_cast<std::size_t>(q)];
}

std::string plain(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", x);
  return text;
}

// Messages are one line whatever a file holds.
std::string printable(std::string text) {
  constexpr std::size_t length_max = 200;
  if (text.size() > length_max) text = text.substr(0, length_max) + "...";
  return base::printable(text);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

const char* kind_of(const toml::node& n) {
  if (n.is_table()) return "a table";
  if (n.is_array()) return "a list";
  if (n.is_string()) return "a text";
  if (n.is_boolean()) return "true or false";
  return n.is_number() ? "a number" : "a date or time";
}

}  // namespace

void refuse_file(const std::string& file, std::size_t line, const std::string& key, const std::string& why) {
  throw error("weft: " + file + (line == 0 ? "" : ":" + std::to_string(line)) + ": " +
              (key.empty() ? "" : printable(key) + ": ") + why);
}

section::section(const toml::table& t, std::string path, reading& r, const section* above)
    : table_(&t), path_(std::move(path)), reading_(&r) {
  if (above != nullptr) inherited_ = above->inherited_;
  if (path_.empty()) return;
  if (const auto from = text("from")) inherited_ = {*from, ""};
  if (const auto why = text("why")) inherited_.why = *why;
}

std::string section::full(std::string_view key) const {
  return path_.empty() || key.empty() ? path_ + std::string(key) : path_ + "." + std::string(key);
}

void section::fail(std::string_view key, const std::string& why) const {
  const toml::node* n = key.empty() ? nullptr : table_->get(key);
  const toml::source_position at = (n != nullptr ? n->source() : table_->source()).begin;
  refuse_file(reading_->file, at.line, full(key), why);
}

std::vector<std::string> section::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : *table_) names.emplace_back(key.str());
  return names;
}

void section::only(std::initializer_list<std::string_view> allowed) const {
  const std::vector<std::string> known(allowed.begin(), allowed.end());
  for (const auto& [key, value] : *table_) {
    bool found = !path_.empty() && (key.str() == "from" || key.str() == "why");
    for (const std::string& k : known) found = found || key.str() == k;
    if (found) continue;
    const std::string near = base::did_you_mean(key.str(), known);
    fail(key.str(), "there is no such key" + (near.empty() ? "; there are: " + list_of(known) : near));
  }
}

std::optional<std::string> section::text(std::string_view key) const {
  const toml::node* n = table_->get(key);
  if (n == nullptr) return std::nullopt;
  if (const auto* s = n->as_string()) return s->get();
  fail(key, std::string("it must be a text in quotes, and is ") + kind_of(*n));
}

std::optional<bool> section::flag(std::string_view key) const {
  const toml::node* n = table_->get(key);
  if (n == nullptr) return std::nullopt;
  if (const auto* b = n->as_boolean()) return b->get();
  fail(key, std::string("it must be true or false, and is ") + kind_of(*n));
}

std::optional<std::vector<unsigned>> section::counts(std::string_view key) const {
  const toml::node* n = table_->get(key);
  if (n == nullptr) return std::nullopt;
  const toml::array* list = n->as_array();
  if (list == nullptr) fail(key, std::string("it must be a list of whole numbers, and is ") + kind_of(*n));
  std::vector<unsigned> all;
  for (const toml::node& one : *list) {
    const auto* number = one.as_integer();
    if (number == nullptr || number->get() < 0 || number->get() > 1'000'000)
      fail(key, "it must be a list of whole numbers from 0 to 1000000");
    all.push_back(static_cast<unsigned>(number->get()));
  }
  return all;
}

std::optional<std::vector<std::vector<unsigned>>> section::matrix(std::string_view key) const {
  const toml::node* n = table_->get(key);
  if (n == nullptr) return std::nullopt;
  const toml::array* rows = n->as_array();
  if (rows == nullptr) fail(key, std::string("it must be a list of rows, and is ") + kind_of(*n));
  std::vector<std::vector<unsigned>> all;
  for (const toml::node& row : *rows) {
    std::vector<unsigned>& into = all.emplace_back();
    const toml::array* numbers = row.as_array();
    if (numbers == nullptr) fail(key, "each row must be a list of whole numbers");
    for (const toml::node& one : *numbers) {
      const auto* number = one.as_integer();
      if (number == nullptr || number->get() < 0 || number->get() > 1'000)
        fail(key, "row " + std::to_string(all.size()) + " must hold whole numbers, 0 or more");
      into.push_back(static_cast<unsigned>(number->get()));
    }
  }
  return all;
}

std::optional<section> section::inside(std::string_view key) const {
  const toml::node* n = table_->get(key);
  if (n == nullptr) return std::nullopt;
  if (const toml::table* t = n->as_table()) return section(*t, full(key), *reading_, this);
  fail(key, std::string("it must be a table, and is ") + kind_of(*n));
}

std::vector<section> section::each(std::string_view key) const {
  std::vector<section> all;
  const toml::node* n = table_->get(key);
  if (n == nullptr) return all;
  const toml::array* list = n->as_array();
  if (list == nullptr) fail(key, std::string("it must be a list of tables, and is ") + kind_of(*n));
  for (const toml::node& one : *list) {
    const toml::table* t = one.as_table();
    if (t == nullptr) fail(key, "it must be a list of tables");
    all.emplace_back(*t, full(key) + "[" + std::to_string(all.size()) + "]", *reading_, this);
  }
  return all;
}

double section::in_range(std::string_view key, const toml::node& n, quantity q, double factor) const {
  const dimension& d = dimension_of(q);
  double value = 0;
  if (const auto* whole = n.as_integer()) {
    value = static_cast<double>(whole->get());
  } else if (const auto* broken = n.as_floating_point()) {
    value = broken->get();
  } else {
    fail(key, std::string("its value must be a number, and is ") + kind_of(n));
  }
  if (!std::isfinite(value)) fail(key, "its value must be a number, not infinite or nan");
  if (value < 0) fail(key, plain(value) + " cannot be: it is negative");
  const double own = value * factor;
  // No limit at all is a rate of 0; almost nothing would let a body last longer than modelled time does.
  constexpr double rate_least = 1e-6;
  if (q == quantity::rate && own > 0 && own < rate_least)
    fail(key,
         plain(value) + " cannot be a rate: it must be 0, for no limit, or at least " + plain(rate_least / factor));
  if (own < d.least || own > d.most)
    fail(key, plain(value) + " cannot be " + d.name + ": it must be from " + plain(d.least / factor) + " to " +
                  plain(d.most / factor));
  return own;
}

section::cited section::citation(std::string_view key, const toml::table& number) const {
  const section own(number, full(key), *reading_, this);
  const cited& c = own.inherited_;
  if (c.from.empty())
    fail(key,
         "it has no source: say from = \"...\" here or once for the table, with a key of [sources] or \"assumed\"");
  if (c.from == "assumed") {
    if (c.why.empty()) fail(key, "it is assumed, so say why = \"...\": how it came about");
    return c;
  }
  if (reading_->sources.find(c.from) == reading_->sources.end()) {
    std::vector<std::string> known{"assumed"};
    for (const auto& [name, s] : reading_->sources) known.push_back(name);
    fail(key, "from = \"" + printable(c.from) + "\" names no source" + base::did_you_mean(c.from, known));
  }
  return c;
}

void section::note(std::string_view key, std::string value, const cited& c) const {
  figure f{full(key), std::move(value), c.from, "", "", c.why};
  const auto source = reading_->sources.find(c.from);
  if (source != reading_->sources.end()) {
    f.source = source->second.text;
    f.date = source->second.date;
  }
  reading_->figures.push_back(std::move(f));
}

void section::cite(std::string_view key, const std::string& value) const { note(key, value, citation(key, *table_)); }

std::vector<double> section::measure(std::string_view key, quantity q, bool& list) const {
  const dimension& d = dimension_of(q);
  std::string allowed;
  for (const unit& u : d.units) allowed += (allowed.empty() ? "" : ", ") + std::string(u.key);
  const toml::table* t = table_->get(key)->as_table();
  if (t == nullptr)
    fail(key, std::string("it is ") + d.name + ", so write { " + d.units.front().key + " = ..., from = \"...\" }");
  const toml::node* value = nullptr;
  const unit* in = nullptr;
  for (const auto& [name, node] : *t) {
    if (name.str() == "from" || name.str() == "why") continue;
    const unit* known = nullptr;
    for (const unit& u : d.units)
      if (name.str() == u.key) known = &u;
    if (known == nullptr)
      fail(key, "'" + printable(std::string(name.str())) + "' is no unit of " + d.name + ": " + allowed);
    if (in != nullptr) fail(key, std::string("it has two values, in ") + in->key + " and in " + known->key);
    in = known;
    value = &node;
  }
  if (in == nullptr) fail(key, std::string("its value is missing: one of ") + allowed + " = ...");
  const double factor = in->factor == 0 ? 1e3 / reading_->ghz : in->factor;  // cycles
  std::vector<double> all;
  std::string shown;
  list = value->is_array();
  const auto take = [&](const toml::node& n) {
    all.push_back(in_range(key, n, q, factor));
    shown += (shown.empty() ? "" : ", ") + plain(all.back() / factor);
  };
  if (const toml::array* several = value->as_array())
    for (const toml::node& n : *several) take(n);
  else
    take(*value);
  note(key, *in->shown == '\0' ? shown : shown + " " + in->shown, citation(key, *t));
  return all;
}

std::optional<double> section::number(std::string_view key, quantity q) const {
  if (!has(key)) return std::nullopt;
  bool list = false;
  const std::vector<double> all = measure(key, q, list);
  if (list) fail(key, "it must be one number, not a list");
  return all.front();
}

std::optional<std::vector<double>> section::numbers(std::string_view key, quantity q, std::size_t size,
                                                    const std::string& what) const {
  if (!has(key)) return std::nullopt;
  bool list = false;
  std::vector<double> all = measure(key, q, list);
  if (all.size() != size)
    fail(key, "it has " + std::to_string(all.size()) + (all.size() == 1 ? " value" : " values") + " and must have " +
                  std::to_string(size) + ", " + what);
  return all;
}

}  // namespace weft::model
