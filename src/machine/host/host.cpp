#include "machine/host/host.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "memory/pages.hpp"
#include "weft/detail/handle_state.hpp"
#include "weft/detail/worker.hpp"

namespace weft::machine {

namespace {

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

long futex(cell<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit = nullptr) noexcept {
  return ::syscall(SYS_futex, &word.raw, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

// Says something once per process: a limit of the system is no error, and no reason to repeat it.
void note_once(bool& said, const char* text, int error) noexcept {
  if (said) return;
  said = true;
  std::fprintf(stderr, "weft: %s (%s); going on.\n", text, std::strerror(error));
}

// Returns an error of the system, or 0.
int bind(pthread_t thread, unsigned cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return pthread_setaffinity_np(thread, sizeof set, &set);
}

// 0 for a thread that has ended.
std::uint64_t core_time_ns(pthread_t thread) noexcept {
  clockid_t its_clock{};
  timespec t{};
  if (pthread_getcpuclockid(thread, &its_clock) != 0 || clock_gettime(its_clock, &t) != 0) return 0;
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// How many fork()s lie between the process that began and this one.
constinit cell<std::uint32_t> forks;

// In a child, on its only thread, which is no worker any more: what needs no runtime does without, and one that is made
// in the child is as the first. A body that forks stays on its worker, which goes the long way, where it is asked. Not
// on modelled machines: these are one thread.
void in_child() noexcept {
  detail::poke(forks, detail::peek(forks) + 1);
  detail::worker* const w = detail::self_out_of_line();
  if (w == nullptr || (detail::peek(w->hooked) & detail::hooked_alone) != 0) return;
  if (w->current == nullptr) {
    detail::this_worker = nullptr;
    return;
  }
  w->creates_for = nullptr;
  detail::poke(w->hooked, static_cast<std::uint8_t>(detail::peek(w->hooked) | detail::hooked_always));
}

// Registered once per process; false where the kernel or a sandbox refuses.
bool may_barrier_everywhere() noexcept {
  static const bool may = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return may;
}

}  // namespace

struct host::threads {
  struct seat {
    // 0: nothing, 1: a wake is waiting to be taken. Alone on its line: the waker writes it.
    alignas(64) cell<std::uint32_t> token;
  };
  struct start_note {
    threads* all;
    unsigned id;
  };
  std::vector<seat> seats;
  cpu_set_t anywhere;              // where the thread that made the machine may run
  std::vector<unsigned> bound_to;  // the core left for the main thread, then those that workers are bound to
  std::vector<unsigned> cpus;      // by worker; empty: they are not bound, not all, or not one to a core
  unsigned usable = 1;             // cores for all
  std::vector<start_note> notes;
  std::vector<pthread_t> ids;  // guarded by ids_lock once the workers run
  cell<std::uint8_t> ids_lock;
  bool has_reserve = false;  // the last of ids; as what follows, written by whoever calls it, one at a time
  int reserve_cpu = -1;      // what it is bound to; -1: nothing
  cell<std::uint32_t> gate;  // opened once, by one of these
  static constexpr std::uint32_t goes = 1, dismissed = 2;
  void open_gate(std::uint32_t how) noexcept {
    store(gate, how, base::release);  // publishes the engine; pairs with block()
    futex(gate, FUTEX_WAKE, INT_MAX);
  }
  entry run = nullptr;
  void* engine = nullptr;
  struct helper_note {
    void (*run)(void*) = nullptr;
    void* argument = nullptr;
  } helper;
  pthread_t helper_id{};
  bool has_helper = false;
  std::uint32_t process = detail::peek(forks);

  // Linux likes to wake a thread on the core of who woke it. There the main thread, which is not bound, and a worker
  // that is would share one core until the kernel balances, which took it 80 ms. To be bound elsewhere for a moment
  // moves the thread at once. Cost: a look, 20 ns, if it is where no worker is.
  void leave_bound_core() const noexcept {
    if (bound_to.empty()) return;
    const auto here = static_cast<unsigned>(sched_getcpu());
    if (std::find(bound_to.begin() + 1, bound_to.end(), here) == bound_to.end()) return;
    cpu_set_t before, away;
    CPU_ZERO(&away);
    CPU_SET(bound_to[0], &away);
    if (sched_getaffinity(0, sizeof before, &before) != 0 || !CPU_ISSET(bound_to[0], &before)) return;
    if (sched_setaffinity(0, sizeof away, &away) == 0) sched_setaffinity(0, sizeof before, &before);
  }

  static void* main(void* note) {
    const start_note& n = *static_cast<start_note*>(note);
    block(n.all->gate);
    if (load(n.all->gate, base::acquire) == goes) n.all->run(n.all->engine, n.id);
    return nullptr;
  }
};

host::host() : threads_(std::make_unique<threads>()) {
  static const bool counts = pthread_atfork(nullptr, nullptr, &in_child) == 0;
  static_cast<void>(counts);
}
host::~host() { WEFT_ASSERT(threads_->ids.empty() || forked()); }

void host::dismiss() noexcept {
  threads_->open_gate(threads::dismissed);
  join();
}

bool host::forked() const noexcept { return detail::peek(forks) != threads_->process; }

unsigned host::start(unsigned n, entry e, void* engine, const std::vector<unsigned>& cpus) {
  static bool said_threads = false;
  static bool said_binding = false;
  threads& t = *threads_;
  t.run = e;
  t.engine = engine;
  t.seats = std::vector<threads::seat>(n + 1);  // and one for start_one()
  if (!cpus.empty() && sched_getaffinity(0, sizeof t.anywhere, &t.anywhere) == 0) t.bound_to = {cpus[0]};
  t.cpus = cpus;
  if (cpu_set_t all; sched_getaffinity(0, sizeof all, &all) == 0)
    t.usable = static_cast<unsigned>(std::max(1, CPU_COUNT(&all)));
  t.notes.resize(n + 1);
  t.ids.reserve(n + 1);  // a thread that is made is never lost for want of memory
  t.bound_to.reserve(n + 1);
  static_cast<void>(may_barrier_everywhere());
  for (unsigned id = 1; id < n; ++id) {
    t.notes[id] = {&t, id};
    pthread_t thread{};
    const int error = pthread_create(&thread, nullptr, &threads::main, &t.notes[id]);
    if (error != 0) {
      note_once(said_threads, "fewer workers than asked for: no more threads can be made", error);
      break;
    }
    t.ids.push_back(thread);
    pthread_setname_np(thread, ("weft-" + std::to_string(id)).c_str());
    if (cpus.empty()) continue;
    const int refused = bind(thread, cpus[id % cpus.size()]);
    if (refused == 0)
      t.bound_to.push_back(cpus[id % cpus.size()]);
    else
      note_once(said_binding, "workers are not bound to cores", refused), t.cpus.clear();
  }
  return static_cast<unsigned>(t.ids.size()) + 1;
}

void host::run() noexcept { threads_->open_gate(threads::goes); }

bool host::start_one(unsigned id) {
  static bool said = false;
  threads& t = *threads_;
  t.notes[id] = {&t, id};
  pthread_t thread{};
  const int error = pthread_create(&thread, nullptr, &threads::main, &t.notes[id]);
  if (error != 0) {
    note_once(said, "no thread can be made to run tasks while their submitter waits for room", error);
    return false;
  }
  pthread_setname_np(thread, "weft-reserve");
  {
    base::locked<host> guard(t.ids_lock);
    t.ids.push_back(thread);
    t.has_reserve = true;
  }
  if (t.reserve_cpu >= 0) static_cast<void>(bind(thread, static_cast<unsigned>(t.reserve_cpu)));
  return true;
}

void host::start_helper(void (*entry_point)(void*), void* argument) {
  threads& t = *threads_;
  t.helper = {entry_point, argument};
  const auto main = [](void* note) -> void* {
    const threads::helper_note& n = *static_cast<threads::helper_note*>(note);
    n.run(n.argument);
    return nullptr;
  };
  if (pthread_create(&t.helper_id, nullptr, main, &t.helper) != 0) return;
  t.has_helper = true;
  pthread_setname_np(t.helper_id, "weft-watch");
}

void host::bring_reserve(bool to_caller) noexcept {
  threads& t = *threads_;
  if (t.bound_to.empty()) return;
  const int cpu = to_caller ? sched_getcpu() : -1;
  if (std::exchange(t.reserve_cpu, cpu) == cpu || !t.has_reserve) return;
  if (cpu >= 0)
    static_cast<void>(bind(t.ids.back(), static_cast<unsigned>(cpu)));
  else
    static_cast<void>(pthread_setaffinity_np(t.ids.back(), sizeof t.anywhere, &t.anywhere));
}

host::stay::stay(host& machine, bool wanted) noexcept {
  if (!wanted || machine.threads_->bound_to.empty()) return;
  if (sched_getaffinity(0, sizeof before_, &before_) != 0 || CPU_COUNT(&before_) == 1) return;
  bound_ = bind(pthread_self(), static_cast<unsigned>(sched_getcpu())) == 0;
}

host::stay::~stay() {
  if (bound_) sched_setaffinity(0, sizeof before_, &before_);
}

int host::cpu_of(unsigned id) const noexcept {
  return id < threads_->cpus.size() ? static_cast<int>(threads_->cpus[id]) : -1;
}

unsigned host::usable_cpus() const noexcept { return threads_->usable; }

host::on_cpus::on_cpus(std::span<const int> cpus) noexcept {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const int cpu : cpus) {
    if (cpu < 0) return;
    CPU_SET(static_cast<unsigned>(cpu), &wanted);
  }
  if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  if (sched_setaffinity(0, sizeof wanted, &wanted) == 0) thread_ = static_cast<int>(::gettid());
}

host::on_cpus::~on_cpus() {
  if (thread_ != 0) static_cast<void>(sched_setaffinity(thread_, sizeof before_, &before_));
}

std::uint64_t host::busy_ns() noexcept {
  std::uint64_t sum = 0;
  base::locked<host> guard(threads_->ids_lock);
  for (const pthread_t thread : threads_->ids) sum += core_time_ns(thread);
  return sum;
}

std::uint64_t host::reserve_busy_ns() noexcept {
  base::locked<host> guard(threads_->ids_lock);
  return threads_->ids.empty() ? 0 : core_time_ns(threads_->ids.back());
}

void host::renew_data(detail::handle_state& h) noexcept {
  const memory::host& here = memory::host::here();
  if (here.nodes() > 1) detail::find_home(h, static_cast<std::uint16_t>(here.current_node()));
}

bool host::barrier_everywhere() noexcept {
  return may_barrier_everywhere() && ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void host::join() noexcept {
  for (const pthread_t thread : threads_->ids) pthread_join(thread, nullptr);
  threads_->ids.clear();
  if (threads_->has_helper) pthread_join(threads_->helper_id, nullptr);
  threads_->has_helper = false;
}

std::uint64_t host::now_ps() const noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec)) * 1000u;
}

void host::park(unsigned id) noexcept {
  cell<std::uint32_t>& token = threads_->seats[id].token;
  block(token);
  store(token, 0u, base::relaxed);  // only this worker takes tokens, and one wake is sent per park (sleep.md)
  if (id == 0) settle();
}

void host::settle() const noexcept { threads_->leave_bound_core(); }

void host::wake(unsigned id) noexcept { signal(threads_->seats[id].token); }

void host::block(cell<std::uint32_t>& word) noexcept {
  while (load(word, base::acquire) == 0) futex(word, FUTEX_WAIT, 0);  // pairs with signal()
}

bool host::block_for(cell<std::uint32_t>& word, std::uint64_t ns) noexcept {
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000u), static_cast<long>(ns % 1'000'000'000u)};
  if (load(word, base::acquire) == 0) futex(word, FUTEX_WAIT, 0, &limit);
  return load(word, base::acquire) != 0;  // also after a signal of the system: the caller looks again
}

void host::signal(cell<std::uint32_t>& word) noexcept {
  store(word, 1u, base::release);
  // The word may be gone by now if its owner did not sleep; the kernel then wakes nobody, or somebody who looks again.
  futex(word, FUTEX_WAKE, 1);
}

void host::relax(unsigned spins) noexcept { spins % base::relax_before_yield == 0 ? void(sched_yield()) : pause(); }

// Who looks in vain looks less and less often: the words it looks at are those that their owners work on, and each look
// makes the next change there a transfer between cores.
void host::search_pause(unsigned spins, std::uint64_t) noexcept {
  for (unsigned i = std::min(spins, base::search_pauses_max); i != 0; --i) pause();
  sched_yield();
}

}  // namespace weft::machine
