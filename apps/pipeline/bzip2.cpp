#include "bzip2.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "weft/error.hpp"

#ifdef WEFT_BZIP2
#include <bzlib.h>
#endif

namespace weft::apps::pipeline {

#ifdef WEFT_BZIP2

namespace {

// So large are the blocks that libbz2 cuts its input into; less where the input is less.
constexpr std::size_t bytes_a_level = 100'000, level_max = 9;

[[noreturn]] void fail(const char* what, int code) {
  if (code == BZ_MEM_ERROR) throw std::bad_alloc();
  throw error("compress: " + std::string(what) + ": libbz2 says " + std::to_string(code));
}

// Unpacks one block from `in` behind `out`, of at most `most` bytes. Returns what is behind it.
std::span<const char> unpack_one(std::span<const char> in, std::vector<char>& out, std::size_t most) {
  struct unpacker : bz_stream {
    unpacker() : bz_stream{} {}
    ~unpacker() { BZ2_bzDecompressEnd(this); }
    unpacker(const unpacker&) = delete;
    unpacker& operator=(const unpacker&) = delete;
  } u;
  if (const int code = BZ2_bzDecompressInit(&u, 0, 0); code != BZ_OK) fail("cannot unpack", code);
  u.next_in = const_cast<char*>(in.data());  // libbz2 only reads it
  u.avail_in = static_cast<unsigned>(in.size());
  constexpr std::size_t at_a_time = 1 << 20;
  for (int code = BZ_OK; code != BZ_STREAM_END;) {
    const std::size_t had = out.size(), room = std::min(at_a_time, most - had + 1);
    out.resize(had + room);
    u.next_out = out.data() + had;
    u.avail_out = static_cast<unsigned>(room);
    code = BZ2_bzDecompress(&u);
    out.resize(had + room - u.avail_out);
    if (code != BZ_OK && code != BZ_STREAM_END) fail("a packed block cannot be unpacked", code);
    if (out.size() > most) throw error("compress: a packed block holds more bytes than were packed");
    if (code == BZ_OK && u.avail_out != 0) throw error("compress: a packed block ends before its end");
  }
  return in.last(u.avail_in);
}

}  // namespace

bool has_bzip2() noexcept { return true; }

std::vector<char> pack(std::span<const char> bytes) {
  const std::size_t level = std::clamp<std::size_t>((bytes.size() + bytes_a_level - 1) / bytes_a_level, 1, level_max);
  std::vector<char> packed(bytes.size() + bytes.size() / 100 + 600);  // as the manual says it is enough
  auto size = static_cast<unsigned>(packed.size());
  char none = 0;
  const int code =
      BZ2_bzBuffToBuffCompress(packed.data(), &size, bytes.empty() ? &none : const_cast<char*>(bytes.data()),
                               static_cast<unsigned>(bytes.size()), static_cast<int>(level), 0, 0);
  if (code != BZ_OK) fail("a block cannot be packed", code);
  packed.resize(size);
  return packed;
}

std::vector<char> unpack(std::span<const char> packed, std::size_t size) {
  std::vector<char> out;
  out.reserve(size + 1);
  if (!unpack_one(packed, out, size).empty() || out.size() != size)
    throw error("compress: a block of " + std::to_string(size) + " bytes was unpacked to " +
                std::to_string(out.size()));
  return out;
}

std::vector<char> unpack_all(std::span<const char> packed, std::size_t most) {
  std::vector<char> out;
  while (!packed.empty()) packed = unpack_one(packed, out, most);
  return out;
}

#else

namespace {
[[noreturn]] void refuse() {
  throw error("compress: this weft was built without libbz2; install libbz2-dev, then configure and build it again");
}
}  // namespace

bool has_bzip2() noexcept { return false; }
std::vector<char> pack(std::span<const char>) { refuse(); }
std::vector<char> unpack(std::span<const char>, std::size_t) { refuse(); }
std::vector<char> unpack_all(std::span<const char>, std::size_t) { refuse(); }

#endif

}  // namespace weft::apps::pipeline
