// What a handle knows about its datum, in one word of the handle: home + 1 in the low 16 bits, and above them 48 bits
// that are the address of the name; or, where handle_state::sized is set, the size; or, with the topmost bit, a
// sixteenth of the address of a block with both, and a layout or an address. An address that does not fit goes into a
// block. Where there is a size, the bit below the topmost says that the home was found and not said.
#include <new>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/plain.hpp"
#include "weft/detail/handle_state.hpp"
#include "weft/memory_placement.hpp"

namespace weft::detail {

namespace {

constexpr unsigned home_bits = 16;
constexpr std::uint64_t home_mask = (std::uint64_t{1} << home_bits) - 1;
constexpr std::uint64_t block_bit = std::uint64_t{1} << 47;
constexpr std::uint64_t found_bit = std::uint64_t{1} << 46;
constexpr std::uint64_t found_in_about = found_bit << home_bits;
static_assert(bytes_max < found_bit);

struct alignas(16) block {
  cell<const char*> name;
  base::plain<std::uint64_t> bytes;
  base::plain<data_layout> layout;
  base::plain<const void*> begin;
};

[[nodiscard]] std::uint64_t payload(std::uint64_t about) noexcept { return about >> home_bits; }
[[nodiscard]] block* block_in(const handle_state& h, std::uint64_t about) noexcept {
  if (!h.sized || (payload(about) & block_bit) == 0) return nullptr;
  return reinterpret_cast<block*>((payload(about) & ~(block_bit | found_bit)) << 4);
}

// keeps: what is found of the home stays so. A payload that is no size and no block has no such bit.
void set_payload(handle_state& h, std::uint64_t value, bool keeps = false) noexcept {
  WEFT_ASSERT(value >> (64 - home_bits) == 0);
  const std::uint64_t kept = home_mask | (keeps ? found_in_about : 0);
  const auto about = base::shared(h.about);
  std::uint64_t old = about.load(base::relaxed);
  while (!about.compare_exchange_weak(old, value << home_bits | (old & kept), base::release, base::relaxed)) {
  }
}

// Without memory the size stays: a modelled machine needs it, and a report has the handle's number.
void set_all(handle_state& h, const char* name, std::uint64_t bytes, const data_layout& layout = {},
             const void* begin = nullptr) noexcept {
  block* const b = new (std::nothrow) block{{name}, {}, {}, {}};
  const bool was_sized = h.sized;
  h.sized = 1;
  if (b == nullptr) return set_payload(h, bytes, was_sized);
  b->bytes.write() = bytes;
  b->layout.write() = layout;
  b->begin.write() = begin;
  const auto address = reinterpret_cast<std::uintptr_t>(b);
  WEFT_ASSERT(address >> (46 + 4) == 0 && address % alignof(block) == 0);
  set_payload(h, block_bit | address >> 4, was_sized);
}

}  // namespace

void set_bytes(handle_state& h, std::uint64_t bytes) noexcept { set_layout(h, bytes, {}); }

void set_layout(handle_state& h, std::uint64_t bytes, const data_layout& layout, const void* begin) noexcept {
  WEFT_ASSERT(bytes <= bytes_max && (layout == data_layout{} || layout.offset + bytes <= layout.whole));
  const char* const name = name_in(h);
  if (is_home_found(h)) set_home(h, no_home);
  forget_block(h);
  set_payload(h, 0);
  h.sized = bytes != 0;
  if (bytes != 0 && (name != nullptr || begin != nullptr || layout != data_layout{}))
    set_all(h, name, bytes, layout, begin);
  else if (name != nullptr)
    set_name(h, name);
  else
    set_payload(h, bytes);
}

void set_name(handle_state& h, const char* text) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(text);
  if (block* b = block_in(h, peek_acquire(h.about)))
    poke(b->name, text);
  else if (h.sized && text != nullptr)
    set_all(h, text, bytes_of(h));
  else if (!h.sized)
    address >> (64 - home_bits) == 0 ? set_payload(h, address) : set_all(h, text, 0);
}

void set_home(handle_state& h, std::uint16_t node) noexcept {
  const auto about = base::shared(h.about);
  const std::uint64_t stored = (node + std::uint64_t{1}) & home_mask;
  const std::uint64_t gone = home_mask | (h.sized ? found_in_about : 0);
  std::uint64_t old = about.load(base::relaxed);
  while (!about.compare_exchange_weak(old, (old & ~gone) | stored, base::relaxed, base::relaxed)) {
  }
}

void find_home(handle_state& h, std::uint16_t node) noexcept {
  WEFT_ASSERT(node != no_home);
  if (!h.sized || (home_of(h) == node && is_home_found(h))) return;
  const auto about = base::shared(h.about);
  std::uint64_t old = about.load(base::relaxed), with = 0;
  do {
    if ((old & home_mask) != 0 && (old & found_in_about) == 0) return;  // it was said
    with = (old & ~home_mask) | found_in_about | (node + std::uint64_t{1});
  } while (!about.compare_exchange_weak(old, with, base::relaxed, base::relaxed));
}

bool is_home_found(const handle_state& h) noexcept { return h.sized && (peek(h.about) & found_in_about) != 0; }

std::uint64_t bytes_of(const handle_state& h) noexcept {
  if (!h.sized) return 0;
  const std::uint64_t about = peek_acquire(h.about);
  const block* const b = block_in(h, about);
  return b != nullptr ? b->bytes.read() : payload(about) & ~found_bit;
}

const void* address_of(const handle_state& h) noexcept {
  const block* const b = block_in(h, peek_acquire(h.about));
  return b != nullptr ? b->begin.read() : nullptr;
}

const char* name_in(const handle_state& h) noexcept {
  const std::uint64_t about = peek_acquire(h.about);
  if (const block* b = block_in(h, about)) return peek(b->name);
  return h.sized ? nullptr : reinterpret_cast<const char*>(payload(about));
}

std::uint16_t home_of(const handle_state& h) noexcept {
  return static_cast<std::uint16_t>((peek(h.about) & home_mask) - 1);
}

data_layout layout_of(const handle_state& h) noexcept {
  const block* const b = block_in(h, peek_acquire(h.about));
  if (b != nullptr && b->layout.read() != data_layout{}) return b->layout.read();
  const std::uint16_t home = home_of(h);
  return home == no_home || is_home_found(h) ? data_layout{}
                                             : data_layout{memory_placement::on_node(home), 0, bytes_of(h)};
}

void forget_block(handle_state& h) noexcept { delete block_in(h, peek(h.about)); }

}  // namespace weft::detail
