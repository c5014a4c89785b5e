// A runtime for Python, its tasks and its handles. All of what is here is guarded by the GIL, but for what says
// otherwise: it is touched by who holds it. Nothing of Weft that may block is called with the GIL held.
#pragma once
#include <Python.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "carrier.hpp"
#include "gil.hpp"
#include "weft/weft.hpp"

namespace weftrt {

// Names used again and again, and the classes that weftrt/_task.py tells of.
struct names {
  PyObject *order, *state, *result, *exception, *job, *announce, *add_note, *pending, *running, *cancelled, *notified,
      *finished;
  PyObject* future_type = nullptr;
  PyObject* skipped = nullptr;    // the exception of a task whose data failed
  PyObject* read_view = nullptr;  // what a read gets of a datum
  PyObject* check_result = nullptr;
  PyObject *open_reduction = nullptr, *close_reduction = nullptr;  // weftrt/_reduce.py
  PyObject *access_type = nullptr, *clause_type = nullptr, *handle_type = nullptr;
  static names& get();
};

class core;

// The part of a handle that tasks name. It may live longer than the Handle of Python: until no task uses it.
struct handle_cell final : weft::handle<void> {
  explicit handle_cell(PyObject* d) noexcept : data(d) {}
  PyObject* data;             // what is under its care; nullptr: the Handle is gone
  PyObject* parts = nullptr;  // of the reduces that are open: until somebody else names the handle
  PyObject* cause = nullptr;  // the exception that left it unwritten
  std::string text;           // its name
};

// As Python sees it.
struct handle {
  explicit handle(PyObject* data);
  ~handle();
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  handle_cell* cell;
};

enum class way : std::uint8_t {
  read = weft::detail::kind_read,
  write = weft::detail::kind_write,
  add = weft::detail::kind_add,
  reduce = weft::detail::kind_concurrent  // each to a part of its own; a task that writes puts them together
};
struct access {
  PyObject* of;  // the Handle
  handle_cell* cell;
  way how;
  PyObject* parts = nullptr;  // of a reduce: its operation, and from its submission on where parts are
  PyObject* part = nullptr;   // that the body adds to
};
void clear(access& a);  // gives its references up

// Counts tasks that are not done, those that they submit included.
struct scope {
  explicit scope(std::shared_ptr<scope> o) : outer(std::move(o)) {}
  void more() noexcept {
    for (scope* s = this; s != nullptr; s = s->outer.get()) ++s->live;
  }
  void less();  // releases the locks of who waits
  std::uint64_t live = 0;
  std::vector<PyObject*> waiting;  // locks of Python
  std::shared_ptr<scope> outer;
};

class graph;

// A task of Python. It and its future know each other until it is done. A node of a graph has no future.
struct job {
  PyObject_HEAD enum class is : std::uint8_t { pending, running, cancelled, done } state;
  bool watched;  // somebody may wait for the future, or has a callback
  bool simple;   // no clause: any worker may take it, and whoever wants its result may call it
  PyObject* f;
  PyObject* args;
  PyObject* kwargs;
  PyObject* future;
  core* of;
  graph* node_of;
  std::uint64_t order;
  std::vector<access>* accesses;
  std::shared_ptr<scope>* in;        // where it is counted
  std::shared_ptr<scope>* children;  // of what its body submits
  const char* name;
  static PyTypeObject* type;
};

// What a task says beside its data.
struct task_clauses {
  double cost_ns = 0;
  bool urgent = false;
  unsigned team = 1;
  std::vector<weft::detail::near_clause> hints;
};
struct clause {
  enum class what : std::uint8_t { named, cost, priority, near, after, team } kind;
  PyObject* value;
};
[[nodiscard]] handle_cell* cell_of(PyObject* handle);
[[nodiscard]] access access_of(PyObject* x);  // an Access
[[nodiscard]] clause clause_of(PyObject* x);  // a Clause

// ---- reductions (reduction.cpp)

// What the body of a reduce adds to. Borrowed; nullptr: an error is set. Who: once for each call of the body.
[[nodiscard]] PyObject* part_of(access& a);
// The body has added. False: an error is set.
bool give_back_parts(job& j);

// What is after a future reads a datum that its end writes: so the order of submission holds here, too.
struct gate {
  explicit gate(PyObject* h, handle_cell* c) : of(Py_NewRef(h)), cell(c) {}
  ~gate() { Py_DECREF(of); }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  PyObject* of;  // its Handle
  handle_cell* cell;
  weft::event over;
};
[[nodiscard]] gate& gate_of(PyObject* x);

// A finish of a thread outside of tasks.
struct thread_finish {
  core* of;
  std::shared_ptr<scope> all;
  thread_finish* outer;
};
extern thread_local constinit thread_finish* finish_of_thread;

struct core_options {
  unsigned workers = 0;
  std::string machine, trace, policy;
  std::uint64_t seed = 0;
};

class core {
 public:
  explicit core(const core_options& o);
  ~core();
  core(const core&) = delete;
  core& operator=(const core&) = delete;

