// Machine files that are wrong: the message of each kind, and that nothing else than a message or a sane machine can
// come of a file, whatever is in it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "base/random.hpp"
#include "model/machine_embedded.hpp"
#include "model/machine_text.hpp"
#include "quick.hpp"
#include "weft/error.hpp"

namespace weft::model {
namespace {

namespace fs = std::filesystem;

const std::string head = "summary = \"a machine\"\n[sources]\nlab = { text = \"measured\", date = \"2026\" }\n";
const std::string four = "[topology]\nfrom = \"lab\"\nhwloc = \"NUMANode:2 L3:1 L2:1 PU:2\"\n";

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_machine(text, "m.toml", "m", "m"));
  } catch (const error& e) {
    const std::string what = e.what();
    return what.starts_with("weft: m.toml:") ? what.substr(13) : what;
  }
  return "accepted";
}
std::string refusal_of(const std::string& more) { return refusal(head + four + more); }
std::string refusal_of_path(const std::string& path) {
  try {
    static_cast<void>(load_machine(path));
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

// What must hold for a machine that was loaded, whoever wrote the file.
void is_sane(const machine& m) {
  REQUIRE(!m.cores.empty());
  REQUIRE(m.cores.size() <= base::workers_max);
  REQUIRE(!m.types.empty());
  REQUIRE(m.classes >= 1);
  const std::size_t nodes = m.apart.size();
  for (const core& c : m.cores) {
    REQUIRE(c.at.node < nodes);
    REQUIRE(c.type < m.types.size());
    REQUIRE(c.inner < m.cores.size());
    REQUIRE(c.physical < m.cores.size());
  }
  for (std::size_t a = 0; a < nodes; ++a) {
    REQUIRE(m.apart[a].size() == nodes);
    for (std::size_t b = 0; b < nodes; ++b) {
      REQUIRE((m.apart[a][b] == 0) == (a == b));
      REQUIRE(m.apart[a][b] == m.apart[b][a]);
      REQUIRE(m.apart[a][b] < m.classes);
    }
  }
  for (const core_type& t : m.types) {
    REQUIRE(t.speed > 0);
    REQUIRE(t.runtime_speed > 0);
    for (const auto& s : t.speed_of) REQUIRE(s.speed > 0);
  }
  REQUIRE(m.lines.transfer_ps.size() == 3 + m.classes);
  REQUIRE(std::is_sorted(m.lines.transfer_ps.begin(), m.lines.transfer_ps.end()));
  for (const auto* by_class : {&m.lines.memory_ps, &m.memory.read_line_ps, &m.memory.write_line_ps}) {
    REQUIRE(by_class->size() == m.classes);
    REQUIRE(std::is_sorted(by_class->begin(), by_class->end()));
  }
  REQUIRE(m.memory.link_bytes_per_ns.size() == m.classes);
  REQUIRE(m.memory.chunk_bytes >= 64);
  REQUIRE(m.memory.lines_in_flight >= 1);
  REQUIRE(m.runtime.relax_ps > 0);
  REQUIRE(m.ghz > 0);
  REQUIRE(m.speed_when_shared > 0);
  REQUIRE(m.speed_when_shared <= 1);
  for (std::size_t i = 1; i < m.memory.caches.size(); ++i)
    REQUIRE(m.memory.caches[i - 1].who <= m.memory.caches[i].who);
}

// Loads every machine of a text. True if there was one.
bool tried(const std::string& text) {
  try {
    for (const machine_entry& e : machines_in(text, "m.toml", "m"))
      is_sane(parse_machine(text, "m.toml", "m", e.name).model);
    return true;
  } catch (const error& e) {
    const std::string what = e.what();
    REQUIRE(what.starts_with("weft: m.toml:"));
    REQUIRE(what.find('\n') == std::string::npos);
    return false;
  }
}

}  // namespace

TEST_CASE("wrong machines: file, line, key and reason") {
  const std::vector<std::pair<std::string, std::string>> all{
      {"[lines]\nlaod = { ns = 1, from = \"lab\" }", "8: lines.laod: there is no such key; did you mean load?"},
      {"[line]\n", "7: line: there is no such key; did you mean lines?"},
      {"[lines]\nload = 3", "8: lines.load: it is a time, so write { ps = ..., from = \"...\" }"},
      {"[lines]\nload = { ns = 3 }", "8: lines.load: it has no source: say from = \"...\" here or once for the table, "
                                     "with a key of [sources] or \"assumed\""},
      {"[lines]\nload = { ns = 3, from = \"lob\" }",
       "8: lines.load: from = \"lob\" names no source; did you mean lab?"},
      {"[lines]\nload = { ns = 3, from = \"assumed\" }",
       "8: lines.load: it is assumed, so say why = \"...\": how it came about"},
      {"[lines]\nload = { from = \"lab\" }",
       "8: lines.load: its value is missing: one of ps, ns, us, ms, cycles = ..."},
      {"[lines]\nload = { ns = 1, ps = 1, from = \"lab\" }", "8: lines.load: it has two values, in ns and in ps"},
      {"[lines]\nload = { s = 1, from = \"lab\" }", "8: lines.load: 's' is no unit of a time: ps, ns, us, ms, cycles"},
      {"[lines]\nload = { ns = -1, from = \"lab\" }", "8: lines.load: -1 cannot be: it is negative"},
      {"[lines]\nload = { ns = nan, from = \"lab\" }",
       "8: lines.load: its value must be a number, not infinite or nan"},
      {"[lines]\nload = { ns = \"1\", from = \"lab\" }", "8: lines.load: its value must be a number, and is a text"},
      {"[lines]\nload = { ns = [1, 2], from = \"lab\" }", "8: lines.load: it must be one number, not a list"},
      {"[lines]\nload = { ms = 1e9, from = \"lab\" }",
       "8: lines.load: 1000000000 cannot be a time: it must be from 0 to 1000000"},
      {"[lines]\nmemory = { ns = [1, 2, 3], from = \"lab\" }",
       "8: lines.memory: it has 3 values and must have 2, for node distances 0 to 1"},
      {"[lines]\nmemory = { ns = [2, 1], from = \"lab\" }",
       "8: lines.memory: it gets less with distance: value 2 is below the one before"},
      {"[lines.transfer]\nfrom = \"lab\"\ninner = { ns = 9 }\nouter = { ns = 8 }",
       "10: lines.transfer.outer: it gets less with distance: outer is below inner"},
      {"[lines.transfer]\nfrom = \"lab\"\nouter = { ns = 9 }\nnode = { ns = [8, 8] }",
       "10: lines.transfer.node: it gets less with distance: node is below outer"},
      {"[memory]\nread_line = { ns = [9, 8], from = \"lab\" }",
       "8: memory.read_line: it gets less with distance: value 2 is below the one before"},
      {"[memory.pages]\nsize = { KiB = 2, from = \"lab\" }", "8: memory.pages.size: a page has at least 4 KiB"},
      {"[memory.pages]\nmigrate = true", "7: memory.pages: pages that migrate need the key size"},
      {"[memory.pages]\nfrom = \"lab\"\nsize = { KiB = 4 }\nmigrate = true\nscan = { us = 0 }\nfault = { us = 1 }\n"
       "move = { us = 1 }\ncopy = { GBps = 1 }",
       "11: memory.pages.scan: a page would be looked at without end; it must be at least 1 ps"},
      {"[lines]\nprobe = \"none\"", "8: lines.probe: it must be \"sharers\" or \"all\""},
      {"[lines]\ninvalidate = { ns = -0.1, from = \"lab\" }", "8: lines.invalidate: -0.1 cannot be: it is negative"},
      {"[lines]\ninvalidate = { ns = inf, from = \"lab\" }",
       "8: lines.invalidate: its value must be a number, not infinite or nan"},
      {"[memory]\nhome = \"away\"", "8: memory.home: it must be \"first_touch\" or \"interleave\""},
      {"[memory]\nchunk = { bytes = 1, from = \"lab\" }", "8: memory.chunk: it must be at least a line of 64 bytes"},
      {"[[memory.caches]]\nshared_by = \"all\"",
       "8: memory.caches[0].shared_by: it must be \"core\", \"inner\" or \"outer\""},
      {"[[memory.caches]]\nshared_by = \"core\"", "7: memory.caches[0]: the key size is missing"},
      {"[memory]\ncontroller = { GBps = 1e-300, from = \"lab\" }",
       "8: memory.controller: 1e-300 cannot be a rate: it must be 0, for no limit, or at least 1e-06"},
      {"[shared_speed]\nx = 2\nfrom = \"lab\"", "7: shared_speed: it must be at most 1"},
      {"[runtime]\nrelax = { ns = 0, from = \"lab\" }",
       "8: runtime.relax: a waiting loop would take no time, so time would never advance; it must be at least 1 ps"},
      {"[runtime]\nrelax = { ps = 0.4, from = \"lab\" }",
       "8: runtime.relax: a waiting loop would take no time, so time would never advance; it must be at least 1 ps"},
      {"any_size = 1", "7: topology.any_size: there is no such key; there are: hwloc, xml, types, order"},
      {"l\xc3\xb6 = 1", "7: this is no TOML: a letter that is not ASCII outside of texts and comments"},
      {"# \xc3\xb6 \"\nx = , 3", "8: this is no TOML: "},
      {"x = \"\"\"a\"\"\"", "7: texts stand on one line here"},
      {"[runtime]\nsubmit = { ns = 1", "8: this is no TOML: "},
      {"[clock]\nGHz = 0\nfrom = \"lab\"", "7: clock: 0 cannot be a clock rate: it must be from 0.001 to 1000"},
      {"[sources]\n", "7: this is no TOML: "},
      {"[types.x]\nspeed = { x = 0, from = \"lab\" }",
       "8: types.x.speed: 0 cannot be a factor: it must be from 1e-06 to 1000000"},
  };
  for (const auto& [more, why] : all) {
    CAPTURE(more);
    CHECK(refusal_of(more).substr(0, why.ends_with(": ") ? why.size() : std::string::npos) == why);
  }
}

TEST_CASE("wrong machines: topologies") {
  const auto of = [](const std::string& notation) {
    return refusal(head + "[topology]\nfrom = \"lab\"\nhwloc = \"" + notation + "\"\n");
  };
  const std::string at = "6: topology.hwloc: ";
  CHECK(of("PU:1024") == "accepted");
  CHECK(of("Package:32 Core:16 PU:2") == "accepted");
  CHECK(of("PU:1025") == at + "it has more than 1024 cores, which is as many as Weft takes");
  CHECK(of("Package:4000000000 PU:4000000000") == at + "it has more than 1024 cores, which is as many as Weft takes");
  CHECK(of("Package:0 PU:2") == at + "it has a 0 in it, so no core");
  CHECK(of("Packet:2 PU:2").starts_with(at + "hwloc does not understand 'Packet:2 PU:2'; it is written like"));
  CHECK(of("PU:2 Package:2").starts_with(at + "hwloc does not understand"));
  CHECK(of(std::string(2'000, ' ')) == at + "it is longer than 1000 letters");
  CHECK(of("") == at + "the key hwloc is missing");
  CHECK(refusal(head) == "1: the table [topology] is missing");
  CHECK(refusal("[topology]\nhwloc = \"PU:1\"\n").find("the key summary is missing") != std::string::npos);
  CHECK(refusal("any_size = true\n" + head + "[topology]\nfrom = \"lab\"\nhwloc = \"PU:2\"\n") ==
        "1: any_size: the topology must be of one core, and has 2");
}

TEST_CASE("wrong machines: paths") {
  std::string pattern = (fs::temp_directory_path() / "weft-machines-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  const fs::path home = pattern;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(home / name) << text;
    return (home / name).string();
  };
  const std::string good = write("good.toml", head + four);
  CHECK(load_machine(good).name == "good");
  CHECK(refusal_of_path(home.string()) == "weft: " + home.string() + ": this is a folder, not a machine file");
  CHECK(refusal_of_path(home.string() + "/none.toml") ==
        "weft: " + home.string() + "/none.toml: it cannot be read: No such file or directory");
  const std::string huge = write("huge.toml", std::string(2 << 20, '#'));
  CHECK(refusal_of_path(huge) == "weft: " + huge + ": it is larger than 1 MiB, so no machine file");
  CHECK(refusal_of_path("/dev/null") == "weft: /dev/null: this is no regular file");
  const std::string empty = write("empty.toml", "");
  CHECK(refusal_of_path(empty) == "weft: " + empty + ":1: the key summary is missing");
  const std::string bytes = write("bytes.toml", std::string("\xff\xfe\0\x01", 4));
  CHECK(refusal_of_path(bytes).starts_with("weft: " + bytes + ":1: this is no TOML: "));
  if (geteuid() != 0) {
    fs::permissions(good, fs::perms::none);
    CHECK(refusal_of_path(good) == "weft: " + good + ": it cannot be read: Permission denied");
  }
  const std::string family =
      write("f.toml", "summary = \"s\"\n[sources]\nlab = { text = \"x\", date = \"y\" }\n[family]\n"
                      "sizes = [1, 2]\n[[family.variants]]\nname = \"{n}\"\nhwloc = \"PU:{n}\"\n"
                      "from = \"lab\"\n");
  CHECK(refusal_of_path(family) == "weft: " + family + ": it describes 2 machines; say which, as " + family + "#f-1");
  CHECK(load_machine(family + "#f-2").cores.size() == 2);
  CHECK(refusal_of_path(family + "#f-3") == "weft: " + family + ": there is no machine 'f-3' in it");
  fs::remove_all(home);
}

TEST_CASE("wrong machines: cut off anywhere, a file is refused or still says something sane") {
  for (const embedded_file& f : embedded_machines)
    for (std::size_t i = 0; i < f.text.size(); i += 1 + f.text.size() / (hurried ? 50 : 200))
      static_cast<void>(tried(std::string(f.text.substr(0, i))));
}

TEST_CASE("wrong machines: changed at random, too") {
  const std::vector<std::string> words{"0",
                                       "-1",
                                       "1e400",
                                       "nan",
                                       "9999999999999999999999",
                                       "\"",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       "\n",
                                       "=",
                                       ".",
                                       "\xff",
                                       "[[memory.caches]]\n",
                                       "from = \"assumed\"\n",
                                       "true",
                                       "#",
                                       "PU:9999999",
                                       "NUMANode:3",
                                       "{n}",
                                       "1979-05-27",
                                       "''",
                                       ","};
  base::random draw(2026);
  unsigned accepted = 0;
  const std::uint64_t rounds = few(1'500);
  for (unsigned round = 0; round < rounds; ++round) {
    const embedded_file& f = embedded_machines[draw.below(static_cast<std::uint32_t>(embedded_machines.size()))];
    std::string text(f.text);
    for (unsigned changes = 1 + draw.below(4); changes > 0; --changes) {
      const std::size_t at = draw.below(static_cast<std::uint32_t>(text.size()));
      switch (draw.below(4)) {
      case 0: text[at] = static_cast<char>(draw.below(256)); break;
      case 1: text.erase(at, 1 + draw.below(20)); break;
      case 2: text.insert(at, words[draw.below(static_cast<std::uint32_t>(words.size()))]); break;
      default: text.insert(at, text.substr(draw.below(static_cast<std::uint32_t>(text.size())), draw.below(40))); break;
      }
    }
    CAPTURE(round);
    accepted += tried(text) ? 1 : 0;
  }
  CHECK(accepted > rounds / 30);  // the changes must be small enough to reach what comes after the parser
}

}  // namespace weft::model
