#include "machine/virtual/lines.hpp"

#include <algorithm>
#include <bit>

namespace weft::machine {

namespace {
constexpr std::size_t first_table = 1 << 12;
// With a thousand cores the copies take 8 bytes each; beyond this many per core nothing of interest is left to forget.
constexpr unsigned kept_max = 1 << 14;
constexpr lines::number stand_in = 0;  // of lines for which there is no memory
}  // namespace

lines::lines(const model::machine& m, const std::vector<unsigned>& seats, unsigned kept)
    : costs_(m.lines), workers_(static_cast<unsigned>(seats.size())),
      kept_(std::bit_floor(std::clamp(kept, 64u, kept_max))), distance_(seats.size() * seats.size()),
      copies_(seats.size() * kept_), table_(first_table), mask_(first_table - 1) {
  for (unsigned a = 0; a < workers_; ++a)
    for (unsigned b = 0; b < workers_; ++b)
      distance_[a * workers_ + b] = static_cast<std::uint8_t>(m.distance(seats[a], seats[b]));
  for (const unsigned seat : seats) {
    unsigned far = 0;
    for (unsigned c = 0; c < m.cores.size(); ++c) far = std::max(far, m.distance(seat, c));
    farthest_.push_back(static_cast<std::uint8_t>(far));
  }
  lines_.reserve(stand_in + 1);
}

void lines::make_room() {
  std::vector<entry> old(2 * table_.size());
  old.swap(table_);
  mask_ = table_.size() - 1;
  for (const entry& e : old) {
    if (e.address == 0) continue;
    std::size_t slot = hash(e.address) & mask_;
    while (table_[slot].address != 0) slot = (slot + 1) & mask_;
    table_[slot] = e;
  }
}

lines::number lines::enter(std::uintptr_t a) noexcept {
  if (2 * (known_ + 1) > table_.size()) try {
      make_room();
    } catch (const std::bad_alloc&) {
      ran_out_ = true;
      return stand_in;
    }
  std::size_t slot = hash(a) & mask_;
  while (table_[slot].address != 0) slot = (slot + 1) & mask_;
  table_[slot] = {a, next_number()};
  ++known_;
  return table_[slot].line;
}

lines::number lines::next_number() noexcept {
  try {
    lines_.emplace_back();
  } catch (const std::bad_alloc&) {
    ran_out_ = true;
    return stand_in;
  }
  return static_cast<number>(lines_.size() - 1);
}

// A request waits for those before it. Copies elsewhere are told in parallel with the line's own way here, so the
// farther of the two counts; of those who queue to write, the first has all of them told. Reading leaves the line with
// its owner, which serves the next reader meanwhile.
std::uint64_t lines::ask(unsigned core, number l, std::uint64_t now, bool alone) noexcept {
  line& x = lines_[l];
  const bool shared = alone && x.copies != 0;
  const std::uint16_t from = x.next;
  std::uint64_t cost = 0;
  if (from == nobody || (from == core && !shared)) {
    cost = costs_.memory_ps[0];
    ++counts_.fetches;
  } else {
    const unsigned far = std::max<unsigned>(distance(core, from), shared ? x.farthest : 0);
    cost = costs_.transfer_ps[std::max(far, 1u)];
    if (shared && !x.told) cost += several_ps(core, l, far);
    x.told = x.told || shared;
    ++counts_.transfers;
  }
  const std::uint64_t start = std::max(now, x.busy_until);
  counts_.waits_ps += start - now;
  const std::uint64_t end = std::max(start, x.gone_at) + cost;
  if (alone) {
    x.busy_until = end;
    x.next = static_cast<std::uint16_t>(core);
  }
  return end;
}

// By how much all copies elsewhere take longer to go than one at distance `far`.
std::uint64_t lines::several_ps(unsigned core, number l, unsigned far) const noexcept {
  const line& x = lines_[l];
  const unsigned elsewhere = 1u + x.copies - (readable(core, l) ? 1u : 0u);
  if (x.copies == 0 || elsewhere < 2) return 0;
  const unsigned told = costs_.probes_all ? std::max<unsigned>(far, farthest_[core]) : far;
  return costs_.transfer_ps[told] - costs_.transfer_ps[far] + (elsewhere - 1) * costs_.invalidate_ps;
}

void lines::take(unsigned core, number l, std::uint64_t now) noexcept {
  line& x = lines_[l];
  if (x.busy_until <= now) x.next = static_cast<std::uint16_t>(core);
  if (x.copies != 0) {
    const std::uint64_t more = several_ps(core, l, std::max<unsigned>(x.farthest, distance(core, x.owner)));
    if (more != 0) x.gone_at = std::max(now, x.gone_at) + more;
  }
  arrived(core, l, true);
}

void lines::arrived(unsigned core, number l, bool alone) noexcept {
  line& x = lines_[l];
  if (alone) {
    ++x.version;
    x.owner = static_cast<std::uint16_t>(core);
    if (x.next == nobody) x.next = x.owner;
    x.copies = 0;
    x.farthest = 0;
    x.told = false;
  } else if (x.owner != core) {
    if (x.owner == nobody) {
      x.owner = x.next = static_cast<std::uint16_t>(core);
    } else {
      x.copies = static_cast<std::uint16_t>(std::min<unsigned>(x.copies + 1u, workers_ - 1));
      x.farthest = std::max(x.farthest, static_cast<std::uint8_t>(distance(core, x.owner)));
    }
  }
  copies_[core * kept_ + (l & (kept_ - 1))] = {l, x.version};
}

void lines::forget(const void* address, std::size_t bytes) {
  const auto* first = static_cast<const char*>(address);
  for (std::size_t at = 0; at < bytes; at += std::size_t{1} << line_bits) {
    const std::uintptr_t a = reinterpret_cast<std::uintptr_t>(first + at) >> line_bits;
    std::size_t slot = hash(a) & mask_;
    while (table_[slot].address != a && table_[slot].address != 0) slot = (slot + 1) & mask_;
    if (table_[slot].address != 0) table_[slot].line = forgotten;
  }
}

}  // namespace weft::machine
