#include "weak/memory.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace weft::weak {

namespace {

constexpr std::size_t history_max = 64;  // when it is longer, the older half is past for everybody

[[nodiscard]] std::uint64_t read(const void* word, unsigned bytes) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, word, bytes);
  return value;
}
void write(void* word, unsigned bytes, std::uint64_t value) noexcept { std::memcpy(word, &value, bytes); }

}  // namespace

void memory::open(unsigned cores) {
  WEFT_ASSERT(cores <= cores_max && cores_ == 0);
  cores_ = cores;
}

memory::location& memory::known(unsigned core, void* word, unsigned bytes, const site& at) {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  std::vector<location*>& line = by_line_[address >> 6];
  auto found = std::find_if(line.begin(), line.end(), [&](const location* x) { return x->word == word; });
  if (found == line.end()) {
    location& x = all_.emplace_back();
    x.word = word;
    x.bytes = bytes;
    x.born = born(address);
    x.history.push_back({apart, read(word, bytes), {}});
    x.floor = apart;
    line.push_back(&x);
    found = line.end() - 1;
  }
  location& x = **found;
  if (x.bytes != bytes) {  // of a stack, where something else was before
    x.bytes = bytes;
    renew(x, read(word, bytes));
  }
  // Somebody has written there otherwise: it is made anew, and there is nothing to know about it.
  if (x.history.back().value != read(word, bytes)) renew(x, read(word, bytes));
  const birth& b = x.born;
  if (b.event != 0 && core != b.core && know_[core].happened.of[b.core] < b.event)
    race("a word is used by who cannot know that it was made", b.core, nullptr, core, at);
  return x;
}

void memory::renew(location& x, std::uint64_t value) {
  x.floor = x.history.back().at + apart;
  x.history.assign(1, {x.floor, value, {}});
  for (auto& by : x.by) by.clear();
}

memory::stamp memory::view(unsigned core, const location& x) const {
  stamp newest = x.floor;
  for (unsigned c = 0; c < cores_; ++c) {
    const auto& by = x.by[c];
    const auto beyond = std::upper_bound(by.begin(), by.end(), know_[core].happened.of[c],
                                         [](std::uint32_t event, const seen& s) { return event < s.event; });
    if (beyond != by.begin()) newest = std::max(newest, std::prev(beyond)->at);
  }
  return newest;
}

memory::stamp memory::limit(unsigned core, const location& x, order o) const {
  const stamp coherent = view(core, x);
  if (o != base::seq_cst || broken_ == broken::order_of_all) return coherent;
  return std::max(coherent, order_.highest_before(core, know_[core].in_order, x.in_order) / 2);
}

void memory::saw(unsigned core, location& x, stamp at) {
  auto& by = x.by[core];
  if (by.empty() || by.back().at < at) by.push_back({now(core), at});
}

void memory::join_order(unsigned core, location& x, stamp at, bool writes) {
  if (broken_ == broken::order_of_all) return;
  order_.add(core, know_[core].in_order, x.in_order, 2 * at + (writes ? 0 : 1));
}

// What a release of this core gives. Of its own seq_cst events those before this one: whether it is one itself, who
// acquires it is not strongly after it.
knowledge memory::released(unsigned core, bool is_in_order) const {
  knowledge k = know_[core];
  k.in_order.of[core] = order_.count(core) - (is_in_order ? 1 : 0);
  return k;
}

std::uint64_t memory::load(unsigned core, void* word, unsigned bytes, order o, const site& at) {
  location& x = known(core, word, bytes, at);
  begin(core);
  const stamp oldest = limit(core, x, o);
  const std::size_t i = choose(x, [&](std::size_t k) { return x.history[k].at >= oldest; });
  const std::uint64_t value = x.history[i].value;
  finish_load(core, x, i, o, at);
  return value;
}

void memory::finish_load(unsigned core, location& x, std::size_t i, order o, const site& at) {
  const message& m = x.history[i];
  say(core, "loads", x.word, m.value, o, at, x.history.size() - 1 - i);
  x.used[core] = {now(core), &at};
  if (broken_ != broken::coherence) saw(core, x, m.at);
  if (o == base::seq_cst && broken_ != broken::coherence) join_order(core, x, m.at, false);
  if (acquires(o)) know_[core].join(m.gives);
}

memory::message& memory::insert(unsigned core, location& x, std::size_t i, std::uint64_t value) {
  WEFT_ASSERT(has_room(x, i) && !x.history[i].followed);
  const stamp before = x.history[i].at;
  const bool last = i + 1 == x.history.size();
  const stamp at = last ? before + apart : before + (x.history[i + 1].at - before) / 2;
  if (last && x.history.size() == history_max) {
    x.history.erase(x.history.begin(), x.history.begin() + history_max / 2);
    i -= history_max / 2;
    x.floor = std::max(x.floor, x.history.front().at);
    for (auto& by : x.by) std::erase_if(by, [&](const seen& s) { return s.at < x.floor; });
  }
  x.history.insert(x.history.begin() + static_cast<std::ptrdiff_t>(i) + 1, message{at, value, {}});
  if (last) write(x.word, x.bytes, value);
  saw(core, x, at);
  return x.history[i + 1];
}

