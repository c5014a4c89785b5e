#include "optimistic.hpp"

#include <bit>

namespace weft::apps::order {

void epochs::enter(chip_thread& t) {
  if (t.rank() == 0 && t.cycle() >= next_) advance(t);
  t.atomic_store(seen_[t.rank()].value, now(t));
}

void epochs::advance(chip_thread& t) {
  const std::uint64_t is = now(t);
  for (std::uint32_t i = 1; i < t.count(); ++i) {
    const std::uint64_t there = t.atomic_load(seen_[i].value);
    if (there != is && there != left) return;  // at the next transaction, then
  }
  t.atomic_store(global_.value, is + 1);
  next_ = t.cycle() + length_;
}

std::uint64_t transaction::when_unlocked(chip_thread& t, const std::uint64_t& tid) {
  std::uint64_t there = t.atomic_load(tid);
  while ((there & lock_bit) != 0) there = t.wait(tid, there);
  return there;
}

transaction::entry& transaction::note(chip_thread& t, const record& of, std::uint64_t seen, bool written) {
  entry& e = entries_.at(count_++);
  t.store(e.of, of);
  t.store(e.seen, seen);
  t.store(e.written, written ? 1 : 0);
  return e;
}

transaction::entry& transaction::access(chip_thread& t, const record& of) {
  for (std::size_t i = 0; i < count_; ++i) {
    t.work(loop_instructions);
    if (t.load(entries_[i].of.key) == of.key) return entries_[i];
  }
  for (;;) {
    const std::uint64_t before = when_unlocked(t, *of.tid);
    values there{};
    for (std::size_t i = 0; i < fields_max && of.fields[i] != nullptr; ++i) there[i] = t.atomic_load(*of.fields[i]);
    t.work(loop_instructions);
    if (t.atomic_load(*of.tid) != before) continue;  // written meanwhile: the fields may be of two transactions
    entry& e = note(t, of, before, false);
    for (std::size_t i = 0; i < fields_max && of.fields[i] != nullptr; ++i) t.store(e.copy[i], there[i]);
    return e;
  }
}

transaction::values& transaction::update(chip_thread& t, const record& of) {
  entry& e = access(t, of);
  t.store(e.written, 1);
  return e.copy;
}

transaction::values* transaction::insert(chip_thread& t, const record& of) {
  const std::uint64_t before = when_unlocked(t, *of.tid);
  if (before != 0) return nullptr;
  return &note(t, of, before, true).copy;
}

void transaction::sort(chip_thread& t) {
  written_ = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    t.work(loop_instructions);
    if (t.load(entries_[i].written) != 0) t.store(sorted_[written_++], {t.load(entries_[i].of.key), i});
  }
  t.work(sort_instructions * written_ * static_cast<std::uint64_t>(std::bit_width(written_)));
  std::sort(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(written_),
            [](const sorted_entry& a, const sorted_entry& b) { return a.key < b.key; });
}

// Who waits for a lock holds only such as come before it, so nobody waits in a circle.
void transaction::lock_all(chip_thread& t) {
  sort(t);
  each_written(t, [&](entry& e) {
    std::uint64_t& tid = *t.load(e.of.tid);
    std::uint64_t there = when_unlocked(t, tid);
    while (!t.compare_exchange(tid, there, there | lock_bit)) there = when_unlocked(t, tid);
  });
}

// A lock that is another's makes a record differ from what was seen.
bool transaction::validate(chip_thread& t) {
  for (std::size_t i = 0; i < count_; ++i) {
    const entry& e = entries_[i];
    t.work(loop_instructions);
    const std::uint64_t own = t.load(e.written) != 0 ? lock_bit : 0;
    if (t.atomic_load(*t.load(e.of.tid)) != (t.load(e.seen) | own)) return false;
  }
  return true;
}

// Larger than all that it has seen and that this thread has had, and of the epoch (Silo §4.2).
std::uint64_t transaction::next_tid(chip_thread& t, std::uint64_t epoch) {
  std::uint64_t tid = std::max(last_tid_ + tid_step, epoch << epoch_shift);
  for (std::size_t i = 0; i < count_; ++i) {
    t.work(loop_instructions);
    tid = std::max(tid, t.load(entries_[i].seen) + tid_step);
  }
  return last_tid_ = tid;
}

void transaction::install(chip_thread& t, std::uint64_t tid) {
  each_written(t, [&](const entry& e) {
    const record of = t.load(e.of);
    for (std::size_t i = 0; i < fields_max && of.fields[i] != nullptr; ++i)
      t.atomic_store(*of.fields[i], t.load(e.copy[i]));
    t.atomic_store(*of.tid, tid);
  });
}

void transaction::unlock_all(chip_thread& t) {
  each_written(t, [&](const entry& e) {
    std::uint64_t& tid = *t.load(e.of.tid);
    t.atomic_store(tid, t.load(tid) & ~lock_bit);
  });
}

}  // namespace weft::apps::order
