#include "access/registration.hpp"

namespace weft::access {

std::string name_of(const handle_state& h) {
  return h.name != nullptr ? "'" + std::string(h.name) + "'" : "#" + std::to_string(h.id);
}

bool joins_reduction(record& r, const handle_state& h) noexcept {
  for (std::uint32_t i = 0; i < r.access_count; ++i)
    if (const entry& a = r.accesses()[i];
        &handle_of(a) == &h && (kind_of(a) & detail::kind_reduce) == detail::kind_reduce)
      return true;
  return r.applies_reduction;
}

void throw_in_use(const handle_state& h) {
  throw error("weft: handle " + name_of(h) +
              " is still in use by another runtime; wait there before submitting tasks on it here");
}

namespace {

// Marks `a` as a repetition of an entry with the same handle.
void repeat(record& r, entry& a, std::uint8_t first_group) {
  if (group_of(a) != first_group)
    throw error("weft: a task names handle " + name_of(handle_of(a)) +
                " with two kinds of access; name it once, with the stronger kind (a write may also read)");
  if (is_resource(a))
    throw error("weft: a task names resource " + name_of(handle_of(a)) +
                " twice; name it once, with the sum of the units");
  const bool recount = is_exclusive(a);
  a.handle_and_kind |= detail::kind_repeated;
  if (!recount) return;
  r.exclusives = 0;  // counted anew: beyond two the submitter did not say how many
  for (std::uint32_t i = 0; i < r.access_count && r.exclusives < 2; ++i)
    r.exclusives = static_cast<std::uint8_t>(r.exclusives + (is_resource(r.accesses()[i])    ? 2
                                                             : is_exclusive(r.accesses()[i]) ? 1
                                                                                             : 0));
}

}  // namespace

void lock_set::collect(record& r) {
  if (r.access_count > in_place) {
    many_ = std::make_unique<handle_state*[]>(r.access_count);
    handles_ = many_.get();
  }
  // Insertion sort: programs name few handles, mostly in order of creation, where this is one comparison each.
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    entry& a = r.accesses()[i];
    handle_state* h = &handle_of(a);
    std::uint32_t at = size_;
    while (at > 0 && handles_[at - 1]->id > h->id) --at;
    if (at > 0 && handles_[at - 1] == h) {
      std::uint32_t first = 0;
      while (&handle_of(r.accesses()[first]) != h) ++first;
      repeat(r, a, group_of(r.accesses()[first]));
      continue;
    }
    for (std::uint32_t j = size_; j > at; --j) handles_[j] = handles_[j - 1];
    handles_[at] = h;
    ++size_;
  }
}

}  // namespace weft::access