void memory::store(unsigned core, void* word, unsigned bytes, std::uint64_t value, order o, const site& at) {
  location& x = known(core, word, bytes, at);
  begin(core);
  const stamp oldest = limit(core, x, o);
  const std::size_t i = choose(x, [&](std::size_t k) {
    if (broken_ == broken::modification && k + 1 != x.history.size()) return false;
    return x.history[k].at >= oldest && !x.history[k].followed && has_room(x, k);
  });
  say(core, "stores", word, value, o, at, x.history.size() - 1 - i);
  x.used[core] = {now(core), &at};
  message& m = insert(core, x, i, value);
  if (o == base::seq_cst) join_order(core, x, m.at, true);
  if (releases(o)) m.gives = released(core, o == base::seq_cst);
}

void memory::finish_modify(unsigned core, location& x, std::size_t i, std::uint64_t value, order o, const site& at) {
  say(core, "modifies", x.word, value, o, at, x.history.size() - 1 - i);
  x.used[core] = {now(core), &at};
  const knowledge given = x.history[i].gives;
  const stamp of = x.history[i].at;
  message& m = insert(core, x, i, value);
  std::prev(&m)->followed = true;
  WEFT_ASSERT(std::prev(&m)->at == of);
  if (o == base::seq_cst) join_order(core, x, m.at, true);
  if (acquires(o)) know_[core].join(given);
  if (broken_ != broken::sequences) m.gives = given;
  if (releases(o)) m.gives.join(released(core, o == base::seq_cst));
}

knowledge memory::what_is_known(unsigned core) const { return released(core, false); }
void memory::learn(unsigned core, const knowledge& k) {
  know_[core].join(k);
  begin(core);
}

void memory::plain(unsigned core, const void* data, bool writes, const site& at) {
  begin(core);
  datum& d = data_[reinterpret_cast<std::uintptr_t>(data)];
  const auto knows = [&](unsigned c, const use& u) { return u.event <= know_[core].happened.of[c]; };
  if (!knows(d.writer, d.written)) race("plain data written there and used here", d.writer, d.written.at, core, at);
  if (writes)
    for (unsigned c = 0; c < cores_; ++c)
      if (!knows(c, d.read[c])) race("plain data read there and written here", c, d.read[c].at, core, at);
  (writes ? d.written : d.read[core]) = {now(core), &at};
  if (writes) d.writer = core;
  say(core, writes ? "writes" : "reads", const_cast<void*>(data), 0, base::relaxed, at, 0);
}

void memory::forget(std::uintptr_t first, std::uintptr_t end) {
  for (std::uintptr_t l = first >> 6; l <= (end - 1) >> 6; ++l) {
    const auto line = by_line_.find(l);
    if (line == by_line_.end()) continue;
    std::erase_if(line->second, [&](const location* x) {
      const auto a = reinterpret_cast<std::uintptr_t>(x->word);
      return a >= first && a < end;
    });
  }
  data_.erase(data_.lower_bound(first), data_.lower_bound(end));
}

void memory::gone(unsigned core, const void* address, std::size_t bytes, const site& at) {
  begin(core);
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t end = first + bytes;
  const clock& known = know_[core].happened;
  for (auto d = data_.lower_bound(first); d != data_.end() && d->first < end; ++d) {
    const datum& x = d->second;
    if (x.written.event > known.of[x.writer])
      race("plain data written there, in memory given back here", x.writer, x.written.at, core, at);
    for (unsigned c = 0; c < cores_; ++c)
      if (x.read[c].event > known.of[c])
        race("plain data read there, in memory given back here", c, x.read[c].at, core, at);
  }
  for (std::uintptr_t l = first >> 6; l <= (end - 1) >> 6; ++l) {
    const auto line = by_line_.find(l);
    if (line == by_line_.end()) continue;
    for (const location* x : line->second) {
      const auto a = reinterpret_cast<std::uintptr_t>(x->word);
      for (unsigned c = 0; c < cores_ && a >= first && a < end; ++c)
        if (x->used[c].event > known.of[c])
          race("a word used there, in memory given back here", c, x->used[c].at, core, at);
    }
  }
  forget(first, end);
}

void memory::fresh(unsigned core, const void* address, std::size_t bytes) {
  begin(core);
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t end = first + bytes;
  forget(first, end);
  auto b = births_.lower_bound(first);
  if (b != births_.begin() && std::prev(b)->second.end > first) b = std::prev(b);
  while (b != births_.end() && b->first < end) b = births_.erase(b);
  births_[first] = {core, now(core), end};
}

memory::birth memory::born(std::uintptr_t address) const {
  const auto beyond = births_.upper_bound(address);
  if (beyond == births_.begin() || std::prev(beyond)->second.end <= address) return {};
  return std::prev(beyond)->second;
}

void memory::race(const char* what, unsigned a, const site* first, unsigned b, const site& second) {
  if (!fault_.empty()) return;
  fault_ = std::string("a race: ") + what + ", core " + std::to_string(a) + " at " +
           (first == nullptr ? "its allocation" : first->name()) + " and core " + std::to_string(b) + " at " +
           second.name();
}

}  // namespace weft::weak