  // Returns the new future, or nullptr with an error of Python set.
  PyObject* submit(PyObject* f, PyObject* args, PyObject* kwargs);
  // Puts together the parts of all reductions that are open, by tasks. False: an error is set.
  bool close_reductions();
  // A task that is kept, and not submitted: a node. Returns nullptr with an error of Python set.
  job* record(PyObject* f, PyObject* args, PyObject* kwargs, task_clauses& said);
  // Calls the body of a node. Who: its fiber.
  void call_node(job* j);
  void call_node(job* j, weft::team_context& member);
  // Waits for what is left, then ends the threads. Who: with the GIL, outside of its tasks.
  void end();
  void abandon() noexcept { gone_ = forked_ = true; }  // in a child after fork()
  [[nodiscard]] const char* why_gone() const noexcept;
  // On a modelled machine tasks run while somebody waits. False: an error of Python is set, as after Ctrl-C, and what
  // had not begun then is cancelled.
  [[nodiscard]] bool run_modelled();
  // Of the machine, since the runtime was made. Who: with the GIL, outside of tasks on a modelled machine.
  [[nodiscard]] double now_ns();
  void one_done() noexcept { ++done_; }
  void one_begun() noexcept { ++begun_; }
  [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }
  [[nodiscard]] std::uint64_t submitted() const noexcept { return orders_given_; }
  [[nodiscard]] std::uint64_t done() const noexcept { return done_; }
  void cancel_all() noexcept { cancels_ = true; }  // what has not begun
  [[nodiscard]] bool cancels() const noexcept { return cancels_; }
  [[nodiscard]] bool gone() const noexcept { return gone_; }
  [[nodiscard]] bool forked() const noexcept { return forked_; }
  [[nodiscard]] unsigned threads() noexcept { return carriers_.threads(); }
  [[nodiscard]] bool is_modelled() const noexcept { return modelled_; }
  [[nodiscard]] unsigned workers() const noexcept { return workers_; }
  [[nodiscard]] std::shared_ptr<scope>& scope_of(job* outer);
  [[nodiscard]] std::shared_ptr<scope>& all() noexcept { return all_; }
  [[nodiscard]] std::string machine() const { return rt_->machine(); }
  [[nodiscard]] std::string trace_path() const { return trace_path_; }
  void heal() noexcept;
  void drain_waits(bool yes);  // a worker that looked at the simple tasks is given away in one of them; has one again
  void rest(bool yes);
  [[nodiscard]] weft::runtime& runtime() noexcept { return *rt_; }
  void on_maker(std::function<void()> f);  // without the GIL

  std::vector<PyObject*> failed;     // futures that failed, to be raised by a wait
  std::vector<PyObject*> unwritten;  // Handles with a cause, until a wait
  std::unordered_set<graph*> graphs;
  std::vector<std::unique_ptr<weft::graph>> ended_graphs;  // that a body has dropped: their end may wait

 private:
  friend struct task;
  void maker_main();
  bool sort_out(job* j, task_clauses& said, std::vector<PyObject*>& gates);
  void name(job& j, access a);
  bool meet_reduction(access& a);
  void enter(job* j, const task_clauses& said, bool from_body);
  bool hold_back();
  void take_orders();
  void call_drain();
  void open_gate(PyObject* g);
  void end_graphs();

  core_options given_;
  std::unique_ptr<weft::runtime> rt_;
  weft::detail::engine_base* engine_ = nullptr;
  std::thread maker_;
  std::exception_ptr refused_;
  std::mutex lock_;  // of the maker's orders
  std::condition_variable changed_;
  std::deque<std::function<void()>> orders_;
  weft::event* quit_ = nullptr;
  bool made_ = false, leaves_ = false;
  crew carriers_;
  unsigned workers_ = 0;
  bool modelled_ = false, traced_ = false, gone_ = false, forked_ = false, cancels_ = false;
  std::string trace_path_;
  std::unique_ptr<gil_watch> gil_;  // where a trace is recorded, on real cores
  // Tasks without clauses go from hand to hand here, many under one hold of the GIL. Invariant: while there are any, a
  // record of Weft that looks here is on its way, or a worker is at it, or all workers are.
  std::deque<job*> simple_;
  std::atomic<std::uint32_t> waiting_{0};  // how many; read without the GIL
  std::atomic<int> drains_{0};             // records on their way, and workers at it
  static constexpr std::uint64_t live_most = 3500;
  std::uint64_t live_limit_ = live_most;
  unsigned inside_ = 0;                               // threads in a submission, which may be without the GIL
  std::vector<std::pair<job*, task_clauses>> later_;  // modelled: submitted by the body that runs
  std::uint64_t orders_given_ = 0, begun_ = 0, done_ = 0;
  std::unordered_set<PyObject*> reducing_;  // Handles with parts
  std::shared_ptr<scope> all_ = std::make_shared<scope>(nullptr);
};

// The task whose body the calling thread is in; nullptr: none.
[[nodiscard]] job* running_job() noexcept;
// Calls the body, if nobody has. Who: a thread's own stack, with the GIL.
void run_job(job* j);
// The body, for a task that is claimed. Returns its result; nullptr, and why not in `failure`.
[[nodiscard]] PyObject* call_body(job* j, PyObject*& failure);
// What j was to write is unwritten because of this exception.
void poison(const job* j, PyObject* exception);
// The runtime gives it up: it can never run.
void skip_job(job* j);
// Calls it where its result is wanted, if it has not begun and may be called by anybody. Who: a body, with the GIL.
bool call_here(job* j);
[[nodiscard]] bool cancel(job* j);
void make_job_type(PyObject* module);

}  // namespace weftrt
