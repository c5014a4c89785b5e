#include "sched/admit/decoupled.hpp"

#include <vector>

#include "base/process_lock.hpp"

namespace weft::sched {

namespace {

struct registry {
  base::process_lock lock;
  std::vector<decoupled*> all;  // nullptr: gone, so that whoever goes through the list meets all others
};
registry& the_registry() {
  static registry* const one = new registry;  // never destroyed: handles of static storage may outlive everything
  return *one;
}
constinit detail::cell<std::uint32_t> entries;

}  // namespace

bool decoupled::any() noexcept { return detail::peek(entries) != 0; }

void decoupled::enlist() {
  registry& list = the_registry();
  const base::process_hold hold(list.lock);
  auto free = list.all.begin();
  while (free != list.all.end() && *free != nullptr) ++free;
  free != list.all.end() ? * free = this : list.all.emplace_back(this);
  detail::poke(entries, detail::peek(entries) + 1);
}

void decoupled::strike(bool forked) noexcept {
  registry& list = the_registry();
  {
    const base::process_hold hold(list.lock);
    for (decoupled*& e : list.all)
      if (e == this) e = nullptr;
    detail::poke(entries, detail::peek(entries) - 1);
  }
  while (!forked && base::shared(visitors_).load(base::acquire) != 0) base::let_others_run();
}

void decoupled::await_all() noexcept {
  registry& list = the_registry();
  for (std::size_t i = 0;; ++i) {
    decoupled* e = nullptr;
    {
      const base::process_hold hold(list.lock);
      if (i >= list.all.size()) return;
      e = list.all[i];
      if (e == nullptr) continue;
      base::shared(e->visitors_).fetch_add(1, base::relaxed);
    }
    e->await_creation();
    base::shared(e->visitors_).fetch_sub(1, base::release);  // pairs with strike()
  }
}

bool decoupled::none_pending() noexcept {
  registry& list = the_registry();
  const base::process_hold hold(list.lock);
  for (decoupled* e : list.all)
    if (e != nullptr && !e->all_created()) return false;
  return true;
}

}  // namespace weft::sched
