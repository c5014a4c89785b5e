#include "weak/machine.hpp"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace weft::weak {

namespace {

thread_local std::string fault;
}  // namespace

void machine_of_seed::start(unsigned n, entry e, void* engine, std::size_t stack_bytes) {
  prepare(n, e, engine, stack_bytes);
  begin();
}

void machine_of_seed::prepare(unsigned n, entry e, void* engine, std::size_t stack_bytes) {
  memory_.open(n);
  wakes_.resize(n);
  virtual_machine::start(n, e, engine, stack_bytes);
}

void machine_of_seed::join() {
  virtual_machine::join();
  leave();
}

void machine_of_seed::leave() noexcept {
  if (running_here_ != this) return;
  running_here_ = nullptr;
  if (fault.empty()) fault = memory_.fault();
}

const char* machine_of_seed::take_fault() noexcept {
  static thread_local std::string told;
  told.swap(fault);
  fault.clear();
  return told.empty() ? nullptr : told.c_str();
}

void machine_of_seed::turn() {
  machine_of_seed* const m = running_here_;
  if (m == nullptr) return;
  if (++m->turns_ == turns_max) {
    std::fprintf(stderr, "no end is in sight after %llu turns; replay: WEFT_TEST_SEED=%llu\n",
                 static_cast<unsigned long long>(m->turns_), static_cast<unsigned long long>(m->seed_));
    std::_Exit(1);
  }
  if (m->stalls_.below(24) == 0)
    for (std::uint32_t turns = m->stalls_.below(48); turns > 0; --turns) relax(1);
  relax(1);
}

std::uint64_t machine_of_seed::load_at(const void* word, unsigned bytes, order o, const location_in_code& at) {
  machine_of_seed* const m = running_here_;
  std::uint64_t value = 0;
  if (m == nullptr) return std::memcpy(&value, word, bytes), value;
  const inside here;
  const site& s = met(at, kind::load, o);
  return m->memory_.load(core_here(), const_cast<void*>(word), bytes, s.of(o), s);
}

void machine_of_seed::store_at(void* word, unsigned bytes, std::uint64_t v, order o, const location_in_code& at) {
  machine_of_seed* const m = running_here_;
  if (m == nullptr) return static_cast<void>(std::memcpy(word, &v, bytes));
  const inside here;
  const site& s = met(at, kind::store, o);
  m->memory_.store(core_here(), word, bytes, v, s.of(o), s);
}

bool machine_of_seed::exchange_at(void* word, unsigned bytes, std::uint64_t& expected, std::uint64_t v, order o,
                                  const location_in_code& at) {
  machine_of_seed* const m = running_here_;
  const std::uint64_t wanted = expected;
  if (m == nullptr) {
    expected = load_at(word, bytes, o, at);
    if (expected == wanted) store_at(word, bytes, v, o, at);
    return expected == wanted;
  }
  const inside here;
  const site& s = met(at, kind::modify, o);
  const auto changed = [&](std::uint64_t old, std::uint64_t& out) { return out = v, old == wanted; };
  expected = m->memory_.modify(core_here(), word, bytes, s.of(o), base::on_failure(s.of(o)), s, changed);
  return expected == wanted;
}

std::uint64_t machine_of_seed::modify_at(void* word, unsigned bytes, order o, const location_in_code& at,
                                         std::uint64_t (*changed)(std::uint64_t old, void* with), void* with) {
  machine_of_seed* const m = running_here_;
  std::uint64_t old = 0;
  if (m == nullptr) {
    std::memcpy(&old, word, bytes);
    const std::uint64_t now = changed(old, with);
    return std::memcpy(word, &now, bytes), old;
  }
  const inside here;
  const site& s = met(at, kind::modify, o);
  return m->memory_.modify(core_here(), word, bytes, s.of(o), s.of(o), s,
                           [&](std::uint64_t before, std::uint64_t& out) {
                             out = changed(before, with);
                             return true;
                           });
}

bool machine_of_seed::barrier_everywhere() {
  turn();
  machine_of_seed* const m = running_here_;
  if (m == nullptr) return true;
  const knowledge before = m->memory_.what_is_known(core_here());
  const unsigned cores = m->memory_.cores(), self = core_here();
  const std::uint32_t first = m->choices_.below(cores);
  for (unsigned i = 0; i < cores; ++i) {
    const unsigned c = (first + i) % cores;
    if (c == self) continue;
    const knowledge there = m->memory_.what_is_known(c);
    m->memory_.learn(c, before);
    m->memory_.learn(self, there);
    relax(1);
  }
  return true;
}

