// Versions of words (speculative.md): which admitted task has written what, and who has read it. A read sees, of each
// byte, what the last task before it has written, or base memory. A write that changes what later ones have read finds
// them in the list of readers and makes them stale. Nothing that is written makes a write wait, and no write makes an
// earlier reader stale: there is a version for each.
//
// Words are spread over buckets, each with a lock, a list of versions, the latest task first, and one of readers. The
// entries are the accesses of the tasks.
// Order: all that is said here about a word happens under its bucket's lock. A task's `stale` is set under that of a
// word it has read; and it has taken itself out of all lists of readers before it clears that.
#pragma once
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "ordered/speculative_task.hpp"

namespace weft::speculative {

template <class M> class versions {
 public:
  // Reads the bytes of `mask`, which t has neither read nor written in this run, into a, and registers that.
  // Returns nobody, or the task whose value it would have been if that were not to run again: then a is as it was.
  [[nodiscard, gnu::always_inline]] task_ref read(task& t, word_access& a, byte_mask mask) {
    bucket& b = bucket_of(a);
    const base::locked<M> guard(b.lock);
    if (b.versions != nullptr || mask != whole_word) [[unlikely]]
      return read_pieces(b, t, a, mask);
    WEFT_ASSERT(a.read == 0);  // else a part of it would not be missing
    a.value = read_piece<std::uint64_t, base::relaxed>(a.word);
    link_reader(b, a);
    a.read = mask;
    return {};
  }

  // The same for a task that nothing comes before any more: what it reads is in base memory, and stays.
  [[gnu::always_inline]] static void read_first(word_access& a, byte_mask mask) noexcept {
    a.value = merged(a.value, read_memory<base::relaxed>(a.word, mask), mask);
    a.read = static_cast<byte_mask>(a.read | mask);
  }

  // Makes what a says was written visible, in place of what `old` said, if there is one. Those who have read what is
  // not so any more are made stale and added to `stale`.
  void publish(word_access& a, std::vector<task_ref>& stale) {
    WEFT_ASSERT(a.written != 0 && !a.published);
    bucket& b = bucket_of(a);
    const base::locked<M> guard(b.lock);
    word_access* before_it = nullptr;
    word_access* at = b.versions;
    while (at != nullptr && at->by != a.by && !precedes(*at->by, *a.by)) before_it = at, at = at->next_version;
    word_access* old = at;
    while (old != nullptr && old->by == a.by && old->word != a.word) old = old->next_version;
    if (old != nullptr && old->by != a.by) old = nullptr;
    const byte_mask touched = old == nullptr ? a.written : static_cast<byte_mask>(a.written | old->written);
    const bool is_read = has_readers(b, a);
    const std::uint64_t was = is_read ? visible(b, a.word, touched, at).value : 0;
    if (old != nullptr) {
      if (at == old) at = old->next_version;
      unlink_version(b, *old);
    }
    link_version(b, a, before_it, at);
    if (!is_read) return;
    const std::uint64_t is = visible(b, a.word, touched, &a).value;
    tell_readers(b, a, difference(was, is, touched), stale);
  }

  // What a said was written was not.
  void retract(word_access& a, std::vector<task_ref>& stale) {
    if (!a.published) return;
    bucket& b = *static_cast<bucket*>(a.bucket);
    const base::locked<M> guard(b.lock);
    const std::uint64_t was = visible(b, a.word, a.written, &a).value;
    const std::uint64_t is = visible(b, a.word, a.written, a.next_version).value;
    unlink_version(b, a);
    tell_readers(b, a, difference(was, is, a.written), stale);
  }

  // publish() and commit() in one, for a task that nothing comes before any more and that has published nothing: base
  // memory is what a says, and nobody needs a version of it.
  void happen(word_access& a, std::vector<task_ref>& stale) {
    WEFT_ASSERT(!a.published);
    if (a.written == 0 && !a.registered) return;
    bucket& b = bucket_of(a);
    const base::locked<M> guard(b.lock);
    if (a.registered) unlink_reader(b, a);
    if (a.written == 0) return;
    WEFT_DEBUG_ASSERT(first_before(b, *a.by) == nullptr);
    const bool is_read = has_readers(b, a);
    const std::uint64_t was = is_read ? read_memory<base::relaxed>(a.word, a.written) : 0;
    write_memory<base::relaxed>(a.word, a.value, a.written);
    if (is_read) tell_readers(b, a, difference(was, a.value, a.written), stale);
  }

  // Its task does not rely on what it has read any more.
  void forget_read(word_access& a) {
    if (!a.registered) return;
    bucket& b = *static_cast<bucket*>(a.bucket);
    const base::locked<M> guard(b.lock);
    unlink_reader(b, a);
  }

  // The oldest task's access happens: base memory is what it says.
  void commit(word_access& a) {
    if (!a.registered && !a.published) return;
    bucket& b = *static_cast<bucket*>(a.bucket);
    const base::locked<M> guard(b.lock);
    if (a.registered) unlink_reader(b, a);
    if (!a.published) return;
    WEFT_ASSERT(a.next_version == nullptr || a.next_version->by == a.by);  // what is before it has happened
    write_memory<base::relaxed>(a.word, a.value, a.written);
    unlink_version(b, a);
  }

 private:
  struct bucket;
  // The same where somebody has written there, or of a part of the word. Who: holds the bucket's lock.
  [[nodiscard, gnu::noinline]] task_ref read_pieces(bucket& b, task& t, word_access& a, byte_mask mask) {
    const seen s = b.versions == nullptr ? seen{read_memory<base::relaxed>(a.word, mask), nullptr}
                                         : visible(b, a.word, mask, first_before(b, t));
    WEFT_ASSERT(s.unsettled != &t);  // it would wait for itself
    if (s.unsettled != nullptr) return {s.unsettled, s.unsettled->generation};
    a.value = merged(a.value, s.value, mask);
    if (!a.registered) link_reader(b, a);
    a.read = static_cast<byte_mask>(a.read | mask);
    return {};
  }

  struct alignas(32) bucket {
    detail::cell<std::uint8_t> lock;
    word_access* versions = nullptr;
    word_access* readers = nullptr;
  };
  struct seen {
    std::uint64_t value;
    task* unsettled;
  };
  static constexpr unsigned bucket_bits = 14;  // 512 KiB; live accesses are bounded by the window

  [[nodiscard]] bucket& bucket_of(word_access& a) {
    if (a.bucket == nullptr) a.bucket = &buckets_.of(a.word);
    return *static_cast<bucket*>(a.bucket);
  }

  [[nodiscard]] static word_access* first_before(const bucket& b, const task& t) noexcept {
    word_access* at = b.versions;
    while (at != nullptr && !precedes(*at->by, t)) at = at->next_version;
    return at;
  }
  // What those from `at` on make of these bytes.
  [[nodiscard]] static seen visible(const bucket& b, std::uintptr_t word, byte_mask mask,
                                    const word_access* at) noexcept {
    WEFT_ASSERT(base::held(b.lock));
    seen s{0, nullptr};
    for (; at != nullptr && mask != 0; at = at->next_version) {
      const byte_mask here = static_cast<byte_mask>(at->written & mask);
      if (at->word != word || here == 0) continue;
      s.value = merged(s.value, at->value, here);
      if (s.unsettled == nullptr && at->by->unsettled()) s.unsettled = at->by;
      mask = static_cast<byte_mask>(mask & ~here);
    }
    if (mask != 0) s.value = merged(s.value, read_memory<base::relaxed>(word, mask), mask);
    return s;
  }
  // Whether anybody else has read of this word, so that it matters what becomes of it.
  [[nodiscard]] static bool has_readers(const bucket& b, const word_access& a) noexcept {
    for (const word_access* r = b.readers; r != nullptr; r = r->next_reader)
      if (r->word == a.word && r->by != a.by) return true;
    return false;
  }
  // Bytes of the word that `from` wrote are others now. Who: holds the bucket's lock.
  static void tell_readers(bucket& b, const word_access& from, byte_mask changed, std::vector<task_ref>& stale) {
    if (changed == 0) return;
    WEFT_ASSERT(base::held(b.lock));
    for (word_access* r = b.readers; r != nullptr; r = r->next_reader) {
      byte_mask theirs = static_cast<byte_mask>(r->read & changed);
      if (r->word != from.word || theirs == 0 || !precedes(*from.by, *r->by)) continue;
      for (const word_access* v = b.versions; v != nullptr && theirs != 0 && precedes(*from.by, *v->by);
           v = v->next_version)
        if (v->word == from.word && precedes(*v->by, *r->by)) theirs = static_cast<byte_mask>(theirs & ~v->written);
      if (theirs == 0 || detail::peek(r->by->stale) != 0) continue;
      M::store(r->by->stale, std::uint32_t{1}, base::relaxed);  // its thread and those that read its values see it
      stale.push_back({r->by, r->by->generation});
    }
  }

  static void link_reader(bucket& b, word_access& a) noexcept {
    WEFT_ASSERT(base::held(b.lock) && !a.registered);
    a.registered = true;
    a.previous_reader = nullptr;
    a.next_reader = b.readers;
    if (b.readers != nullptr) b.readers->previous_reader = &a;
    b.readers = &a;
  }
  static void unlink_reader(bucket& b, word_access& a) noexcept {
    WEFT_ASSERT(base::held(b.lock) && a.registered &&
                (a.previous_reader == nullptr ? b.readers : a.previous_reader->next_reader) == &a);
    WEFT_ASSERT(a.next_reader == nullptr || a.next_reader->previous_reader == &a);
    (a.previous_reader == nullptr ? b.readers : a.previous_reader->next_reader) = a.next_reader;
    if (a.next_reader != nullptr) a.next_reader->previous_reader = a.previous_reader;
    a.registered = false;
  }
  static void link_version(bucket& b, word_access& a, word_access* previous, word_access* next) noexcept {
    WEFT_ASSERT(base::held(b.lock) && (previous == nullptr ? b.versions : previous->next_version) == next);
    WEFT_ASSERT(next == nullptr || next->previous_version == previous);
    WEFT_DEBUG_ASSERT(previous == nullptr || precedes(*a.by, *previous->by));  // the latest task is first
    WEFT_DEBUG_ASSERT(next == nullptr || next->by == a.by || precedes(*next->by, *a.by));
    a.previous_version = previous;
    a.next_version = next;
    (previous == nullptr ? b.versions : previous->next_version) = &a;
    if (next != nullptr) next->previous_version = &a;
    a.published = true;
  }
  static void unlink_version(bucket& b, word_access& a) noexcept {
    WEFT_ASSERT(base::held(b.lock) && a.published);
    WEFT_ASSERT((a.previous_version == nullptr ? b.versions : a.previous_version->next_version) == &a);
    WEFT_ASSERT(a.next_version == nullptr || a.next_version->previous_version == &a);
    (a.previous_version == nullptr ? b.versions : a.previous_version->next_version) = a.next_version;
    if (a.next_version != nullptr) a.next_version->previous_version = a.previous_version;
    a.published = false;
  }

  typename M::template by_word<bucket, bucket_bits> buckets_;
};

}  // namespace weft::speculative
