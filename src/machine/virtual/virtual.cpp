#include "machine/virtual/virtual.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "access/version.hpp"
#include "base/assert.hpp"
#include "base/limits.hpp"
#include "model/machine_file.hpp"
#include "weft/error.hpp"

namespace weft::machine {

thread_local constinit virtual_machine* virtual_machine::here_ = nullptr;

namespace {

[[nodiscard]] std::uint64_t scaled(std::uint64_t ps, double by) noexcept {
  return by == 1 ? ps : static_cast<std::uint64_t>(static_cast<double>(ps) * by + 0.5);
}

}  // namespace

virtual_machine::virtual_machine(setup s)
    : setup_(std::move(s)), mode_(setup_.random_order ? mode::random
                                  : setup_.coarse     ? mode::coarse
                                                      : mode::fine),
      turns_({setup_.seed, setup_.by_priority, setup_.depth, setup_.length, setup_.disturbed}) {
  if (setup_.measured) body_clock_.emplace();
  if (setup_.model.cores.empty()) setup_.model = model::flat();
}
// Nobody may be left asleep for ever; an event that was put off has left one behind that counts no more.
virtual_machine::~virtual_machine() {
  WEFT_ASSERT(std::ranges::none_of(awake_, [&](const event& e) { return cores_[e.id].event == e.sequence; }));
}

void virtual_machine::meets_stranger() {
  std::fprintf(stderr, "weft: a runtime on a modelled machine may be used only by the thread that made it.\n");
  std::abort();
}

virtual_machine* virtual_machine::set_current(virtual_machine* m) noexcept { return std::exchange(here_, m); }

void virtual_machine::start(unsigned n, entry e, void* engine, std::size_t stack_bytes) {
  entry_ = e;
  engine_ = engine;
  cores_ = std::vector<core>(n);
  turns_.open(n);
  starts_.resize(n);
  setup_.model = model::with_cores(std::move(setup_.model), n);
  const model::machine& m = setup_.model;
  WEFT_ASSERT(n <= m.cores.size() && setup_.first_core < m.cores.size());
  std::vector<unsigned> seats(n);
  for (unsigned id = 0, next = 0; id < n; ++id) {
    if (id > 0 && next == setup_.first_core) ++next;
    core& c = cores_[id];
    c.seat = seats[id] = id == 0 ? setup_.first_core : next++;
    const model::core_type& type = m.types[m.cores[c.seat].type];
    c.scale = 1 / type.speed;
    for (std::size_t s = 0; s < model::steps; ++s) c.step_ps[s] = scaled(m.runtime.step_ps[s], 1 / type.runtime_speed);
  }
  for (unsigned seat = 0; seat < m.cores.size(); ++seat) {
    const auto& serves = m.types[m.cores[seat].type].serves;
    if (std::ranges::find(serves, true) == serves.end()) continue;
    served_ = serves;
    server_seat_ = seat;
  }
  lines_.emplace(m, seats, mode_ == mode::fine ? m.lines.kept : 0);
  awake_.reserve(2 * std::size_t{n});  // more than enough for one event each
  watchers_.reserve(n);
  self_ = &cores_[0];
  for (unsigned id = 1; id < n; ++id) {
    starts_[id] = {this, id};
    cores_[id].first = std::make_unique<fiber>(stack_bytes, &first_entry, &starts_[id]);
    cores_[id].running = cores_[id].first.get();
    enqueue(id);
  }
}

std::vector<place::core> virtual_machine::places() const {
  std::vector<place::core> all;
  for (const core& c : cores_) all.push_back(setup_.model.cores[c.seat].at);
  return all;
}

void virtual_machine::first_entry(void* note) {
  const core_start& s = *static_cast<core_start*>(note);
  virtual_machine& m = *s.machine;
  m.entry_(m.engine_, s.id);
  core& self = m.cores_[s.id];
  self.left = true;
  const unsigned next = m.take_next();  // join() keeps core 0 awake until all have left
  m.switch_to(next);
  self.running->jump_out(*m.cores_[next].running);
}

void virtual_machine::join() {
  for (core& c : cores_)
    while (&c != cores_.data() && !c.left) {
      turns_.waits(0);
      advance(setup_.model.runtime.relax_ps);
    }
  for (core& c : cores_) c.first.reset();
}

constexpr auto last_first = [](const auto& a, const auto& b) { return a.later_than(b); };

// Where there is no memory for more, those that count no more go: the others are one for each core at most.
void virtual_machine::make_room_for_event() {
  try {
    awake_.reserve(2 * awake_.size());
  } catch (const std::bad_alloc&) {
    std::erase_if(awake_, [&](const event& e) { return cores_[e.id].event != e.sequence; });
    if (mode_ != mode::random) std::make_heap(awake_.begin(), awake_.end(), last_first);
  }
}

void virtual_machine::enqueue(unsigned id) {
  if (awake_.size() == awake_.capacity()) [[unlikely]]
    make_room_for_event();
  cores_[id].event = sequence_;
  awake_.push_back({cores_[id].clock, sequence_++, id});
  if (mode_ == mode::random) return;
  std::push_heap(awake_.begin(), awake_.end(), last_first);
  look_ahead();
}

unsigned virtual_machine::take_next() {
  for (;;) {
    if (others_ != nullptr) let_others_go();
    WEFT_ASSERT(!awake_.empty());  // the engine never lets the last worker sleep
    if (mode_ == mode::random)
      std::swap(awake_[turns_.next(awake_)], awake_.back());
    else
      std::pop_heap(awake_.begin(), awake_.end(), last_first);
    const event e = awake_.back();
    awake_.pop_back();
    if (cores_[e.id].event != e.sequence) continue;  // it has been given another time since
    ++events_;
    look_ahead();
    return e.id;
  }
}

void virtual_machine::look_ahead() noexcept {
  earliest_ = awake_.empty() ? limit_ : std::min(awake_.front().time, limit_);
  horizon_ = mode_ == mode::fine && earliest_ != never ? earliest_ + lag_ps : never;
}

void virtual_machine::switch_to(unsigned id) noexcept {
  running_ = id;
  self_ = &cores_[id];
  detail::this_worker = self_->worker;
}

void virtual_machine::give_turn() {
  fiber& mine = *self_->running;
  const unsigned next = take_next();
  if (next == running_) return;
  switch_to(next);
  mine.jump(*self_->running, nullptr);
}

void virtual_machine::yield() {
  if (awake_.empty() && self_->clock < limit_) return;
  enqueue(running_);
  give_turn();
}

void virtual_machine::wait_until(std::uint64_t time) { advance(time > self_->clock ? time - self_->clock : 0); }

// --- shared words

void virtual_machine::load_finely(const void* address) {
  const std::uint64_t hit = setup_.model.lines.load_ps;
  if (mode_ == mode::random) return advance(hit);
  const lines::number l = lines_->of(address);
  if (lines_->readable(running_, l)) return run_on(hit);
  self_->missed = true;
  wait_until(lines_->ask(running_, l, self_->clock, false) + hit);
  lines_->arrived(running_, l, false);
}

void virtual_machine::before_store(const void* address) {
  const std::uint64_t hit = setup_.model.lines.store_ps;
  if (mode_ == mode::random) return advance(hit);
  if (mode_ == mode::coarse) {
    self_->clock += hit;
    return;
  }
  run_on(hit);  // the core may change hands here, so the line is looked at afterwards
  const lines::number l = lines_->of(address);
  if (lines_->writable(running_, l)) return;
  wake_watchers(l);
  lines_->take(running_, l, self_->clock);
}

void virtual_machine::before_modify(const void* address) {
  const std::uint64_t hit = setup_.model.lines.modify_ps;
  if (mode_ == mode::random) return advance(hit);
  if (mode_ == mode::coarse) {
    self_->clock += hit;
    return;
  }
  const lines::number l = lines_->of(address);
  if (lines_->writable(running_, l)) return run_on(hit);
  self_->missed = true;
  wait_until(lines_->ask(running_, l, self_->clock, true) + hit);
  have_alone(l);
}

void virtual_machine::have_alone(lines::number l) {
  wake_watchers(l);
  lines_->arrived(running_, l, true);
}

// Coarsely, whoever holds what we wait for gets on at its next step, so that is when to look again.
void virtual_machine::pause(std::uint64_t ps) {
  turns_.waits(running_);
  const bool coarse = mode_ == mode::coarse && !awake_.empty();
  const std::uint64_t until = std::max(self_->clock + ps, coarse ? earliest_ : 0);
  self_->searching_ps += until - self_->clock;
  if (!coarse) return advance(ps);
  self_->clock = until;
  yield();
}

// A search whose last round found every line where it was would find the same in the next: it sleeps until one of the
// lines that it has copies of changes, or its time is over, and looks as often as it did last. To the scheduler that is
// no different from going on, and saves the events of all the rounds between.
// A message from another node ends that, too.
void virtual_machine::pause_search(unsigned spins, std::uint64_t until_ps) {
  if (mode_ == mode::coarse && others_ == nullptr) {
    self_->searching_ps += std::max(until_ps, self_->clock) - self_->clock;
    return wait_until(until_ps);
  }
  const std::uint64_t pause_ps = std::clamp(spins, 1u, base::search_pauses_max) * setup_.model.runtime.relax_ps;
  const bool nothing_new = !std::exchange(self_->missed, false) || mode_ == mode::coarse;
  const bool alone = awake_.empty() && others_ == nullptr;
  if (mode_ == mode::random || !nothing_new || alone || self_->clock >= std::min(until_ps, message_ps_))
    return pause(pause_ps);
  self_->watching = true;
  self_->looks_each_ps = pause_ps;
  watchers_.push_back(running_);
  const std::uint64_t began = self_->watched_at = self_->clock;
  self_->clock = std::min(until_ps, message_ps_);
  yield();
  self_->searching_ps += self_->clock - began;
  if (std::exchange(self_->watching, false)) watchers_.erase(std::find(watchers_.begin(), watchers_.end(), running_));
  remind_watcher();  // the caller may find something else
}

// The line is about to change hands, and those who have copies of it look again, its last writer too.
void virtual_machine::wake_watchers(lines::number l) {
  if (watchers_.empty() || !(lines_->copied(l) || lines_->of_another(running_, l))) return;
  std::erase_if(watchers_, [&](unsigned id) {
    if (!lines_->readable(id, l)) return false;
    core& c = cores_[id];
    c.watching = false;
    // Within a pause of the write, also where the search began ahead of it and the difference wraps: it would have seen
    // it.
    const std::uint64_t each = c.looks_each_ps;
    c.clock = std::min(c.clock, c.watched_at + ((self_->clock - c.watched_at) / each + 1) * each);
    enqueue(id);
    return true;
  });
}

void virtual_machine::do_step(model::step s, const void* about) {
  const std::uint64_t ps = self_->step_ps[static_cast<std::size_t>(s)];
  if (about != nullptr) {
    const lines::number l = lines_->of(about);
    if (!lines_->writable(running_, l)) {
      self_->clock = lines_->ask(running_, l, self_->clock, true);
      lines_->arrived(running_, l, true);
    }
  }
  is_event(s) ? advance(ps) : static_cast<void>(self_->clock += ps);
}

// The step is done by the core that serves: it is told, does what it was asked for before, then this, and tells.
// Whoever is earlier asks first.
void virtual_machine::ask_server(model::step s) {
  const model::machine& m = setup_.model;
  const double speed = m.types[m.cores[server_seat_].type].runtime_speed;
  const std::uint64_t ps = scaled(m.runtime.step_ps[static_cast<std::size_t>(s)], 1 / speed);
  if (mode_ == mode::random) return advance(ps);
  wait_until(self_->clock);
  const std::uint64_t way = m.lines.transfer_ps[m.distance(self_->seat, server_seat_)];
  server_free_ps_ = std::max(self_->clock + way, server_free_ps_) + ps;
  wait_until(server_free_ps_ + way);
}

// Coarsely: the deque's word comes and is changed, a slot and the record come.
void virtual_machine::pay_steal(unsigned id) {
  constexpr unsigned lines_of_a_steal = 4;
  self_->clock +=
      lines_of_a_steal * setup_.model.lines.transfer_ps[setup_.model.distance(self_->seat, cores_[id].seat)];
}

// Neighbouring lines are fetched together: each after the first adds half its time (measured: 167 and 255 ns for one
// and two). Of what is read the first is written, too, so it comes to be this core's alone. What is only written does
// not keep the core waiting where another core has it, as a store does not; the first line of new memory does, since
// much of that is written in a row (`lines.memory`).
void virtual_machine::touch_lines(const void* address, std::size_t bytes, bool writes) {
  const auto* first = static_cast<const char*>(address);
  const std::uint64_t now = self_->clock;
  std::uint64_t takes = 0;
  for (std::size_t at = 0; at < bytes; at += 64) {
    const lines::number l = lines_->of(first + at);
    const bool alone = at == 0 || writes;
    if (alone ? lines_->writable(running_, l) : lines_->readable(running_, l)) continue;
    const bool waits = writes ? at == 0 && !lines_->of_another(running_, l) : true;
    if (waits) takes += (lines_->ask(running_, l, now, alone) - now) / (at == 0 ? 1 : 2);
    alone ? have_alone(l) : lines_->arrived(running_, l, false);
  }
  run_on(takes);
}

// --- bodies

void virtual_machine::start_watch() noexcept { self_->began = body_clock_->begin(); }

// Since the program went on by itself.
std::uint64_t virtual_machine::computed_ps() const noexcept {
  return self_->began == 0 ? 0 : scaled(body_clock_->since(self_->began), setup_.body_scale * self_->scale);
}

void virtual_machine::stop_watch() noexcept {
  const std::uint64_t ps = computed_ps();
  self_->began = 0;
  compute(ps, task_here());
}

double virtual_machine::scale_of(const char* task_name) {
  const model::core_type& type = setup_.model.types[setup_.model.cores[self_->seat].type];
  if (task_name != nullptr)
    for (const model::task_speed& s : type.speed_of)
      if (s.task == task_name) return 1 / s.speed;
  return self_->scale;
}

// A piece of a body that moves no data. Where cores slow each other down it takes longer beside others that compute,
// too.
void virtual_machine::compute(std::uint64_t ps, const char* task_name) {
  if (!setup_.model.computing_is_shared() || mode_ == mode::random) return advance(ps);
  uses_.clear();
  move_data(ps, task_name);
}

const char* virtual_machine::task_here() const noexcept {
  const detail::worker* w = self_->worker;
  return w != nullptr && w->current != nullptr ? w->current->name : nullptr;
}

void virtual_machine::charge(std::uint64_t ps, std::span<const data_use> uses) {
  if (setup_.measured) return;
  const char* const task = task_here();
  const std::uint64_t computing = scaled(ps, scale_of(task));
  if (uses.empty() || mode_ == mode::random) return compute(computing, task);
  if (!counts_on([&] { find_uses(uses); })) return compute(computing, task);
  move_data(computing, task);
}

void virtual_machine::begin_body(const detail::record&) { leave_runtime(); }

void virtual_machine::end_body(detail::record& r) {
  if (setup_.measured)
    stop_watch();
  else if ((r.cost_ps & detail::record::paid_bit) == 0)
    pay_body(r, r, 1);
  if (message_ps_ <= self_->clock) [[unlikely]]
    self_->worker->tick = looks_now;
}

// The members share what the task declares, and move a part each of what it uses.
void virtual_machine::end_member(detail::record& member, detail::record& task, unsigned width) {
  WEFT_ASSERT(width != 0);
  if (setup_.measured) return stop_watch();
  pay_body(member, task, width);
  member.cost_ps |= detail::record::paid_bit;
}

void virtual_machine::pay_body(const detail::record& r, detail::record& uses, unsigned parts) {
  const std::uint64_t said = r.cost_ps == 0 ? setup_.model.runtime.body_ps : r.declared_cost_ps(setup_.model.ghz);
  const std::uint64_t computing = scaled(said, scale_of(r.name));
  bool moves = mode_ != mode::random;
  if (moves) counts_on([&] { moves = find_uses(uses); });
  if (!moves || ran_out_) return compute(computing, r.name);
  for (model::use& u : uses_) u.bytes = std::max<std::uint64_t>(1, u.bytes / parts);
  move_data(computing, r.name);
  if (!ran_out_) find_homes(uses);
}

void virtual_machine::jump(unsigned id, fiber& from, fiber& to, fiber::action* after) {
  WEFT_ASSERT(id == running_);
  cores_[id].clock += setup_.model.runtime.switch_ps;
  cores_[id].running = &to;
  from.jump(to, after);
}

// Up to now on the caller's clock.
model::core_times virtual_machine::times() const noexcept {
  model::core_times all;
  for (const core& c : cores_) {
    const auto since = [&](std::uint64_t began) { return now_ps() > began ? now_ps() - began : 0; };
    const std::uint64_t asleep = c.asleep_ps + (c.parked ? since(c.slept_at) : 0);
    const std::uint64_t searching = c.searching_ps + (c.watching ? since(c.watched_at) : 0);
    all.asleep_ps += asleep;
    all.searching_ps += searching;
    all.running_ps += since(asleep + searching);
  }
  return all;
}

void virtual_machine::require_whole() {
  const bool all_there = !ran_out_ && !(lines_ && lines_->ran_out());
  if (all_there || std::exchange(told_, true)) return;
  throw error("weft: there was no memory for all that the modelled machine '" + setup_.model.name +
              "' must know: every task has run, but the virtual times are wrong; model.mode = \"coarse\" needs less");
}

machine_counts virtual_machine::counts() const noexcept {
  const lines::counts none{};
  const lines::counts& l = lines_ ? lines_->total() : none;
  machine_counts c{.transfers = l.transfers, .fetches = l.fetches, .line_waits_ps = l.waits_ps, .events = events_};
  if (memory_) {
    const model::bytes_by_kind k = memory_->kinds();
    c.cached_bytes = k.own + k.shared + k.modified;
    c.shared_bytes = k.shared;
    c.modified_bytes = k.modified;
    c.local_bytes = k.local;
    c.remote_bytes = k.remote;
    c.written_back_bytes = k.written_back;
    c.bandwidth_ps = memory_->moved().bandwidth_ps;
    c.units_ps = memory_->moved().units_ps;
  }
  c.energy = model::energy_of(setup_.model.energy, times(), c.local_bytes, c.remote_bytes);
  return c;
}

}  // namespace weft::machine
