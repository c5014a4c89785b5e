#include "history.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "tools/weft/output.hpp"
#include "tools/weft/output_file.hpp"
#include "weft/weft.hpp"

namespace weft::tool::check {

namespace {

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all(1);
  for (const char c : line) c == '\t' ? static_cast<void>(all.emplace_back()) : all.back().push_back(c);
  return all;
}

// Pairs of `all` that are out of order, by merging halves.
std::uint64_t inversions(std::vector<std::size_t>& all) {
  if (all.size() < 2) return 0;
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::vector<std::size_t> left(all.begin(), half), right(half, all.end());
  std::uint64_t found = inversions(left) + inversions(right);
  std::size_t l = 0, r = 0;
  for (std::size_t& next : all) {
    if (r == right.size() || (l < left.size() && left[l] < right[r])) {
      next = left[l++];
    } else {
      next = right[r++];
      found += left.size() - l;
    }
  }
  return found;
}

bool is_main(const std::string& actor) { return actor.ends_with("main"); }

}  // namespace

const task* history::find(const std::string& id) const {
  const auto found = tasks.find(id);
  return found == tasks.end() ? nullptr : &found->second;
}

namespace {

// The actor that submitted task `id`: the path without its end.
std::string submitter_of(const std::string& id) {
  const std::size_t dot = id.rfind('.');
  if (dot != std::string::npos) return id.substr(0, dot);
  const std::size_t slash = id.find('/');
  return (slash == std::string::npos ? "" : id.substr(0, slash + 1)) + "main";
}

}  // namespace

history read_history(const std::string& path) {
  history h;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const std::vector<std::string> f = fields(line);
    if (f[0] == "submit" && f.size() >= 3 && f.size() % 3 == 0) {
      task t{f[1], f[2], {}};
      for (std::size_t i = 3; i < f.size(); i += 3) t.uses.push_back({f[i], f[i + 1], f[i + 2]});
      // On several cores others may have had a step since.
      const std::string submitter = submitter_of(t.id);
      const auto at =
          std::find_if(h.steps.rbegin(), h.steps.rend(), [&](const step& s) { return s.actor == submitter; });
      if (at != h.steps.rend()) h.submits.emplace(*at, t.id);
      h.tasks.emplace(t.id, std::move(t));
    } else if (f[0] == "run" && f.size() == 3) {
      std::uint64_t number = 0;
      const auto [end, bad] = std::from_chars(f[2].data(), f[2].data() + f[2].size(), number);
      if (bad != std::errc() || end != f[2].data() + f[2].size())
        throw weft::error("check: " + path + ": '" + line + "' is no step: its last word must be a number");
      h.steps.push_back({f[1], number});
    }
  }
  return h;
}

void write_order(const std::string& path, const order& steps) {
  std::string text;
  for (const step& s : steps) text += "run\t" + s.actor + "\t" + std::to_string(s.number) + "\n";
  write_whole("--keep", path, text);
}

std::uint64_t hash(const order& steps) {
  std::uint64_t h = 0xcbf29ce484222325u;
  const auto mix = [&h](std::uint64_t x) { h = (h ^ x) * 0x100000001b3u; };
  for (const step& s : steps) {
    for (const char c : s.actor) mix(static_cast<unsigned char>(c));
    mix(s.number + 256);
  }
  return h;
}

std::uint64_t distance(const order& from, const order& to) {
  std::map<step, std::size_t> place;
  for (std::size_t i = 0; i < from.size(); ++i) place.emplace(from[i], i);
  std::vector<std::size_t> places;
  std::uint64_t strange = 0;
  for (const step& s : to) {
    const auto found = place.find(s);
    found == place.end() ? static_cast<void>(++strange) : places.push_back(found->second);
  }
  return strange + inversions(places);
}

order first_of_then(const order& b, std::size_t k, const order& a) {
  order mixed(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(k));
  const std::set<step> done(mixed.begin(), mixed.end());
  std::copy_if(a.begin(), a.end(), std::back_inserter(mixed), [&done](const step& s) { return !done.contains(s); });
  return mixed;
}

std::string actor_text(const history& h, const std::string& actor) {
  if (is_main(actor)) return "the main thread";
  const task* t = h.find(actor);
  return "task " + actor + (t != nullptr && !t->name.empty() ? " '" + printable(t->name, name_width_max) + "'" : "");
}

std::string step_text(const history& h, const step& s) {
  const std::string who = actor_text(h, s.actor);
  if (const auto found = h.submits.find(s); found != h.submits.end())
    return who + ", submitting " + actor_text(h, found->second);
  if (s.number == 0) return who;
  const auto before = h.submits.find({s.actor, s.number - 1});
  if (before != h.submits.end()) return who + ", after its submission of " + actor_text(h, before->second);
  const auto last = std::find_if(h.submits.rbegin(), h.submits.rend(), [&s](const auto& other) {
    return other.first.actor == s.actor && other.first.number < s.number;
  });
  return who + (is_main(s.actor) ? ", after a wait" : ", after a wait or charge()") +
         (last != h.submits.rend() ? " that follows its submission of " + actor_text(h, last->second) : "");
}

namespace {

// Whether another handle has the same name, or one that looks the same when it is shortened.
bool ambiguous(const history& h, const use& u) {
  const std::string shown = printable(u.name, name_width_max);
  return std::ranges::any_of(h.tasks, [&](const auto& one) {
    return std::ranges::any_of(one.second.uses, [&](const use& other) {
      return other.handle != u.handle && printable(other.name, name_width_max) == shown;
    });
  });
}

}  // namespace

std::string use_text(const history& h, const use& u) {
  if (u.name.empty()) return u.kind + "(handle " + u.handle + ")";
  return u.kind + "(" + printable(u.name, name_width_max) + (ambiguous(h, u) ? ", handle " + u.handle : "") + ")";
}

}  // namespace weft::tool::check
