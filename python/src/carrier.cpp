#include "carrier.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "sched/workers/worker.hpp"

namespace weftrt {

namespace fcontext = boost::context::detail;

namespace {

// A thread of Weft's leaves its own stack near the top, for its loop. What is below that is free, and a body of Python
// gets it, so that it runs where CPython believes that it does.
constexpr std::size_t frames_of_thread = 128 * 1024;

thread_local constinit carrier* of_this_thread = nullptr;

void sleep_on(sem_t& s) noexcept {
  while (sem_wait(&s) != 0 && errno == EINTR) {
  }
}

// What a fiber is entered with: that its call is over, or that its body has given the worker away.
int given_away_mark;

}  // namespace

carrier* carrier::here() noexcept {
  asm volatile("" ::: "memory");  // not the address of before a switch
  return of_this_thread;
}

carrier::carrier(crew& all) : all_(all) { sem_init(&wake_, 0, 0); }

void carrier::on_thread_stack(crew& all, void (*run)(carrier&, void*), void* argument) {
  carrier& first = all.mine();
  if (first.base_ == nullptr) return run(first, argument);  // called by a submission, on that stack already
  call self{run, argument};
  if (first.is_maker_) {
    message leave{what::relay, &self};
    const fcontext::transfer_t on = fcontext::jump_fcontext(std::exchange(first.base_, nullptr), &leave);
    here()->base_ = on.fctx;
  }
  message what_for{what::run, &self};
  fcontext::transfer_t t = fcontext::jump_fcontext(std::exchange(here()->base_, nullptr), &what_for);
  for (;;) {
    here()->base_ = t.fctx;
    if (t.data == nullptr) return;
    // This is another thread. The fiber is set aside until the body wants a worker.
    try {
      self.over->wait();
    } catch (const std::exception& e) {  // on real cores no such wait is ended
      std::fprintf(stderr, "weftrt: %s\n", e.what());
      std::abort();
    }
    message back{what::hand_over, &self};
    t = fcontext::jump_fcontext(std::exchange(all.mine().base_, nullptr), &back);
  }
}

void carrier::loop(fcontext::transfer_t t) {
  while (t.data != nullptr) {
    const message m = *static_cast<message*>(t.data);
    carrier& c = *here();
    call& k = *m.of;
    k.fiber = t.fctx;
    if (m.kind == what::run) {
      k.thread = &c;
      c.current_ = &k;
      k.run(c, k.argument);
      c.current_ = nullptr;
      t = fcontext::jump_fcontext(k.fiber, nullptr);
      continue;
    }
    weft::detail::worker* const w = weft::sched::current_worker();
    if (m.kind == what::relay) {
      if (!c.all_.pass_on(*w, k)) {  // no thread can be had: this one will have to do
        t = fcontext::jump_fcontext(k.fiber, nullptr);
        continue;
      }
      t = c.idle();
      continue;
    }
    weft::sched::set_current_worker(nullptr);
    if (!c.is_maker_) c.all_.put_idle(c);  // first: whoever goes on may want a thread at once
    if (m.kind == what::hand_over) {
      carrier& to = *k.thread;
      to.given_ = w;
      sem_post(&to.wake_);
    } else {
      c.all_.lay_down(*w, k);
    }
    t = c.idle();
  }
}

fcontext::transfer_t carrier::idle() {
  sleep_on(wake_);
  if (given_call_ == nullptr) return {nullptr, nullptr};
  weft::sched::set_current_worker(std::exchange(given_, nullptr));
  return fcontext::jump_fcontext(std::exchange(given_call_, nullptr)->fiber, &given_away_mark);
}

void* carrier::thread_main(void* self) {
  of_this_thread = static_cast<carrier*>(self);
  pthread_setname_np(pthread_self(), "weft-python");
  of_this_thread->make_state();
  loop(of_this_thread->idle());
  return nullptr;
}

void carrier::give_away() {
  if (is_in_team_)
    throw std::runtime_error("weftrt: a task with team() cannot wait: the workers of its team wait for it; let a task "
                             "that follows by after() or by its data do so");
  if (worker_given_ == 0) keeps_ = is_maker_ || weft::sched::current_worker()->id >= all_.workers_;
  if (worker_given_ == 0 && !keeps_) {
    over_.emplace();
    current_->over = &*over_;
    if (!all_.pass_on(*weft::sched::current_worker(), *current_)) {
      over_.reset();
      throw std::runtime_error("weftrt: no thread can be made that runs tasks while this one waits");
    }
  }
  ++worker_given_;
}

void carrier::get_back() {
  if (--worker_given_ != 0 || keeps_) return;
  over_->fulfil();
  sleep_on(wake_);
  weft::sched::set_current_worker(std::exchange(given_, nullptr));
  over_.reset();
}

void carrier::make_state() { state_ = PyThreadState_New(PyInterpreterState_Main()); }

// ---- crew

carrier& crew::mine() {
  if (carrier* c = carrier::here()) return *c;
  auto* c = new carrier(*this);
  of_this_thread = c;
  c->home_ = weft::sched::current_worker();
  c->is_maker_ = pthread_equal(maker_, pthread_self()) != 0;
  c->make_state();
  pthread_attr_t about{};
  void* bottom = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &about) != 0) throw std::bad_alloc();
  pthread_attr_getstack(&about, &bottom, &bytes);
  pthread_attr_destroy(&about);
  const std::size_t left = bytes - std::min(frames_of_thread, bytes / 4);
  c->base_ = fcontext::make_fcontext(static_cast<char*>(bottom) + left, left, &carrier::loop);
  const std::lock_guard guard(lock_);
  all_.push_back(c);
  return *c;
}

