#include "access/registration.hpp"

#include <algorithm>
#include <vector>

namespace weft::access {

bool joins_reduction(record& r, const handle_state& h) noexcept {
  for (std::uint32_t i = 0; i < r.access_count; ++i)
    if (const entry& a = r.accesses()[i];
        &handle_of(a) == &h && (kind_of(a) & detail::kind_reduce) == detail::kind_reduce)
      return true;
  return r.internal;
}

void throw_in_use(const handle_state& h) {
  throw error("weft: handle " + name_of(h) +
              " is still in use by another runtime; wait there before submitting tasks on it here");
}

void throw_too_many(const handle_state& h) {
  throw error("weft: handle " + name_of(h) + " has " + std::to_string(outstanding_max) +
              " accesses that are not done, the most that versions of " + std::to_string(version_bits) +
              " bits can tell apart; wait before submitting more");
}

void repeat(const entry& first, entry& a) {
  if ((group_of(a) & ~detail::kind_repeated) != group_of(first))
    throw error("weft: a task names handle " + name_of(handle_of(a)) +
                " with two kinds of access; name it once, with the stronger kind (a write may also read)");
  if (is_resource(a))
    throw error("weft: a task names resource " + name_of(handle_of(a)) +
                " twice; name it once, with the sum of the units");
  if (is_repeated(a)) return;
  a.handle_and_kind |= detail::kind_repeated;
  a.required = 0;  // no amount
}

namespace {

// For a task with repetitions: beyond two the submitter did not say how many exclusive accesses there are.
[[nodiscard]] std::uint8_t count_exclusives(record& r) noexcept {
  std::uint8_t n = 0;
  for (std::uint32_t i = 0; i < r.access_count && n < 2; ++i) switch (condition_of(r.accesses()[i])) {
    case condition::units: n = 2; break;
    case condition::exclusive: ++n; break;
    default: break;
    }
  return n < 2 ? n : 2;
}

}  // namespace

void lock_set::collect(record& r) {
  const bool repeats = r.access_count <= in_place ? collect_few(r) : collect_many(r);
  if (repeats && r.exclusives != 0) r.exclusives = count_exclusives(r);
}

// Insertion sort: programs name few handles, mostly in order of creation, where this is one comparison each.
bool lock_set::collect_few(record& r) {
  bool repeats = false;
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    entry& a = r.accesses()[i];
    handle_state* h = &handle_of(a);
    std::uint32_t at = size_;
    while (at > 0 && comes_before(*h, *handles_[at - 1])) --at;
    if (at > 0 && handles_[at - 1] == h) {
      std::uint32_t first = 0;
      while (&handle_of(r.accesses()[first]) != h) ++first;
      repeat(r.accesses()[first], a);
      repeats = true;
      continue;
    }
    for (std::uint32_t j = size_; j > at; --j) handles_[j] = handles_[j - 1];
    handles_[at] = h;
    ++size_;
  }
  return repeats;
}

// A range of handles may be thousands, in any order: sorted by n log n comparisons, the first mention of each in front.
bool lock_set::collect_many(record& r) {
  std::vector<entry*> sorted(r.access_count);
  for (std::uint32_t i = 0; i < r.access_count; ++i) sorted[i] = &r.accesses()[i];
  const auto before = [](const entry* a, const entry* b) {
    const handle_state &x = handle_of(*a), &y = handle_of(*b);
    return &x != &y ? comes_before(x, y) : a < b;
  };
  if (!std::is_sorted(sorted.begin(), sorted.end(), before)) std::sort(sorted.begin(), sorted.end(), before);
  many_ = std::make_unique<handle_state*[]>(r.access_count);
  handles_ = many_.get();
  const entry* first = nullptr;
  for (entry* a : sorted) {
    if (first != nullptr && &handle_of(*first) == &handle_of(*a)) {
      repeat(*first, *a);
      continue;
    }
    first = a;
    handles_[size_++] = &handle_of(*a);
  }
  return size_ < r.access_count;
}

}  // namespace weft::access
