#include "weak/sites.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <string_view>
#include <unordered_map>

namespace weft::weak {

namespace {

constexpr const char* names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
constexpr const char* kinds[] = {"load", "store", "modify", "plain"};

struct key {
  const char* file;
  std::uint64_t where;
  bool operator==(const key&) const = default;
};
struct hash {
  std::size_t operator()(const key& k) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(k.file) ^ k.where) * 0x9e3779b97f4a7c15u;
  }
};

// From the root of the project on, also where the compiler was called in a folder of the build.
const char* in_project(const char* file) noexcept {
  while (std::strncmp(file, "../", 3) == 0) file += 3;
  return file;
}

// A place may be met by several names of its file, one for each source that includes it.
class table {
 public:
  table() {
    if (const char* text = std::getenv("WEFT_WEAKEN")) wanted_ = text;
  }
  ~table() {
    const char* path = std::getenv("WEFT_SITES");
    std::FILE* out = path == nullptr ? nullptr : std::fopen(path, "w");
    if (out == nullptr) return;
    for (const site& s : all_)
      std::fprintf(out, "%s %s %s\n", s.name().c_str(), kinds[unsigned(s.what)], names[unsigned(s.said)]);
    std::fclose(out);
  }
  const site& met(const std::source_location& at, kind what, base::order said) {
    const key k{at.file_name(), std::uint64_t{at.line()} << 32 | at.column() << 4 | unsigned(what)};
    const auto [found, is_new] = by_place_.try_emplace(k, nullptr);
    if (!is_new) return *found->second;
    const char* file = in_project(at.file_name());
    for (const site& s : all_)
      if (s.line == at.line() && s.column == at.column() && s.what == what && std::strcmp(s.file, file) == 0)
        return *(found->second = &s);
    site& s = all_.emplace_back(site{file, at.line(), at.column(), what, said});
    weaken(s);
    return *(found->second = &s);
  }

 private:
  void weaken(site& s) const {
    const std::size_t equals = wanted_.find('=');
    if (equals == std::string_view::npos || s.what == kind::plain || wanted_.substr(0, equals) != s.name()) return;
    for (unsigned i = 0; i < std::size(names); ++i)
      if (wanted_.substr(equals + 1) == names[i]) {
        s.is_weakened = true;
        s.instead = static_cast<base::order>(i);
      }
  }

  std::string_view wanted_;
  std::deque<site> all_;
  std::unordered_map<key, const site*, hash> by_place_;
};

}  // namespace

std::string site::name() const { return std::string(file) + ":" + std::to_string(line) + ":" + std::to_string(column); }

const site& met(const std::source_location& at, kind what, base::order said) {
  static table all;
  return all.met(at, what, said);
}

void say(unsigned core, const char* what, void* word, std::uint64_t value, base::order o, const site& at,
         std::size_t stale) {
  static const bool wanted = std::getenv("WEFT_WEAK_TRACE") != nullptr;
  if (!wanted) [[likely]]
    return;
  std::fprintf(stderr, "%u %-8s %p %llx %s at %s", core, what, word, static_cast<unsigned long long>(value),
               names[unsigned(o)], at.name().c_str());
  stale == 0 ? std::fprintf(stderr, "\n") : std::fprintf(stderr, " (%zu before the last)\n", stale);
}

}  // namespace weft::weak
