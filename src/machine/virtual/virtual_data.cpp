// The data of bodies on a modelled machine: which regions of the memory model (model/memory.hpp) they use, and when
// they are there.
#include <algorithm>
#include <string>

#include "access/placed_range.hpp"
#include "access/version.hpp"
#include "base/assert.hpp"
#include "machine/virtual/virtual.hpp"
#include "weft/error.hpp"

namespace weft::machine {

// What of the data of r's handles has a size. A handle that is named twice is used once.
bool virtual_machine::find_uses(detail::record& r) {
  uses_.clear();
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    const detail::access& a = r.accesses()[i];
    const detail::handle_state& h = access::handle_of(a);
    if (!h.sized || access::is_repeated(a) || access::is_resource(a)) continue;
    const bool writes = (access::kind_of(a) & detail::kind_readonly) == 0;
    uses_.push_back({region_of(h.id, detail::layout_of(h)), detail::bytes_of(h), true, writes});
  }
  return !uses_.empty();
}

// Ranges of addresses, by chunk: a region each.
void virtual_machine::find_uses(std::span<const data_use> said) {
  uses_.clear();
  const std::uint64_t chunk = setup_.model.memory.chunk_bytes;
  for (const data_use& u : said) {
    if (u.bytes == 0) continue;
    const access::placed_range in = access::range_at(u.begin, u.bytes);
    if (in.number == 0)
      throw error("weft: charge: " + std::to_string(u.bytes) +
                  " bytes that a body moves lie in no range of memory that was placed, or only partly; tell "
                  "weft::place_memory of all of it, or use a weft::numa_array");
    WEFT_ASSERT(in.number >> 31 == 0 && in.layout.whole / chunk >> 32 == 0);
    WEFT_ASSERT(in.layout.offset + u.bytes <= in.layout.whole);
    for (std::uint64_t at = in.layout.offset, end = at + u.bytes; at < end;) {
      const std::uint64_t number = at / chunk, here = std::min(end, (number + 1) * chunk) - at;
      const std::uint32_t region =
          region_of(from_range | in.number << 32 | number, {in.layout.how, number * chunk, in.layout.whole}, in.number);
      uses_.push_back({region, here, u.reads, u.writes});
      at += here;
    }
  }
}

// Data of handles that were nowhere before r's body touched them have a home now, which placement may ask for. Each is
// told once.
void virtual_machine::find_homes(detail::record& r) {
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    const detail::access& a = r.accesses()[i];
    if (!access::has_handle(a) || access::is_resource(a)) continue;
    detail::handle_state& h = access::handle_of(a);
    if (!h.sized) continue;
    const auto at = regions_.find(h.id);
    if (at == regions_.end() || homed_[at->second]) continue;
    homed_[at->second] = true;
    const std::uint32_t node = memory_->home(at->second);
    if (node != model::caches::none) detail::find_home(h, static_cast<std::uint16_t>(node));
  }
}

std::uint32_t virtual_machine::region_of(std::uint64_t key, const detail::data_layout& layout, std::uint64_t range) {
  if (homed_.size() == regions_.size()) homed_.push_back(false);  // before, so that it is never the shorter one
  const auto [at, is_new] = regions_.try_emplace(key, static_cast<std::uint32_t>(regions_.size()));
  if (!is_new) return at->second;
  const bool is_said = layout.how.how() != memory_placement::kind::first_touch;
  if (is_said || (range != 0 && data().has_pages())) data().place(at->second, layout, range);
  return at->second;
}

void virtual_machine::renew_data(const detail::handle_state& h) {
  const auto at = regions_.find(h.id);
  if (at == regions_.end()) return;
  homed_[at->second] = false;
  counts_on([&] {
    data().forget(at->second);
    const detail::data_layout layout = detail::layout_of(h);
    if (layout.how.how() != memory_placement::kind::first_touch) data().place(at->second, layout);
  });
}

model::memory& virtual_machine::data() {
  if (!memory_) memory_.emplace(setup_.model);
  return *memory_;
}

// The data of uses_ moves while the body computes. When it will be there changes as other bodies begin and end to move
// theirs, so the core waits for an event that the others may put off or bring forward (reschedule).
// The model wants to be asked in order of time, so whoever is earlier goes first.
void virtual_machine::move_data(std::uint64_t compute_ps, const char* task_name) {
  std::vector<model::use> mine;
  counts_on([&] { mine = uses_; });
  wait_until(self_->clock);
  changed_.clear();
  const bool moves = counts_on([&] {
    model::memory& memory = data();
    const auto units = memory.of_units(self_->seat, task_name);
    self_->clock = memory.begin(self_->seat, mine, self_->clock, compute_ps, changed_, units);
  });
  if (!moves) return advance(compute_ps);
  reschedule();
  if (self_->clock >= earliest_) yield();
  changed_.clear();
  if (counts_on([&] { memory_->end(self_->seat, self_->clock, changed_); })) reschedule();
}

void virtual_machine::reschedule() {
  for (const model::change& c : changed_)
    for (unsigned id = 0; id < cores_.size(); ++id)
      if (cores_[id].seat == c.core && id != running_) {
        cores_[id].clock = c.end_ps;
        enqueue(id);
      }
}

}  // namespace weft::machine