void machine_of_seed::know_all() {
  machine_of_seed* const m = running_here_;
  if (m == nullptr) return;
  for (unsigned c = 0; c < m->memory_.cores(); ++c) m->memory_.learn(core_here(), m->memory_.what_is_known(c));
}

void machine_of_seed::touch(const void* data, std::size_t, bool writes, const location_in_code& at) {
  machine_of_seed* const m = running_here_;
  if (m == nullptr) return;
  const inside here;
  m->memory_.plain(core_here(), data, writes, met(at, kind::plain, base::relaxed));
}

void machine_of_seed::fresh(const void* address, std::size_t bytes) {
  machine_of_seed* const m = running_here_;
  if (m == nullptr || inside::is_so || bytes == 0) return;
  const inside here;
  m->memory_.fresh(core_here(), address, bytes);
}

void machine_of_seed::gone(const void* address, std::size_t bytes, const location_in_code& at) {
  machine_of_seed* const m = running_here_;
  if (m == nullptr || inside::is_so || !watches_what_is_gone) return;
  const inside here;
  m->memory_.gone(core_here(), address, bytes, met(at, kind::plain, base::relaxed));
}

void machine_of_seed::wake(unsigned id) {
  wakes_[id].join(memory_.what_is_known(core_here()));
  virtual_machine::wake(id);
}

void machine_of_seed::park(unsigned id) {
  virtual_machine::park(id);
  memory_.learn(core_here(), wakes_[id]);
}
void machine_of_seed::doze(unsigned id) {
  virtual_machine::doze(id);
  memory_.learn(core_here(), wakes_[id]);
}

std::uint64_t load_word(const void* word, unsigned bytes, int o, const std::source_location& at) noexcept {
  machine_of_seed::turn();
  return machine_of_seed::load_at(word, bytes, static_cast<order>(o), at);
}
void store_word(void* word, unsigned bytes, std::uint64_t value, int o, const std::source_location& at) noexcept {
  machine_of_seed::turn();
  machine_of_seed::store_at(word, bytes, value, static_cast<order>(o), at);
}
void modify_word(void* word, unsigned bytes, std::uint64_t* old, int o, const std::source_location& at,
                 std::uint64_t (*changed)(std::uint64_t old, void* with), void* with) noexcept {
  machine_of_seed::turn();
  *old = machine_of_seed::modify_at(word, bytes, static_cast<order>(o), at, changed, with);
}
std::uint64_t add_to_word(void* word, unsigned bytes, std::uint64_t value, int o,
                          const std::source_location& at) noexcept {
  std::uint64_t old = 0;
  modify_word(
      word, bytes, &old, o, at,
      [](std::uint64_t before, void* with) { return before + *static_cast<std::uint64_t*>(with); }, &value);
  return old;
}
bool exchange_word(void* word, unsigned bytes, std::uint64_t& expected, std::uint64_t value, int o,
                   const std::source_location& at) noexcept {
  machine_of_seed::turn();
  return machine_of_seed::exchange_at(word, bytes, expected, value, static_cast<order>(o), at);
}
void touch_plain(const void* data, bool writes, const std::source_location& at) noexcept {
  machine_of_seed::touch(data, 1, writes, at);
}

}  // namespace weft::weak

// Memory that a core takes in a run is new there, whatever was at its address before; and who gives it back must know
// that nobody uses it any more.
namespace {
void* taken(void* p, std::size_t bytes) {
  if (p == nullptr) throw std::bad_alloc();
  weft::weak::machine_of_seed::fresh(p, bytes);
  return p;
}
std::size_t rounded(std::size_t bytes, std::align_val_t a) {
  return (bytes + static_cast<std::size_t>(a) - 1) / static_cast<std::size_t>(a) * static_cast<std::size_t>(a);
}
void given_back(void* p) noexcept {
  if (p != nullptr) weft::weak::machine_of_seed::gone(p, ::malloc_usable_size(p), std::source_location::current());
  std::free(p);
}
}  // namespace
void* operator new(std::size_t bytes) { return taken(std::malloc(bytes == 0 ? 1 : bytes), bytes); }
void* operator new(std::size_t bytes, std::align_val_t a) {
  return taken(std::aligned_alloc(static_cast<std::size_t>(a), rounded(bytes, a)), bytes);
}
void operator delete(void* p) noexcept { given_back(p); }
void operator delete(void* p, std::size_t) noexcept { given_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { given_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { given_back(p); }
