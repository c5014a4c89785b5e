// Threads on the chip without task units: a fiber for each core, in the order of the chip's time.
#include <unordered_map>
#include <utility>
#include <vector>

#include "lab/swarm/chip.hpp"
#include "lab/swarm/cores.hpp"
#include "lab/swarm/options.hpp"
#include "weft/lab/chip_threads.hpp"

namespace weft {

namespace swarm {

// What the threads of a run share.
struct thread_team {
  detail::chip_thread_body body;
  const void* body_of;
  std::uint32_t running;
  std::vector<cycle> busy_until{};                         // of lines: somebody is being given it, to write
  std::unordered_map<line, std::vector<core*>> waiting{};  // for a store to a line
};

namespace {

class thread_core final : public detail::chip_thread_hooks {
 public:
  thread_core(chip& c, core& me, thread_team& all) noexcept : chip_(c), me_(me), team_(all) {}

  void load(const void* from, std::size_t bytes) override { access(from, bytes, false); }
  void store(const void* to, std::size_t bytes) override { access(to, bytes, true); }
  void stored(const void* to, std::size_t bytes) override {
    if (team_.waiting.empty()) return;
    in_lines(to, bytes, [&](line l) {
      const auto found = team_.waiting.find(l);
      if (found == team_.waiting.end()) return;
      const std::vector<core*> woken = std::move(found->second);
      team_.waiting.erase(found);
      for (core* const w : woken) {
        WEFT_ASSERT(w != &me_ && w->waiting == core::waits::a_store);
        wake(chip_, *w, me_.time);
      }
    });
  }
  void atomic(const void* at, bool write) override {
    me_.time += 1;
    wait_for_turn();
    const line l = chip_.all_lines.of(at);
    if (!chip_.caches.hit(me_.number, l, write)) reach(l, write);
  }
  void wait_for_store(const void* at) override {
    count_cycles(chip_, me_, spent::thread);
    team_.waiting[chip_.all_lines.of(at)].push_back(&me_);
    block(chip_, me_, core::waits::a_store);
    count_cycles(chip_, me_, spent::stall);
    leave_if_ending();
  }
  void work(std::uint64_t instructions) override {
    me_.time += instructions;
    wait_if_ahead();
  }
  void* allocate(std::size_t bytes, std::size_t alignment) override {
    work(chip_.options.allocation);
    return chip_.heap.take(me_.tile, bytes, alignment);
  }
  void release(void* at, std::size_t bytes, std::size_t alignment) override {
    work(chip_.options.allocation);
    if (at != nullptr) chip_.heap.give_back(me_.tile, at, bytes, alignment);
  }
  [[nodiscard]] std::uint64_t cycle() const noexcept override { return me_.time; }

 private:
  void leave_if_ending() const {
    if (chip_.ending) [[unlikely]]
      throw aborted_execution();
  }
  void wait_for_turn() {
    catch_up(chip_, me_);
    leave_if_ending();
  }
  void wait_if_ahead() {
    if (me_.time > chip_.events.now() + ahead_max) [[unlikely]]
      wait_for_turn();
  }
  template <class Part> void in_lines(const void* at, std::size_t bytes, const Part& part) {
    const auto* const from = static_cast<const std::byte*>(at);
    for (std::size_t offset = 0; offset < bytes;
         offset += line_bytes - reinterpret_cast<std::uintptr_t>(from + offset) % line_bytes)
      part(chip_.all_lines.of(from + offset));
  }
  void access(const void* at, std::size_t bytes, bool write) {
    me_.time += (bytes + word_bytes - 1) / word_bytes;
    wait_if_ahead();
    in_lines(at, bytes, [&](line l) {
      if (chip_.caches.hit(me_.number, l, write)) return;
      wait_for_turn();
      reach(l, write);
    });
  }
  // Who comes while the line is on its way to a writer waits for that.
  void reach(line l, bool write) {
    if (team_.busy_until.size() <= l) team_.busy_until.resize(chip_.all_lines.size());
    while (team_.busy_until[l] > me_.time) {
      me_.time = team_.busy_until[l];
      wait_for_turn();
    }
    me_.time += chip_.caches.access({me_.tile, me_.number, {}, false}, l, write, nullptr);
    WEFT_ASSERT(team_.busy_until[l] <= me_.time);  // one writer of a line after the other
    if (write) team_.busy_until[l] = me_.time;
  }

  chip& chip_;
  core& me_;
  thread_team& team_;
};

void thread_loop(chip& c, core& me) {
  WEFT_ASSERT(c.threads != nullptr && me.runs == nullptr);  // no task of Swarm runs here
  thread_team& all = *c.threads;
  thread_core hooks(c, me, all);
  chip_thread t(hooks, me.number, c.options.cores);
  try {
    catch_up(c, me);
    if (!c.ending) all.body(all.body_of, t);
    catch_up(c, me);
  } catch (const aborted_execution&) {
  } catch (...) {
    if (!c.ending) c.error = std::current_exception();
  }
  if (c.ending) return;
  count_cycles(c, me, spent::thread);
  WEFT_ASSERT(all.running != 0);
  c.ending = --all.running == 0 || c.error != nullptr;
  do  // for the end: nobody else wakes it
    block(c, me, core::waits::a_store);
  while (!c.ending);
}

}  // namespace

}  // namespace swarm

swarm_statistics detail::run_chip_threads(chip_thread_body body, const void* of, const swarm_options* given) {
  swarm::chip c(swarm::as_run(given != nullptr ? *given : swarm::options_of_environment()));
  swarm::thread_team all{.body = body, .body_of = of, .running = c.options.cores};
  c.threads = &all;
  swarm::run_fibers(c, &swarm::thread_loop);
  if (c.error != nullptr) std::rethrow_exception(c.error);
  WEFT_ASSERT(all.running == 0 && all.waiting.empty());  // who still waited would have been told of it
  return c.statistics;
}

}  // namespace weft
