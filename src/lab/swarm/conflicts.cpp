#include "lab/swarm/conflicts.hpp"

#include <bit>

namespace weft::swarm {

void conflicts::look_at(task* t, answer& a) {
  if (t == &self_) return;
  WEFT_ASSERT(t->at != self_.at);  // of two with one virtual time nobody knows which is first
  a.may_have = true;
  ++a.compared;
  if (t->at > self_.at) found_.push_back(t);
}

conflict_check::answer conflicts::check(unsigned number, line l, bool write) {
  answer a;
  tile& t = chip_.tiles[number];
  if (t.sets.empty()) {
    chip_.exact.of(l, [&](task* who, bool wrote) {
      if (who->tile == number && (write || wrote)) look_at(who, a);
    });
  } else {
    const h3::columns columns = chip_.hash(l);
    for (std::uint32_t word = 0; word < t.sets[1].words(); ++word) {
      std::uint64_t matches = t.sets[1].matches(word, columns);
      if (write) matches |= t.sets[0].matches(word, columns);
      for (; matches != 0; matches &= matches - 1) {
        task* const who = t.slots[word * 64 + static_cast<unsigned>(std::countr_zero(matches))];
        WEFT_ASSERT(who != nullptr);
        look_at(who, a);
      }
    }
  }
  ++chip_.statistics.checks.bloom;
  chip_.statistics.checks.compared += a.compared;
  return a;
}

void note_access(chip& c, task& t, line l, bool write) {
  WEFT_ASSERT(t.is == task::phase::running);  // else nobody takes it out of the sets again
  t.accesses.push_back({l, write, c.keeps_exact ? c.exact.insert(l, &t, write) : exact_sets::none});
  tile& where = c.tiles[t.tile];
  if (!where.sets.empty()) where.sets[write ? 1 : 0].insert(t.slot, c.hash(l));
}

void forget_accesses(chip& c, task& t) {
  tile& where = c.tiles[t.tile];
  for (const task::access& a : t.accesses) {
    if (a.node != exact_sets::none) c.exact.erase(a.node);
    if (!where.sets.empty()) where.sets[a.wrote ? 1 : 0].erase(t.slot, c.hash(a.where));
  }
  t.accesses.clear();
}

void audit_access(const chip& c, const task& t, line l, bool write) {
  c.exact.of(l, [&](const task* who, bool wrote) {
    WEFT_ASSERT(who == &t || who->at < t.at || (!write && !wrote));  // a filter let a conflict pass
  });
}

}  // namespace weft::swarm
