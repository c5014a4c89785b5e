// What users write with streams: each program's own checks, on any number of workers of both machines, at odd sizes;
// files that are there whole or not at all; and options that cannot be meant.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../programs_test.hpp"
#include "bzip2.hpp"
#include "files.hpp"
#include "pipeline.hpp"

namespace weft::apps {
namespace {

void check_everywhere(std::string_view name, const settings& small) {
  for (const char* machine : {"host", "opteron-6220-interlagos-16"})
    for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
      CAPTURE(std::string(name));
      CAPTURE(std::string(machine));
      CAPTURE(workers);
      const result r = run(name, small, machine, workers);
      CHECK(r.ok());
      for (const check& c : r.checks) {
        INFO(c.name << ": " << c.detail);
        CHECK(c.passed);
      }
    }
}

// A folder that is gone after the test, and what is in it.
struct folder {
  std::string path;
  folder() {
    char name[] = "/tmp/weft-compress-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path = name;
  }
  ~folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file(const char* name, std::string_view text) const {
    std::ofstream(path + "/" + name, std::ios::binary) << text;
    return path + "/" + name;
  }
  [[nodiscard]] static std::string read(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
};

std::string text_of(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text += std::to_string(i * i % 977) + " ";
  text.resize(size);
  return text;
}

}  // namespace

TEST_CASE("pipeline: the same result on any number of workers, on both machines") {
  check_everywhere("fft", {{"points", 1 << 8}, {"lanes", 4}, {"signals", 5}});
  check_everywhere("fmradio", {{"blocks", 6}, {"block", 50}, {"taps", 40}, {"bands", 5}});
  if (pipeline::has_bzip2()) check_everywhere("compress", {{"bytes", 10'000}, {"block", 700}});
}

TEST_CASE("pipeline: transforms of one point, of one lane, and of matrices that are not square") {
  for (const int points : {1, 2, 4, 8, 64, 128, 512, 2048})
    for (const int lanes : {1, 2, 4, 8}) {
      if (points < lanes * lanes) continue;
      CAPTURE(points);
      CAPTURE(lanes);
      CHECK(run("fft", {{"points", points}, {"lanes", lanes}, {"signals", 2}}, "virtual", 3).ok());
    }
  CHECK(run("fft", {{"points", 1 << 15}, {"signals", 3}}, "host", 2).ok());
}

TEST_CASE("pipeline: a radio with windows that see many blocks, and of one band and of most") {
  for (const int block : {1, 3, 64, 500})
    for (const int bands : {1, 2, 15}) {
      CAPTURE(block);
      CAPTURE(bands);
      CHECK(run("fmradio", {{"blocks", 1 + 200 / block}, {"block", block}, {"bands", bands}}, "virtual", 5).ok());
    }
  CHECK(run("fmradio", {{"blocks", 3}, {"block", 10}, {"taps", 333}}, "host", 2).ok());
}

TEST_CASE("pipeline: packed text of no byte, of one, of a part of a block; any number of blocks ahead") {
  if (!pipeline::has_bzip2()) return;
  for (const int bytes : {0, 1, 699, 700, 701, 2100, 5000})
    for (const int ahead : {1, 2, 3, 100}) {
      CAPTURE(bytes);
      CAPTURE(ahead);
      CHECK(run("compress", {{"bytes", bytes}, {"block", 700}, {"ahead", ahead}}, "virtual", 4).ok());
    }
}

TEST_CASE("pipeline: a packed file is that of its blocks in order, and takes the place of an older one") {
  if (!pipeline::has_bzip2()) return;
  const folder f;
  const std::string text = text_of(30'000), in = f.file("in", text), out = f.file("out", "older");
  REQUIRE(::chmod(out.c_str(), 0640) == 0);
  for (const unsigned workers : {1u, 4u}) {
    const result r = run("compress", {{"input", in}, {"output", out}, {"block", 4000}}, "host", workers);
    CHECK(r.ok());
    const std::string packed = folder::read(out);
    const std::vector<char> again = pipeline::unpack_all(packed, text.size());
    CHECK(std::ranges::equal(again, text));
    CHECK(packed.size() < text.size());
  }
  struct stat now {};
  CHECK((::stat(out.c_str(), &now) == 0 && (now.st_mode & 0777) == 0640));
  CHECK((folder::read(in) == text && f.files() == 2));
}

TEST_CASE("pipeline: files that cannot be meant are refused in words, and nothing is written") {
  const folder f;
  const std::string in = f.file("in", "text"), out = f.path + "/out", link = f.path + "/link";
  REQUIRE(::symlink(in.c_str(), link.c_str()) == 0);
  const auto refused = [&](const std::string& input, const std::string& output, const char* why) {
    CHECK_THROWS_WITH_AS(run("compress", {{"input", input}, {"output", output}}, "host", 2), doctest::Contains(why),
                         weft::error);
  };
  if (!pipeline::has_bzip2()) return refused(in, out, "built without libbz2");
  refused(in, in, "is the input");
  refused(in, link, "is the input");
  refused(f.path + "/none", out, "No such file");
  refused(f.path, out, "is no plain file");
  refused(in, f.path, "is no plain file");
  refused(in, f.path + "/none/out", "cannot be made");
  refused("/dev/null", out, "is no plain file");
  CHECK((folder::read(in) == "text" && f.files() == 2));
}

TEST_CASE("pipeline: a file that is not finished leaves what was there; bytes that are no packed block are refused") {
  const folder f;
  const std::string out = f.file("out", "older");
  {
    pipeline::output_file unfinished(out);
    unfinished.write(std::string_view("new"));
    CHECK(f.files() == 2);
  }
  CHECK((folder::read(out) == "older" && f.files() == 1));
  const pipeline::input_file in(out);
  std::vector<char> more(6);
  CHECK_THROWS_WITH_AS(in.read(0, more), doctest::Contains("became shorter"), weft::error);
  if (!pipeline::has_bzip2()) return;
  const std::vector<char> packed = pipeline::pack(text_of(5000));
  CHECK(pipeline::unpack(packed, 5000).size() == 5000);
  CHECK_THROWS_AS(pipeline::unpack(packed, 4999), weft::error);
  CHECK_THROWS_AS(pipeline::unpack(packed, 5001), weft::error);
  CHECK_THROWS_AS(pipeline::unpack(std::span(packed).first(packed.size() - 1), 5000), weft::error);
  CHECK_THROWS_AS(pipeline::unpack(text_of(100), 5000), weft::error);
  std::vector<char> broken = packed;
  broken[packed.size() / 2] ^= 1;
  CHECK_THROWS_AS(pipeline::unpack(broken, 5000), weft::error);
}

TEST_CASE("pipeline: checks that can fail") {
  const std::uint8_t once[] = {1, 1}, lost[] = {1, 0}, twice[] = {1, 2};
  CHECK(pipeline::each_once(once).passed);
  CHECK(!pipeline::each_once(lost).passed);
  CHECK(!pipeline::each_once(twice).passed);
  CHECK(pipeline::at_most("x", 1, 1).passed);
  CHECK(!pipeline::at_most("x", 1.1, 1).passed);
  CHECK(!pipeline::at_most("x", std::nan(""), 1).passed);
}

TEST_CASE("pipeline: sizes that cannot be meant are refused in words") {
  CHECK_THROWS_WITH_AS(run("fft", {{"points", 1000}}, "virtual", 1),
                       "fft: --points 1000 is no power of two; take 512 or 1024", weft::error);
  CHECK_THROWS_WITH_AS(run("fft", {{"lanes", 3}}, "virtual", 1), doctest::Contains("--lanes 3 is no power of two"),
                       weft::error);
  CHECK_THROWS_WITH_AS(run("fft", {{"points", 32}, {"lanes", 8}}, "virtual", 1),
                       doctest::Contains("too few for 8 lanes"), weft::error);
}

}  // namespace weft::apps
