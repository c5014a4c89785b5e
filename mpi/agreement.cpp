#include "agreement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace weft::detail {

namespace {

constexpr std::size_t parts_kept = 64;

}  // namespace

void agreement::letter::set(const void* data, std::size_t n) {
  size = std::min(n, text_bytes_max);
  std::memcpy(text, data, size);
}

agreement::agreement(cluster& w, poller& p, int control_tag)
    : rank_(w.rank()), size_(w.size()), tag_(control_tag), rt_(w.on()), poller_(p) {
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_ || (rank_ != 0 && peer != 0)) continue;
    auto f = std::make_unique<letter_flight>();
    f->peer = peer;
    f->tag = tag_;
    f->shorter = true;
    f->of = this;
    f->over = &agreement::letter_over;
    expect_letter(*f);
    expected_.push_back(std::move(f));
  }
}

void agreement::expect_letter(letter_flight& f) {
  f.data = &f.content;
  f.bytes = sizeof(letter);
  poller_.post(f, true);
}

void agreement::letter_over(flight& f, const std::exception_ptr& why) {
  auto& l = static_cast<letter_flight&>(f);
  if (why != nullptr) return l.of->broken(why);
  const letter content = l.content;
  l.of->expect_letter(l);
  l.of->arrived(content);
}

void agreement::sent(flight& f, const std::exception_ptr&) { delete &static_cast<letter_flight&>(f); }

void agreement::arrived(const letter& l) {
  outbox out;
  {
    const std::scoped_lock hold(mutex_);
    handle(l, out);
  }
  act(out);
}

void agreement::broken(const std::exception_ptr& why) {
  outbox out;
  {
    const std::scoped_lock hold(mutex_);
    if (broken_ != nullptr) return;
    broken_ = why;
    out.released = std::exchange(waiting_, nullptr);
    out.why = why;
  }
  act(out);
}

void agreement::act(outbox& out) {
  for (outbox::item& i : out.letters) {
    auto* const f = new letter_flight;
    f->content = i.content;
    f->data = &f->content;
    f->bytes = offsetof(letter, text) + i.content.size;
    f->peer = i.to;
    f->tag = tag_;
    f->sends = f->shorter = true;
    f->over = &agreement::sent;
    poller_.post(*f, true);
  }
  if (out.released != nullptr) out.why != nullptr ? out.released->fail(out.why) : out.released->fulfil();
  if (!out.fail.empty()) poller_.fail(out.fail);
}

agreement::letter agreement::about(kind what, std::uint64_t a, std::uint64_t b, const std::string& text) const {
  letter l;
  l.what = what;
  l.from = rank_;
  l.a = a;
  l.b = b;
  l.set(text.data(), text.size());
  return l;
}

// Of letters to this rank none is made: what they say is done.
void agreement::to(outbox& out, int rank, const letter& l) {
  if (rank == rank_)
    handle(l, out);
  else
    out.letters.push_back({rank, l});
}

void agreement::compare(std::uint64_t tasks, std::uint64_t hash, std::vector<task_note> since) {
  if (size_ == 1) return;
  outbox out;
  {
    const std::scoped_lock hold(mutex_);
    parts_.push_back({parts_so_far_, compared_tasks_, std::move(since)});
    if (parts_.size() > parts_kept) parts_.pop_front();
    letter l = about(kind::compare, parts_so_far_++, tasks);
    l.c = hash;
    compared_tasks_ = tasks;
    to(out, 0, l);
  }
  act(out);
}

first_failure agreement::end(first_failure mine) {
  if (size_ == 1) return mine;
  event released("end on all ranks");
  outbox out;
  {
    const std::scoped_lock hold(mutex_);
    if (broken_ != nullptr) std::rethrow_exception(broken_);
    waiting_ = &released;
    letter l = about(kind::done, mine.task, static_cast<std::uint64_t>(mine.rank), mine.text);
    to(out, 0, l);
  }
  poller_.expect(1);
  act(out);
  std::exception_ptr why;
  try {
    released.wait();
  } catch (...) {
    why = std::current_exception();
  }
  poller_.expect(-1);
  if (why != nullptr) std::rethrow_exception(why);
  const std::scoped_lock hold(mutex_);
  return verdict_;
}

void agreement::give_up(const std::string& why) {
  outbox out;
  {
    const std::scoped_lock hold(mutex_);
    to(out, 0, about(kind::fail, 0, 0, why));
  }
  act(out);
}

