// See settings.hpp.
#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace weft::tool::sim {

void settings::set(const char* name, std::string value) {
  std::erase_if(values_, [name](const auto& v) { return v.first == name; });
  values_.emplace_back(name, std::move(value));
}

std::string settings::value(const char* name) const {
  const auto at = std::ranges::find_if(values_, [name](const auto& v) { return v.first == name; });
  if (at != values_.end()) return at->second;
  const char* const inherited = std::getenv((std::string("WEFT_") + name).c_str());
  return inherited == nullptr ? "" : inherited;
}

std::vector<std::string> settings::environment() const {
  std::vector<std::string> all;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry(*e);
    const auto overridden = [entry](const auto& v) { return entry.starts_with("WEFT_" + v.first + "="); };
    if (std::ranges::none_of(values_, overridden)) all.emplace_back(entry);
  }
  for (const auto& [name, value] : values_)
    if (!value.empty()) all.push_back("WEFT_" + name + "=" + value);
  return all;
}

namespace {

void put(const std::string& name, const std::string& value) {
  value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
}

}  // namespace

settings::in_force::in_force(const settings& s) {
  for (const auto& [name, value] : s.values_) {
    const std::string whole = "WEFT_" + name;
    const char* const had = std::getenv(whole.c_str());
    before_.emplace_back(whole, had == nullptr ? "" : had);
    put(whole, value);
  }
}

settings::in_force::~in_force() {
  for (const auto& [name, value] : before_) put(name, value);
}

}  // namespace weft::tool::sim
