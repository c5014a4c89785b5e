// Where events lie while a program runs: in a file that is mapped into memory. So adding one is a store and nothing
// else, and what was stored is in the file whatever ends the program - a crash, Ctrl-C, kill -9 - without anybody
// having to write it. Only if the computer itself stops is it lost. `weft recover` makes a trace of such a file.
//
// Layout: blocks of 64 KiB, each with a head of 32 bytes. The first begins with `magic`, and holds nothing else. A
// block of events is one worker's; of those of one worker the `turn` rises. Its events are those before the first of
// kind nothing: the kind of an event is stored last, so none is half there. A block of words has texts, one behind the
// other, each with a word_head; what they say is with word_kind. Numbers are the computer's own, for the one that wrote
// them reads them.
//
// Room in the file is taken before it is used, some blocks at a time: a full disk is found here, and not at a store. If
// there is none, or the file cannot be mapped, blocks are plain memory, which a crash loses.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/part_file.hpp"
#include "trace/event.hpp"

namespace weft::trace {

enum class block_kind : std::uint32_t { nothing, events, words };

struct block_head {
  block_kind kind;
  std::uint32_t writer;  // of events: which recorder
  std::uint64_t turn;    // of events: rises with each block of this writer, from 1
  std::uint64_t lost;    // of events: how many of this writer's were overwritten before
  std::uint64_t plain;   // it is not in the file
};
static_assert(sizeof(block_head) == sizeof(event));

inline constexpr std::size_t block_bytes = std::size_t{1} << 16;
inline constexpr std::size_t chunk_events = block_bytes / sizeof(event) - 1;  // rare to fill, small beside any budget

struct block {
  block_head head;
  event events[chunk_events];
  [[nodiscard]] std::byte* words() noexcept { return reinterpret_cast<std::byte*>(events); }
};
static_assert(sizeof(block) == block_bytes);
inline constexpr std::size_t words_bytes = block_bytes - sizeof(block_head);

// Changes with the layout, and with what events and words mean.
inline constexpr char journal_magic[32] = "Weft journal 1\n";

enum class word_kind : std::uint32_t {
  nothing,
  fact,     // key, '\0', value: what the table meta has, and what the writer of a trace must know
  name,     // u32 recorder, u32 number, text
  handle,   // u32 recorder, u32 handle, text
  section,  // eleven u64 as in section_row, text
};
struct word_head {
  word_kind kind;  // stored last
  std::uint32_t bytes;
};
// To the next word.
[[nodiscard]] constexpr std::size_t word_length(std::size_t bytes) noexcept {
  return (sizeof(word_head) + bytes + 7) / 8 * 8;
}

class journal {
 public:
  journal() = default;  // memory alone
  // In `file`, which must outlive it. blocks_max: how many it will have about, for the room that is taken at a time.
  journal(const base::part_file& file, std::size_t blocks_max) noexcept;
  ~journal();
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  // A block that is all zeros but for its head. nullptr: no memory. Who: anyone.
  [[nodiscard]] block* take(const block_head& head) noexcept;
  // Makes a block as good as new. Who: its owner.
  static void renew(block& b, const block_head& head) noexcept;
  // Writes down a text, of which what is beyond a block is left out. In memory alone nothing is written. Who: anyone.
  void tell(word_kind kind, std::string_view first, std::string_view then = {}) noexcept;

  // Whether anything is in the file. Who: anyone.
  [[nodiscard]] bool is_in_file() noexcept {
    const std::lock_guard hold(guard_);
    return length_ != 0;
  }

  // A block that is in the file leaves this process's memory, until somebody looks at it again.
  static void let_go(block& b) noexcept;

 private:
  struct piece {
    std::byte* at;
    std::size_t bytes;
  };
  [[nodiscard]] block* from_file() noexcept;
  [[nodiscard]] bool grow(std::size_t blocks) noexcept;
  [[nodiscard]] block* take_locked(const block_head& head) noexcept;

  std::mutex guard_;  // of all that follows
  int file_ = -1;     // -1: memory alone, from now on
  std::size_t step_ = 16;
  std::size_t length_ = 0;  // of the file
  std::vector<piece> pieces_;
  std::size_t used_ = 0;  // of the last piece, in bytes
  struct release {
    void operator()(block* b) const noexcept { std::free(b); }
  };
  std::vector<std::unique_ptr<block, release>> plain_;  // of calloc(): all zeros, which an event's own beginning is not
  block* words_ = nullptr;
  std::size_t told_ = 0;  // bytes of it
};

}  // namespace weft::trace
