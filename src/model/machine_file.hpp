// Machine files: machines/*.toml, embedded into the library, those in the user's configuration folder, and any path.
// docs/guide/22-machine-files.md is the reference of the format.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.hpp"
#include "model/shape.hpp"

namespace weft::model {

struct machine_entry {
  std::string name;
  std::string summary;
};

// An entry of [sources].
struct origin {
  std::string text;
  std::string date;
};

// A number of the file, and where it is from.
struct figure {
  std::string key;
  std::string value;   // with its unit
  std::string from;    // a key of [sources], or "assumed"
  std::string source;  // what that key stands for
  std::string date;
  std::string why;  // how it came about, if it is assumed
};

struct description {
  machine model;
  outline drawing;
  std::vector<figure> figures;  // in the order in which they were read; what is not here is a default
};

// The machine of that name: of the embedded files, then of $XDG_CONFIG_HOME/weft/machines (or ~/.config/...). With a
// '/' in it, or ending in .toml or .xml, it is a path; PATH.toml#NAME picks one of a file that describes several. XML
// is what hwloc exports (lstopo x.xml); it has no costs, so those of "virtual" are taken, and stderr told so once. Who:
// any thread. Cost: parsed once if embedded, else each time. Errors: weft::error - "FILE:LINE: KEY: why", or that there
// is no such machine and what is near. `change`: lines of a machine file that come instead of its own, as the option
// model.change has them; then it is parsed each time.
[[nodiscard]] machine load_machine(std::string_view name_or_path, std::string_view change = "");
[[nodiscard]] description describe_machine(std::string_view name_or_path, std::string_view change = "");

// This machine as hwloc sees it, in the folds of describe_machine; no figures.
[[nodiscard]] description describe_host();

// All that load_machine takes by name: "virtual" first, then by name; the user's own after the embedded. One that
// cannot be read is listed with the reason as its summary.
[[nodiscard]] std::vector<machine_entry> machine_files();

// As many cores as that, where the machine is of any size; otherwise as it was.
[[nodiscard]] machine with_cores(machine m, unsigned cores);

// $XDG_CONFIG_HOME/weft/machines, else $HOME/.config/weft/machines; "" if neither is set.
[[nodiscard]] std::string machine_folder();

}  // namespace weft::model
