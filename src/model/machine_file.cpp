#include "model/machine_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/near_name.hpp"
#include "base/printable.hpp"
#include "model/machine_costs.hpp"
#include "model/machine_embedded.hpp"
#include "model/machine_text.hpp"
#include "weft/error.hpp"

namespace weft::model {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t toml_bytes_max = std::size_t{1} << 20;  // a hundred times the longest there is
constexpr std::size_t xml_bytes_max = std::size_t{64} << 20;  // lstopo writes about 1 KiB per core

[[noreturn]] void refuse(const std::string& file, const std::string& why) { throw error("weft: " + file + ": " + why); }

std::string contents(const std::string& path, std::size_t bytes_max) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) refuse(path, std::string("it cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(about.st_mode)) refuse(path, "this is a folder, not a machine file");
  if (!S_ISREG(about.st_mode)) refuse(path, "this is no regular file");
  if (static_cast<std::size_t>(about.st_size) > bytes_max)
    refuse(path, "it is larger than " + std::to_string(bytes_max >> 20) + " MiB, so no machine file");
  std::ifstream in(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  if (!in || !in.read(text.data(), about.st_size))
    refuse(path, std::string("it cannot be read: ") + std::strerror(errno == 0 ? EIO : errno));
  return text;
}

struct file {
  std::string path;  // as messages name it
  std::string stem;
  std::string text;
};

const std::vector<file>& embedded() {
  static const std::vector<file> all = [] {
    std::vector<file> files;
    for (const embedded_file& f : embedded_machines) {
      const std::string name(f.name);
      files.push_back({"machines/" + name, name.substr(0, name.rfind('.')), std::string(f.text)});
    }
    return files;
  }();
  return all;
}

// Paths of the user's own, by name: the order of a folder is no order.
std::vector<fs::path> users_own() {
  std::vector<fs::path> paths;
  const std::string folder = machine_folder();
  std::error_code none;
  if (folder.empty()) return paths;
  for (fs::directory_iterator e(folder, none), end; e != end && !none; e.increment(none))
    if (e->path().extension() == ".toml") paths.push_back(e->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Whether `name` can be of the file with that stem: the file's own name, or its family's.
bool may_hold(const std::string& stem, std::string_view name) {
  return name == stem || (name.starts_with(stem) && name.substr(stem.size()).starts_with('-'));
}

bool holds(const file& f, std::string_view name) {
  for (const machine_entry& e : machines_in(f.text, f.path, f.stem))
    if (e.name == name) return true;
  return false;
}

void warn_once(const std::string& path, const std::string& text) {
  static std::mutex guard;
  static std::set<std::string> warned;
  const std::scoped_lock lock(guard);
  if (warned.insert(path).second) std::fprintf(stderr, "weft: %s: %s\n", base::printable(path).c_str(), text.c_str());
}

// Latencies as classes: the same number is the same distance. The diagonal is the node itself, whatever stands there.
std::vector<std::vector<unsigned>> classes_of(const std::vector<std::vector<std::uint64_t>>& latency) {
  std::set<std::uint64_t> distinct;
  for (std::size_t a = 0; a < latency.size(); ++a)
    for (std::size_t b = 0; b < latency.size(); ++b)
      if (a != b) distinct.insert(latency[a][b]);
  std::vector<std::vector<unsigned>> apart(latency.size(), std::vector<unsigned>(latency.size()));
  for (std::size_t a = 0; a < latency.size(); ++a)
    for (std::size_t b = 0; b < latency.size(); ++b)
      if (a != b)
        apart[a][b] = 1 + static_cast<unsigned>(std::distance(distinct.begin(), distinct.find(latency[a][b])));
  return apart;
}

description of_shape(const shape& s, std::string name, std::string summary, std::string topology) {
  description d{machine_of(s, classes_of(s.latency)), s.drawing, {}};
  d.model.name = std::move(name);
  d.model.summary = std::move(summary);
  d.model.topology = std::move(topology);
  d.model.types.push_back({"core", 1, 1, {}, {}});
  default_costs(d.model);
  return d;
}

description from_xml(const std::string& path) {
  const std::string text = contents(path, xml_bytes_max);
  try {
    description d =
        of_shape(shape_of_xml(text), fs::path(path).stem().string(), "exported by hwloc, default costs", path);
    warn_once(path, "it says nothing about costs, so they are those of a machine file that says none; "
                    "docs/guide/22-machine-files.md tells how to write yours");
    return d;
  } catch (const error& e) {
    refuse(path, e.what());
  }
}

description from_path(std::string_view given, std::string_view change) {
  const std::size_t hash = given.rfind(".toml#");
  const std::string path(hash == std::string_view::npos ? given : given.substr(0, hash + 5));
  if (path.ends_with(".xml")) {
    if (!change.empty()) refuse(path, "what hwloc wrote has no costs that option model.change could change");
    return from_xml(path);
  }
  const file f{path, fs::path(path).stem().string(), contents(path, toml_bytes_max)};
  if (hash != std::string_view::npos)
    return parse_machine(f.text, f.path, f.stem, std::string(given.substr(hash + 6)), change);
  const std::vector<machine_entry> all = machines_in(f.text, f.path, f.stem);
  if (all.size() > 1)
    refuse(path,
           "it describes " + std::to_string(all.size()) + " machines; say which, as " + path + "#" + all.front().name);
  return parse_machine(f.text, f.path, f.stem, all.front().name, change);
}

[[noreturn]] void refuse_name(std::string_view name) {
  std::vector<std::string> known{"host"};
  for (const machine_entry& e : machine_files()) known.push_back(e.name);
  constexpr std::size_t proposals_max = 3;
  const std::string near = base::did_you_mean(name, known, proposals_max);
  throw error("weft: there is no machine '" + std::string(name) + "'" + (near.empty() ? ";" : near) +
              " `weft info` lists them");
}

description from_name(std::string_view name, std::string_view change) {
  for (const file& f : embedded())
    if (may_hold(f.stem, name) && holds(f, name))
      return parse_machine(f.text, f.path, f.stem, std::string(name), change);
  for (const fs::path& p : users_own()) {
    const std::string stem = p.stem().string();
    if (!may_hold(stem, name)) continue;
    const file f{p.string(), stem, contents(p.string(), toml_bytes_max)};
    if (holds(f, name)) return parse_machine(f.text, f.path, f.stem, std::string(name), change);
  }
  refuse_name(name);
}

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".toml") || name.ends_with(".xml") ||
         name.find(".toml#") != std::string_view::npos;
}

bool is_embedded(std::string_view name) {
  return std::any_of(embedded().begin(), embedded().end(), [&](const file& f) { return may_hold(f.stem, name); });
}

void list(const file& f, std::vector<machine_entry>& into) {
  try {
    const std::vector<machine_entry> found = machines_in(f.text, f.path, f.stem);
    into.insert(into.end(), found.begin(), found.end());
  } catch (const error& e) {
    into.push_back({f.stem, std::string("cannot be used: ") + e.what()});
  }
}

}  // namespace

std::string machine_folder() {  // a set-uid program has none: its caller's files are not its own
  const char* config = ::secure_getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return std::string(config) + "/weft/machines";
  const char* home = ::secure_getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.config/weft/machines" : "";
}

machine load_machine(std::string_view name_or_path, std::string_view change) {
  // A program may make thousands of runtimes; an embedded file cannot change meanwhile, others can.
  if (is_path(name_or_path) || !is_embedded(name_or_path) || !change.empty())
    return describe_machine(name_or_path, change).model;
  static std::mutex guard;
  static std::map<std::string, std::unique_ptr<const machine>, std::less<>> parsed;
  const std::scoped_lock lock(guard);
  auto found = parsed.find(name_or_path);
  if (found == parsed.end())
    found =
        parsed.emplace(std::string(name_or_path), std::make_unique<const machine>(describe_machine(name_or_path).model))
            .first;
  return *found->second;
}

description describe_machine(std::string_view name_or_path, std::string_view change) {
  return is_path(name_or_path) ? from_path(name_or_path, change) : from_name(name_or_path, change);
}

description describe_host() { return of_shape(shape_of_host(), "host", "this machine", ""); }

std::vector<machine_entry> machine_files() {
  std::vector<machine_entry> all;
  for (const file& f : embedded()) list(f, all);
  std::stable_partition(all.begin(), all.end(), [](const machine_entry& e) { return e.name == "virtual"; });
  for (const fs::path& p : users_own()) {
    file f{p.string(), p.stem().string(), ""};
    try {
      f.text = contents(f.path, toml_bytes_max);
      list(f, all);
    } catch (const error& e) {
      all.push_back({f.stem, std::string("cannot be used: ") + e.what()});
    }
  }
  return all;
}

machine with_cores(machine m, unsigned cores) {
  if (!m.any_size || m.cores.size() != 1) return m;
  const core first = m.cores.front();
  for (unsigned i = 1; i < cores; ++i) {
    core& c = m.cores.emplace_back(first);
    c.at.cpu = c.inner = c.physical = i;
  }
  return m;
}

}  // namespace weft::model
