// See settings.hpp.
#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>

namespace weft::tool::sim {

namespace {

constexpr std::string_view prefix = "WEFT_";
// Those of a runtime, with the field that a message of the library names.
constexpr std::pair<const char*, const char*> known[] = {
    {"WORKERS", "workers"},     {"MACHINE", "machine"},  {"POLICY", "policy"},       {"SEED", "seed"},
    {"SCHEDULE", "schedule"},   {"MODE", "mode"},        {"BODY", "body"},           {"BODY_SCALE", "body_scale"},
    {"CORE", "core"},           {"WINDOW", "window"},    {"SEARCH_US", "search_us"}, {"STACK_KIB", "stack_kib"},
    {"CREATION", "creation"},   {"CREATOR", "creator"},  {"PAUSED", "paused"},       {"TRACE", "trace"},
    {"TRACE_MIB", "trace_mib"}, {"COUNTERS", "counters"}};

using map = std::map<std::string, std::string, std::less<>>;

// What the environment had when it was first asked.
const map& inherited() {
  static const map all = [] {
    map found;
    for (const auto& [name, field] : known)
      if (const char* const set = std::getenv((std::string(prefix) + name).c_str()); set != nullptr && *set != '\0')
        found.emplace(name, set);
    return found;
  }();
  return all;
}

bool is_known(std::string_view entry) {
  return std::ranges::any_of(known,
                             [entry](const auto& k) { return entry.starts_with(std::string(prefix) + k.first + "="); });
}

}  // namespace

void settings::hold_environment() {
  static_cast<void>(inherited());
  for (const auto& [name, field] : known) ::unsetenv((std::string(prefix) + name).c_str());
}

void settings::set(const char* name, std::string value) {
  std::erase_if(values_, [name](const auto& v) { return v.first == name; });
  values_.emplace_back(name, std::move(value));
}

const std::string* settings::find(std::string_view name) const {
  const auto at = std::ranges::find_if(values_, [name](const auto& v) { return v.first == name; });
  if (at != values_.end()) return &at->second;
  const auto had = inherited().find(name);
  return had == inherited().end() ? nullptr : &had->second;
}

std::string settings::value(const char* name) const {
  const std::string* const found = find(name);
  return found == nullptr ? "" : *found;
}

const char* settings::text(const char* name) const {
  const std::string* const found = find(name);
  return found == nullptr || found->empty() ? nullptr : found->c_str();
}

std::string settings::called(std::string_view name) const {
  if (std::ranges::none_of(values_, [name](const auto& v) { return v.first == name; }))
    return std::string(prefix) + std::string(name);
  std::string option = "--";
  for (const char c : name) option += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return option;
}

template <class Number> void settings::number(const char* name, Number& into) const {
  const char* const given = text(name);
  if (given == nullptr) return;
  const char* const end = given + std::string_view(given).size();
  const auto [stop, bad] = std::from_chars(given, end, into);
  if (bad != std::errc() || stop != end)
    throw weft::error(called(name) + " = '" + given + "' cannot be; it must be a number");
}

weft::options settings::options() const {
  weft::options o;
  o.machine = text("MACHINE");
  o.policy = text("POLICY");
  o.creation = text("CREATION");
  o.trace = text("TRACE");
  o.counters = text("COUNTERS");
  o.model.schedule = text("SCHEDULE");
  o.model.mode = text("MODE");
  o.model.body = text("BODY");
  number("WORKERS", o.workers);
  number("SEED", o.seed);
  number("WINDOW", o.window);
  number("SEARCH_US", o.search_us);
  number("STACK_KIB", o.stack_kib);
  number("CREATOR", o.creator);
  number("CORE", o.model.core);
  number("TRACE_MIB", o.trace_mib);
  number("BODY_SCALE", o.model.body_scale);
  if (const char* const paused = text("PAUSED")) o.paused = *paused == '1';
  return o;
}

std::string settings::blamed(std::string why) const {
  for (const auto& [name, field] : known) {
    for (const char* const form : {"option ", "option model."}) {
      const std::string found = std::string(form) + field + " ";
      if (const std::size_t at = why.find(found); at != std::string::npos)
        return why.replace(at, found.size(), called(name) + " ");
    }
  }
  return why;
}

std::vector<std::string> settings::environment() const {
  std::vector<std::string> all;
  for (char** e = environ; *e != nullptr; ++e)
    if (!is_known(*e)) all.emplace_back(*e);
  map mine = inherited();
  for (const auto& [name, value] : values_) mine[name] = value;
  for (const auto& [name, value] : mine)
    if (!value.empty()) all.push_back(std::string(prefix) + name + "=" + value);
  return all;
}

}  // namespace weft::tool::sim