void agreement::handle(const letter& l, outbox& out) {
  switch (l.what) {
  case kind::compare: return compared(l, out);
  case kind::ask_notes: return to(out, 0, notes_of(l.a));
  case kind::notes: return has_notes(l, out);
  case kind::ask_name: return to(out, 0, name_of(l.a, l.b));
  case kind::name: return has_name(l, out);
  case kind::done: return done(l, out);
  case kind::release:
    verdict_ = {l.a, static_cast<int>(l.b), l.str()};
    out.released = std::exchange(waiting_, nullptr);
    return;
  case kind::fail:
    if (rank_ == 0) return fail_all(l.str(), out);
    out.fail = l.str();
    return;
  }
}

void agreement::fail_all(const std::string& why, outbox& out) {
  if (std::exchange(failing_, true)) return;
  for (int r = 1; r < size_; ++r) to(out, r, about(kind::fail, 0, 0, why));
  out.fail = why;
}

void agreement::compared(const letter& l, outbox& out) {
  const auto [at, is_first] = said_.try_emplace(l.a, said{l.from, l.b, l.c, 0});
  said& s = at->second;
  if (!is_first && (s.tasks != l.b || s.hash != l.c) && !search_ && !failing_) {
    search_.emplace(search{l.a, {s.rank, l.from}, {}, {}});
    const int pair[2] = {s.rank, l.from};
    for (const int r : pair) to(out, r, about(kind::ask_notes, l.a));
    return;
  }
  if (++s.ranks == size_) said_.erase(at);
}

agreement::letter agreement::notes_of(std::uint64_t index) const {
  letter l = about(kind::notes, index);
  for (const part& p : parts_) {
    if (p.index != index) continue;
    std::vector<std::uint32_t> hashes;
    for (const task_note& n : p.notes) hashes.push_back(n.hash);
    l.b = p.first;
    l.set(hashes.data(), hashes.size() * sizeof(hashes[0]));
  }
  return l;
}

agreement::letter agreement::name_of(std::uint64_t index, std::uint64_t offset) const {
  std::string text = "nothing more";
  for (const part& p : parts_) {
    if (p.index != index || offset >= p.notes.size()) continue;
    const task_note& n = p.notes[offset];
    text = n.name != nullptr ? "'" + std::string(n.name).substr(0, 200) + "'" : std::string("a task without a name");
    text += " on handle " + std::to_string(n.handle);
  }
  return about(kind::name, index, offset, text);
}

void agreement::has_notes(const letter& l, outbox& out) {
  if (!search_ || search_->index != l.a) return;
  search& s = *search_;
  std::vector<std::uint32_t> hashes(l.size / sizeof(std::uint32_t));
  if (!hashes.empty()) std::memcpy(hashes.data(), l.text, hashes.size() * sizeof(hashes[0]));
  s.notes[s.ranks[1] == l.from] = std::move(hashes);
  s.first = l.b;
  if (!s.notes[0] || !s.notes[1]) return;
  const auto [a, b] = std::ranges::mismatch(*s.notes[0], *s.notes[1]);
  const auto offset = static_cast<std::uint64_t>(a - s.notes[0]->begin());
  const std::uint64_t index = s.index;
  const int pair[2] = {s.ranks[0], s.ranks[1]};
  for (const int r : pair) to(out, r, about(kind::ask_name, index, offset));
}

void agreement::has_name(const letter& l, outbox& out) {
  if (!search_ || search_->index != l.a) return;
  search& s = *search_;
  s.names[s.ranks[1] == l.from] = l.str();
  if (!s.names[0] || !s.names[1]) return;
  const auto text = [&s](int i) { return *s.names[i] + " on rank " + std::to_string(s.ranks[i]); };
  const int low = s.ranks[0] < s.ranks[1] ? 0 : 1;
  fail_all("weft: the ranks submit different programs: step " + std::to_string(s.first + l.b) + " is " + text(low) +
               " and " + text(1 - low),
           out);
}

void agreement::done(const letter& l, outbox& out) {
  if (l.a < first_.task) first_ = {l.a, static_cast<int>(l.b), l.str()};
  // What ranks have submitted came before. If it differs they are about to fail, and not to go on.
  if (++done_ != size_ || search_ || failing_) return;
  done_ = 0;
  const first_failure v = std::exchange(first_, {});
  for (int r = size_ - 1; r >= 0; --r)
    to(out, r, about(kind::release, v.task, static_cast<std::uint64_t>(v.rank), v.text));
}

}  // namespace weft::detail
