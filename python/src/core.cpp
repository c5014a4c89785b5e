#include "core.hpp"

#include <chrono>
#include <stdexcept>

#include "blas.hpp"
#include "graph.hpp"
#include "without_gil.hpp"

namespace weftrt {

namespace detail = weft::detail;

thread_local constinit thread_finish* finish_of_thread = nullptr;

namespace {

// A thread outside of tasks waits at core::live_limit_, but no longer than so while none ends: they may wait for it.
constexpr auto patience = std::chrono::milliseconds(200);

// A thread that waits for a modelled machine looks so often whether a signal has come.
constexpr auto between_signals = std::chrono::milliseconds(20);

}  // namespace

// ---- the runtime

core::core(const core_options& o) : given_(o) {
  maker_ = std::thread([this] { maker_main(); });
  {
    const without_gil away;
    std::unique_lock hold(lock_);
    changed_.wait(hold, [this] { return made_; });
    hold.unlock();
    if (refused_ != nullptr) maker_.join();
  }
  if (refused_ == nullptr) {
    if (!modelled_) blas::one_more_runtime();
    if (!modelled_ && traced_) gil_ = std::make_unique<gil_watch>();
    return;
  }
  try {
    std::rethrow_exception(refused_);
  } catch (const weft::error& e) {
    throw std::invalid_argument(e.what());
  }
}

core::~core() {
  if (!gone_) end();
  if (maker_.joinable()) maker_.detach();  // a child after fork() has no such thread
  if (forked_) static_cast<void>(gil_.release());
}

// The thread that makes the runtime is its worker 0, and does nothing else. On a modelled machine all workers are this
// thread, and what is submitted is brought here.
void core::maker_main() {
  pthread_setname_np(pthread_self(), "weft-0");
  try {
    weft::options o{.workers = given_.workers, .pin = false, .stuck_ms = 0};
    if (!given_.machine.empty()) o.machine = given_.machine.c_str();
    if (!given_.policy.empty()) o.policy = given_.policy.c_str();
    if (!given_.trace.empty()) o.trace = given_.trace.c_str();
    if (given_.seed != 0) o.seed = given_.seed;
    rt_ = std::make_unique<weft::runtime>(o);
    workers_ = rt_->workers();
    modelled_ = std::string(rt_->machine()) != "host";
    if (const char* path = rt_->trace_path()) traced_ = true, trace_path_ = path;
    engine_ = detail::self_out_of_line()->engine;
    carriers_.open(workers_, !modelled_);
  } catch (...) {
    refused_ = std::current_exception();
  }
  const auto made = [this] {
    const std::lock_guard hold(lock_);
    made_ = true;
    changed_.notify_all();
  };
  if (refused_ != nullptr) return made();
  if (modelled_) {
    made();
    take_orders();
  } else {
    weft::event quit("the end of the runtime");
    quit_ = &quit;
    rt_->submit(weft::pin(0), [&] {  // runs when this thread waits
      engine_->pause(true);
      made();
    });
    quit.wait();
  }
  rt_->wait();
  if (traced_) try {
      rt_->write_trace();
    } catch (...) {
      refused_ = std::current_exception();
    }
  rt_.reset();
}

void core::take_orders() {
  std::unique_lock hold(lock_);
  for (;;) {
    changed_.wait(hold, [this] { return leaves_ || !orders_.empty(); });
    if (orders_.empty()) return;
    const auto order = std::move(orders_.front());
    orders_.pop_front();
    hold.unlock();
    order();
    hold.lock();
  }
}

void core::on_maker(std::function<void()> f) {
  bool over = false;
  std::exception_ptr failure;
  std::unique_lock hold(lock_);
  orders_.push_back([&] {
    try {
      f();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard again(lock_);
    over = true;
    changed_.notify_all();
  });
  changed_.notify_all();
  changed_.wait(hold, [&] { return over; });
  if (failure != nullptr) std::rethrow_exception(failure);
}

bool core::run_modelled() {
  struct order {
    bool over = false;
    std::exception_ptr failure;
  };
  const auto run = std::make_shared<order>();  // goes on when a signal has ended the wait
  {
    const std::lock_guard hold(lock_);
    orders_.push_back([this, run] {
      try {
        rt_->wait();
      } catch (...) {
        run->failure = std::current_exception();
      }
      const std::lock_guard again(lock_);
      run->over = true;
      changed_.notify_all();
    });
    changed_.notify_all();
  }
  for (;;) {
    {
      const without_gil away;
      std::unique_lock hold(lock_);
      if (changed_.wait_for(hold, between_signals, [&] { return run->over; })) break;
    }
    if (PyErr_CheckSignals() == 0) continue;
    cancel_all();
    return false;
  }
  if (run->failure != nullptr) std::rethrow_exception(run->failure);
  return true;
}

double core::now_ns() {
  if (gone_) throw std::invalid_argument("weftrt: the runtime has ended, and its clock with it");
  double now = 0;
  const without_gil away;
  if (modelled_ && running_job() == nullptr)
    on_maker([&] { now = static_cast<double>(rt_->now_ns()); });
  else
    now = static_cast<double>(rt_->now_ns());
  return now;
}

void core::heal() noexcept {
  for (PyObject* h : std::exchange(unwritten, {})) {
    Py_CLEAR(cell_of(h)->cause);
    Py_DECREF(h);
  }
}

// With nothing to do the runtime is paused, because its worker 0 waits for good: Weft says of others that do so that
// nothing comes. Who: with the GIL, when a task is the first, or the last.
void core::rest(bool yes) {
  if (modelled_ || gone_) return;
  if (yes) live_limit_ = live_most;
  engine_->pause(yes);
}

// A thread outside has submitted more than is good. Others may be needed for what it waits for, so it waits as long as
// something ends.
bool core::hold_back() {
  const auto step = std::chrono::milliseconds(1);
  std::uint64_t done = done_;
  for (auto since = std::chrono::steady_clock::now(); all_->live > live_limit_ && !gone_;) {
    {
      const without_gil away;
      std::this_thread::sleep_for(step);
    }
    if (PyErr_CheckSignals() != 0) return false;
    if (done != done_) done = done_, since = std::chrono::steady_clock::now();
    if (std::chrono::steady_clock::now() - since > patience) return live_limit_ *= 2, true;
  }
  return true;
}

// Who: without the GIL, when no graph runs; nobody else comes any more.
void core::end_graphs() {
  for (graph* g : graphs) g->end();
  ended_graphs.clear();
}

void core::end() {
  if (std::exchange(gone_, true)) return;
  while (inside_ != 0) {
    const without_gil away;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  {
    const without_gil away;
    if (!modelled_) {
      rt_->wait();
      end_graphs();
      for (unsigned w = 0; w < workers_; ++w) rt_->submit(weft::pin(w), [this] { carriers_.go_home(workers_); });
      rt_->wait();
      quit_->fulfil();
    } else {
      on_maker([this] {
        rt_->wait();
        end_graphs();
      });
      const std::lock_guard hold(lock_);
      leaves_ = true;
      changed_.notify_all();
    }
    maker_.join();
    carriers_.end();
  }
  carriers_.forget();
  gil_.reset();
  if (!modelled_) blas::one_less_runtime();
  heal();
  for (PyObject* f : std::exchange(failed, {})) Py_DECREF(f);
}

}  // namespace weftrt
