#include "weak/whole/engine.hpp"

#include <doctest/doctest.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "model/machine_file.hpp"
#include "place/topology.hpp"
#include "runtime/engines.hpp"
#include "runtime/options.hpp"
#include "sched/engine/engine.hpp"
#include "weft/error.hpp"

namespace weft {

namespace weak {

whole::~whole() {
  if (running_ != this) return;
  running_ = nullptr;
  static_cast<void>(set_current(nullptr));
  leave();
  if (!tells_races) return;
  if (const char* race = take_fault()) FAIL_CHECK(race);
}

void whole::start(unsigned n, entry e, void* engine, std::size_t stack_bytes) {
  begins_ = e;
  engine_ = engine;
  running_ = this;
  static_cast<void>(set_current(this));  // also between calls: the short ways are none, and have turns all the same
  prepare(n, &enter, this, stack_bytes);
}

void whole::run() noexcept {
  goes_ = true;
  begin();
}

void whole::enter(void* self, unsigned id) {
  whole& m = *static_cast<whole*>(self);
  while (!m.goes_) relax(1);
  know_all();
  m.begins_(m.engine_, id);
}

}  // namespace weak

namespace sched {
template class engine<weak::whole>;
}

machine::disturbance& disturb_modelled_machines() noexcept {
  static machine::disturbance none;
  return none;
}

std::unique_ptr<sched::any_engine> make_virtual_engine(const options& opt) {
  using engine = sched::engine<weak::whole>;
  if (opt.workers > weak::cores_max) throw error("weft_weak_whole has 16 cores at most");
  const machine::virtual_machine::setup setup{.seed = opt.seed,
                                              .random_order = true,
                                              .disturbed = disturb_modelled_machines(),
                                              .model = model::with_cores(model::load_machine("virtual"), opt.workers)};
  sched::engine_setup engine_setup = setup_of(opt);
  if (setup.disturbed.deque_slots != 0) engine_setup.deque_slots = setup.disturbed.deque_slots;
  auto e = std::make_unique<engine>(engine_setup, setup);
  weak::whole& m = e->the_machine();
  m.start(opt.workers, &engine::worker_entry, e.get(), opt.stack_kib * 1024);
  e->open(place::tree(m.places(), opt.workers), sched::find_policy(opt.policy));
  m.run();
  return e;
}

std::unique_ptr<sched::any_engine> make_host_engine(const options& opt) { return make_virtual_engine(opt); }

}  // namespace weft

// The library's few mutexes, which a core may hold while others have turns (linked by --wrap): as a word of the
// machine's, since one thread that waits for itself would wait for ever.
namespace {
constexpr std::source_location here = std::source_location::current();
}
extern "C" {
int __wrap_pthread_mutex_lock(pthread_mutex_t* m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t* m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t* m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t* m) {
  std::uint64_t free = 0;
  return weft::weak::exchange_word(m, 4, free, 1, __ATOMIC_ACQUIRE, here) ? 0 : 1;
}
int __wrap_pthread_mutex_lock(pthread_mutex_t* m) {
  while (__wrap_pthread_mutex_trylock(m) != 0) {
  }
  return 0;
}
int __wrap_pthread_mutex_unlock(pthread_mutex_t* m) {
  weft::weak::store_word(m, 4, 0, __ATOMIC_RELEASE, here);
  return 0;
}
}