carrier& crew::idle_one() {
  const std::lock_guard guard(lock_);
  if (!idle_.empty()) {
    carrier* c = idle_.back();
    idle_.pop_back();
    return *c;
  }
  all_.reserve(all_.size() + 1);
  idle_.reserve(all_.capacity());
  auto c = std::unique_ptr<carrier>(new carrier(*this));
  c->is_extra_ = true;
  const int error = pthread_create(&c->id_, nullptr, &carrier::thread_main, c.get());
  if (error != 0) throw std::system_error(error, std::generic_category(), "weftrt: no thread for a task that waits");
  all_.push_back(c.get());
  return *c.release();
}

// The caller's worker goes on with k on another thread. False: there is none.
bool crew::pass_on(weft::detail::worker& w, call& k) noexcept {
  try {
    carrier& next = idle_one();
    next.given_ = &w;
    next.given_call_ = &k;
    weft::sched::set_current_worker(nullptr);
    sem_post(&next.wake_);
    return true;
  } catch (...) {
    return false;
  }
}

void crew::put_idle(carrier& c) {
  const std::lock_guard guard(lock_);
  idle_.push_back(&c);
}

// Where all have arrived, each worker is given to the thread that it began on.
void crew::lay_down(weft::detail::worker& w, call& k) {
  const std::lock_guard guard(lock_);
  arrived_.push_back({&w, &k});
  if (arrived_.size() != coming_) return;
  for (const auto& [worker, call] : arrived_)
    for (carrier* c : all_) {
      if (c->home_ != worker) continue;
      std::erase(idle_, c);
      c->given_ = worker;
      c->given_call_ = call;
      sem_post(&c->wake_);
    }
}

void crew::go_home(unsigned workers) {
  carrier& c = mine();
  {
    const std::lock_guard guard(lock_);
    coming_ = workers;
  }
  call self{nullptr, nullptr};
  carrier::message what_for{carrier::what::go_home, &self};
  const fcontext::transfer_t t = fcontext::jump_fcontext(std::exchange(c.base_, nullptr), &what_for);
  carrier::here()->base_ = t.fctx;
}

void crew::end() {
  for (carrier* c : all_)
    if (c->is_extra_) {
      sem_post(&c->wake_);
      pthread_join(c->id_, nullptr);
    }
}

void crew::forget() {
  for (carrier* c : all_) {
    PyThreadState_Clear(c->state_);
    PyThreadState_Delete(c->state_);
    delete c;
  }
  all_.clear();
}

unsigned crew::threads() noexcept {
  const std::lock_guard guard(lock_);
  return static_cast<unsigned>(all_.size());
}

}  // namespace weftrt
