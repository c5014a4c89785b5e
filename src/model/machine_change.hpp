// What the option model.change says of a machine comes instead of what its file says, before the file is read: so a
// change is checked like a file, and a sweep over a figure of a machine needs no file for each of its values.
#pragma once
#include "model/toml_section.hpp"

namespace weft::model {

// Puts what `change` says into `file`, table by table. A number comes whole, with its unit, and needs no source. In a
// file of a family what is said of the topology is said of each of its machines.
void apply_change(toml::table& file, const toml::table& change);

}  // namespace weft::model
