// Transactions by Silo's optimistic concurrency control (Tu et al., SOSP 2013, §4), on threads of the modelled chip. A
// record has a TID word: a lock bit, and which transaction wrote it last. Who reads it notes the word and works on a
// copy. A commit locks what it writes in the order of keys, validates that what it has read is still as it was, and
// installs its copies under a new TID; nothing shared is written before that.
// Invariant: committed transactions have done what they would have done one after the other, in the order in which they
// had all their locks. Who wrote what another has read, but did not see, locked it after the other had validated it,
// which is after the other had all its locks; who saw what another wrote did so after that had unlocked it.
// Retries wait for random times (the caller's part): two in step, each reading what the other writes, would find each
// other's locks for ever.
// Left out, as no request here needs it: logs, snapshots, and node versions against phantoms (nobody scans).
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "paged.hpp"
#include "weft/lab/chip_threads.hpp"

namespace weft::apps::order {

constexpr std::size_t fields_max = 4;
constexpr std::size_t records_max = 34;  // of a transaction: a warehouse, a district, an order, its receipt, its lines

// Where a record lies. Keys, not addresses, order the locks: those differ from run to run.
struct record {
  std::uint64_t key = 0;
  std::uint64_t* tid = nullptr;
  std::array<std::uint64_t*, fields_max> fields{};  // nullptr: it has fewer
};

// TIDs of one epoch are larger than those of all before. Epochs are for logs and memory that is reclaimed; what they
// cost a transaction is a word that all read, and one of its thread.
class alignas(page_bytes) epochs {
 public:
  static constexpr std::uint64_t length = 80'000'000;  // cycles: 40 ms (Silo §4.1) at 2 GHz

  explicit epochs(std::uint64_t cycles = length) : length_(cycles), next_(cycles) {}
  [[nodiscard]] std::uint64_t now(chip_thread& t) { return t.atomic_load(global_.value); }
  // Before each transaction. Thread 0 advances the epoch, when all have seen the one that is.
  void enter(chip_thread& t);
  void leave(chip_thread& t) { t.atomic_store(seen_[t.rank()].value, left); }

 private:
  static constexpr std::uint64_t left = UINT64_MAX;
  struct alignas(64) word {
    std::uint64_t value = 1;
  };
  void advance(chip_thread& t);

  word global_;
  std::array<word, chip_threads_max> seen_;
  std::uint64_t length_, next_;  // of thread 0
};

// A thread's transactions, one after the other.
class alignas(page_bytes) transaction {
 public:
  using values = std::array<std::uint64_t, fields_max>;

  void begin() { count_ = 0; }
  // A copy of the record, the one it has already where it has. Until commit().
  [[nodiscard]] const values& read(chip_thread& t, const record& of) { return access(t, of).copy; }
  // Such a copy, which commit() installs.
  [[nodiscard]] values& update(chip_thread& t, const record& of);
  // A copy of a record that is not there yet; nullptr: it is.
  [[nodiscard]] values* insert(chip_thread& t, const record& of);
  // Returns whether the transaction has happened. `locked` is called when all locks are held, and costs nothing.
  template <class Locked> [[nodiscard]] bool commit(chip_thread& t, epochs& e, const Locked& locked) {
    lock_all(t);
    const std::uint64_t epoch = e.now(t);
    locked();
    if (!validate(t)) {
      unlock_all(t);
      return false;
    }
    install(t, next_tid(t, epoch));
    return true;
  }

 private:
  static constexpr std::uint64_t lock_bit = 1, tid_step = 2;
  static constexpr unsigned epoch_shift = 40;
  // Instructions beside loads and stores: of each round over a set, and of sorting each entry at each level, as the
  // serial program's list has them (lab/swarm/waiting_calls.hpp).
  static constexpr std::uint64_t loop_instructions = 3, sort_instructions = 5;

  struct alignas(64) entry {
    record of;
    std::uint64_t seen = 0;  // its TID word
    std::uint64_t written = 0;
    values copy{};
  };
  struct sorted_entry {
    std::uint64_t key;
    std::uint64_t index;
  };

  [[nodiscard]] static std::uint64_t when_unlocked(chip_thread& t, const std::uint64_t& tid);
  entry& note(chip_thread& t, const record& of, std::uint64_t seen, bool written);
  [[nodiscard]] entry& access(chip_thread& t, const record& of);
  void sort(chip_thread& t);
  void lock_all(chip_thread& t);
  [[nodiscard]] bool validate(chip_thread& t);
  [[nodiscard]] std::uint64_t next_tid(chip_thread& t, std::uint64_t epoch);
  void install(chip_thread& t, std::uint64_t tid);
  void unlock_all(chip_thread& t);
  // What is written, in the order of keys.
  template <class Part> void each_written(chip_thread& t, const Part& part) {
    for (std::size_t i = 0; i < written_; ++i) {
      t.work(loop_instructions);
      part(entries_[t.load(sorted_[i].index)]);
    }
  }

  std::array<entry, records_max> entries_;
  std::array<sorted_entry, records_max> sorted_;
  std::uint64_t last_tid_ = 0;
  std::size_t count_ = 0, written_ = 0;  // of entries, of sorted
};

}  // namespace weft::apps::order
