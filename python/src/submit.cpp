// From a call of submit() to a record of Weft, and from a record to the body.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_set>

#include "blas.hpp"
#include "core.hpp"
#include "sched/workers/worker.hpp"
#include "trace/session.hpp"
#include "weft/detail/submit.hpp"
#include "without_gil.hpp"

namespace weftrt {

namespace detail = weft::detail;

namespace {

// Live tasks beyond which a submitter may have to wait in Weft, whose window begins at 4096: it leaves the GIL then.
constexpr std::uint64_t live_unhindered = 3000;
// Tasks without clauses that a worker calls under one hold of the GIL, and for how long.
constexpr int batch_most = 64;
constexpr auto batch_time = std::chrono::microseconds(500);

struct closure {
  core* of;
  job* what;  // nullptr: any of the simple ones
  weft::detail::team_clause team{1, 1};
};

// Weft keeps names by address. There is one copy of each text, for good.
[[nodiscard]] const char* intern(const char* text) {
  static auto* const all = new std::unordered_set<std::string>;
  return all->emplace(text).first->c_str();
}

}  // namespace

// ---- tasks as Weft sees them

struct task {
  static void drain(carrier& here, void* of) {
    core& c = *static_cast<core*>(of);
    const bool had = here.take_gil();
    here.drains = &c;
    const auto until = std::chrono::steady_clock::now() + batch_time;
    for (int i = 0; i < batch_most && !c.simple_.empty(); ++i) {
      job* const j = c.simple_.front();
      c.simple_.pop_front();
      c.waiting_.store(static_cast<std::uint32_t>(c.simple_.size()));
      run_job(j);
      Py_DECREF(j);
      if (std::chrono::steady_clock::now() > until) break;
    }
    here.drains = nullptr;
    const bool goes_on = !c.simple_.empty();
    if (!goes_on) c.drains_.fetch_sub(1);
    here.leave_gil(had);
    if (goes_on) submit(c, nullptr, {});
  }
  // Somebody has pushed since this was submitted, or another has taken it.
  static bool has_something(core& c) noexcept {
    if (c.waiting_.load() != 0) return true;
    c.drains_.fetch_sub(1);
    if (c.waiting_.load() == 0) return false;  // who pushes now sees that this is gone
    c.drains_.fetch_add(1);
    return true;
  }
  struct errand_of {
    job* j;
    bool skipped;
    std::uint32_t traced = 0;  // its number in a trace; 0: it has none
  };
  // The same, and how long it waits for the GIL, which goes into the trace.
  static void one_traced(carrier& here, core& c, errand_of& e) {
    const auto before = std::chrono::steady_clock::now();
    const bool had = here.take_gil();
    const auto waited = std::chrono::nanoseconds(std::chrono::steady_clock::now() - before).count();
    if (here.gil == nullptr) here.gil = &c.gil_->add();
    here.gil->begin(had ? 0 : static_cast<std::uint64_t>(waited));
    const std::uint32_t number = std::exchange(e.traced, 0);
    one(here, &e);
    const std::uint64_t all = here.gil->end();
    here.leave_gil(had);
    if (all != 0)
      weft::trace::count(c.trace_path_.c_str(), weft::sched::current_worker()->id, number, "gil_wait_ns", all);
  }
  static void one(carrier& here, void* of) {
    auto& e = *static_cast<errand_of*>(of);
    if (e.traced != 0 && e.j->of->gil_ != nullptr) return one_traced(here, *e.j->of, e);
    const bool had = here.take_gil();
    e.skipped ? skip_job(e.j) : run_job(e.j);
    if (e.j->node_of == nullptr) Py_DECREF(e.j);
    here.leave_gil(had);
  }
  // A member of a team. The last to come calls the body, with the others as the threads of its BLAS.
  static void join_team(detail::record& r, weft::team_context& member) {
    const closure k = *static_cast<closure*>(r.closure());
    as_member(*k.of, k.what, k.of->traced_ ? r.trace_id() : 0, member, [&] {
      static_cast<closure*>(r.closure())->what = nullptr;  // all have read it; a team's closure is destroyed later
    });
  }
  template <class Begins>
  static void as_member(core& of, job* j, std::uint32_t traced, weft::team_context& member, Begins begins) {
    crew& all = of.carriers_;
    carrier::on_thread_stack(
        all, [](carrier&, void*) {}, nullptr);  // the maker's worker is on another thread now
    weft::openblas_guest(member, blas::all(), [&](weft::guest_context&) {
      errand_of e{j, false, traced};
      begins();
      carrier::on_thread_stack(
          all,
          [](carrier& here, void* of) {
            here.keep_worker(true);
            one(here, of);
            here.keep_worker(false);
          },
          &e);
    });
  }
  static void invoke(detail::record& r, detail::errand what) {
    const closure k = *static_cast<closure*>(r.closure());
    if (k.what == nullptr) {
      if (what != detail::errand::destroy && has_something(*k.of))
        carrier::on_thread_stack(k.of->carriers_, &drain, k.of);
      return;
    }
    errand_of e{k.what, what == detail::errand::destroy, k.of->traced_ ? r.trace_id() : 0};
    const detail::worker* const w = detail::self_out_of_line();
    if (k.team.most > 1 && !e.skipped && w != nullptr && w->where != nullptr && !k.of->modelled_)
      return detail::self_out_of_line()->engine->run_team(r, k.team, &join_team);
    if (w != nullptr && w->engine == k.of->engine_ && w->where != nullptr) {
      call(*k.of, e);
    } else {
      const PyGILState_STATE gil = PyGILState_Ensure();
      skip_job(k.what);
      Py_DECREF(k.what);
      PyGILState_Release(gil);
    }
  }

  static void call(core& of, errand_of& e) {
    carrier::on_thread_stack(of.carriers_, &one, &e);
    if (of.modelled_)
      for (auto& l : std::exchange(of.later_, {})) submit(of, l.first, l.second);
  }

  static void submit(core& c, job* j, const task_clauses& said) {
    detail::engine_base& e = *c.engine_;
    const std::size_t n = j != nullptr && j->accesses != nullptr ? j->accesses->size() : 0;
    const std::size_t bytes = sizeof(detail::record) + n * sizeof(detail::access) + sizeof(closure);
    if (bytes > detail::task_bytes_max) throw weft::error("weftrt: a task names at most 60000 handles");
    detail::record* const r = detail::allocate(e, detail::self(), bytes);
    unsigned exclusives = 0;
    for (std::size_t i = 0; i < n; ++i) exclusives += (*j->accesses)[i].how == way::add;
    detail::prepare(*r, &invoke, bytes, static_cast<std::uint32_t>(n),
                    static_cast<std::uint8_t>(std::min(exclusives, 2u)),
                    exclusives == 0 && !said.urgent && said.team < 2);
    r->name = j != nullptr ? j->name : nullptr;
    r->cost_ps = weft::cost(said.cost_ns).amount;
    r->urgent = said.urgent;
    if (!said.hints.empty()) r->near = e.near(said.hints.data(), said.hints.size()) & 63;
    r->subtasks = said.team > 1;
    const auto width = static_cast<std::uint16_t>(said.team);
    new (r->closure()) closure{&c, j, {width, width}};
    for (std::size_t i = 0; i < n; ++i)
      r->accesses()[i] = {reinterpret_cast<std::uintptr_t>(&(*j->accesses)[i].cell->state()) |
                              detail::kind_bits(static_cast<std::uint8_t>((*j->accesses)[i].how)),
                          0};
    // Read anew: allocate() may have waited for room, and then this may be another worker.
    if (n == 0 && !said.urgent && said.hints.empty() && said.team < 2 && detail::enter_fast(e, detail::self(), r))
      return;
    e.enter(r);
  }
};

namespace {

// What stands among the arguments, is no data and names none. An error is set if it cannot be meant.
void read_clause(PyObject* x, task_clauses& said, job& j) {
  const clause c = clause_of(x);
  if (c.kind == clause::what::named) {
    if (const char* const text = PyUnicode_AsUTF8(c.value)) j.name = intern(text);
  } else if (c.kind == clause::what::cost) {
    said.cost_ns = PyFloat_AsDouble(c.value);
  } else if (c.kind == clause::what::priority) {
    said.urgent = PyObject_IsTrue(c.value) > 0;
  } else if (c.kind == clause::what::team) {
    said.team = static_cast<unsigned>(PyLong_AsUnsignedLong(c.value));
  } else {
    Py_buffer view;
    if (PyObject_GetBuffer(c.value, &view, PyBUF_ANY_CONTIGUOUS) != 0) return;
    said.hints.push_back(weft::near(view.buf, static_cast<std::uint64_t>(view.len)));
    PyBuffer_Release(&view);
  }
}

const char* name_of(PyObject* f) {
  PyObject* const text = PyObject_GetAttrString(f, "__qualname__");
  const char* const utf8 = text != nullptr && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  const char* const name = intern(utf8 != nullptr ? utf8 : Py_TYPE(f)->tp_name);
  PyErr_Clear();
  Py_XDECREF(text);
  return name;
}

job* make_job(core* of, PyObject* f, PyObject* args, PyObject* kwargs, bool has_future = true) {
  names& n = names::get();
  job* const j = PyObject_New(job, job::type);
  if (j == nullptr) return nullptr;
  j->state = job::is::pending;
  j->watched = false;
  j->simple = false;
  j->f = Py_NewRef(f);
  j->args = Py_NewRef(args);
  j->kwargs = kwargs != Py_None ? Py_NewRef(kwargs) : nullptr;
  j->of = of;
  j->node_of = nullptr;
  j->order = 0;
  j->accesses = nullptr;
  j->in = j->children = nullptr;
  j->name = nullptr;
  j->future = nullptr;
  if (!has_future) return j;
  auto* const type = reinterpret_cast<PyTypeObject*>(n.future_type);
  j->future = type->tp_alloc(type, 0);
  if (j->future == nullptr || PyObject_SetAttr(j->future, n.job, reinterpret_cast<PyObject*>(j)) != 0) {
    Py_DECREF(j);
    return nullptr;
  }
  return j;
}

}  // namespace

// The task that is being submitted names a handle. An error is set if it cannot be meant.
void core::name(job& j, access a) {
  if (j.accesses != nullptr)
    for (const access& b : *j.accesses)
      if (b.cell == a.cell && (b.how != a.how || a.how == way::reduce))
        PyErr_SetString(PyExc_ValueError, "weftrt: a task names one handle in two ways, or reduces it twice; write() "
                                          "may also read");
  if (PyErr_Occurred() != nullptr || !meet_reduction(a)) return;
  if (j.accesses == nullptr) j.accesses = new std::vector<access>;
  j.accesses->push_back(a);
  Py_INCREF(a.of);
}

// Takes the clauses out of the arguments; handles stay in the place of their accesses. False: an error is set.
bool core::sort_out(job* j, task_clauses& said, std::vector<PyObject*>& gates) {
  const names& n = names::get();
  std::vector<PyObject*> left;
  const auto is = [](PyObject* x, PyObject* type) { return Py_TYPE(x) == reinterpret_cast<PyTypeObject*>(type); };
  const auto one = [&](PyObject* x) -> PyObject* {  // what stands in its place; nullptr: nothing
    if (is(x, n.access_type)) {
      const access a = access_of(x);
      name(*j, a);
      return a.of;
    }
    if (is(x, n.clause_type)) {
      const clause c = clause_of(x);
      if (c.kind != clause::what::after) return read_clause(x, said, *j), nullptr;
      PyObject* const h = PyTuple_GET_ITEM(c.value, 0);
      name(*j, {h, cell_of(h), way::read});
      PyObject* const g = PyTuple_GET_ITEM(c.value, 1);
      if (g != Py_None) gates.push_back(Py_NewRef(g));
      return nullptr;
    }
    if (is(x, n.handle_type))
      PyErr_SetString(PyExc_TypeError, "weftrt: a handle alone does not say how the task uses it: write read(h), "
                                       "write(h) or add(h)");
    return x;
  };
  bool changed = false;
  const Py_ssize_t count = PyTuple_GET_SIZE(j->args);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const x = PyTuple_GET_ITEM(j->args, i);
    PyObject* const y = one(x);
    changed = changed || y != x;
    if (y != nullptr) left.push_back(y);
  }
  if (changed && PyErr_Occurred() == nullptr) {
    PyObject* const args = PyTuple_New(static_cast<Py_ssize_t>(left.size()));
    if (args == nullptr) return false;
    for (std::size_t i = 0; i < left.size(); ++i)
      PyTuple_SET_ITEM(args, static_cast<Py_ssize_t>(i), Py_NewRef(left[i]));
    Py_SETREF(j->args, args);
  }
  PyObject *key = nullptr, *value = nullptr;
  PyObject* kwargs = nullptr;
  for (Py_ssize_t at = 0;
       j->kwargs != nullptr && PyErr_Occurred() == nullptr && PyDict_Next(j->kwargs, &at, &key, &value);) {
    PyObject* const y = one(value);
    if (y == value) continue;
    if (kwargs == nullptr) kwargs = PyDict_Copy(j->kwargs);
    if (kwargs == nullptr) return false;
    if (y != nullptr ? PyDict_SetItem(kwargs, key, y) != 0 : PyDict_DelItem(kwargs, key) != 0) break;
  }
  if (kwargs != nullptr) Py_SETREF(j->kwargs, kwargs);
  return PyErr_Occurred() == nullptr;
}

std::shared_ptr<scope>& core::scope_of(job* outer) {
  if (outer != nullptr && outer->of == this) {
    if (outer->children == nullptr) outer->children = new std::shared_ptr(std::make_shared<scope>(*outer->in));
    return *outer->children;
  }
  if (finish_of_thread != nullptr && finish_of_thread->of == this) return finish_of_thread->all;
  return all_;
}

void core::open_gate(PyObject* x) {
  gate& g = gate_of(x);
  const auto submit = [&] { rt_->submit(weft::write(*g.cell), weft::completes(g.over), weft::named("after"), [] {}); };
  const without_gil away;
  if (modelled_)
    on_maker(submit);
  else
    submit();
}

const char* core::why_gone() const noexcept {
  return forked_ ? "weftrt: this process is a child that fork() made, and the threads of the runtime are its parent's; "
                   "make a Runtime in the child, or start it by spawn"
                 : "weftrt: cannot schedule new futures after shutdown: the runtime has ended";
}

// Errors: what Weft throws; the task is not submitted then.
void core::enter(job* j, const task_clauses& said, bool from_body) {
  if (modelled_ && from_body) {
    running_job()->of->later_.push_back({j, said});
    return;
  }
  if (modelled_) {
    const without_gil away;
    return on_maker([&] { task::submit(*this, j, said); });
  }
  if (!j->simple || traced_ || said.cost_ns != 0) {
    const without_gil away(all_->live > live_unhindered);
    return task::submit(*this, j, said);
  }
  simple_.push_back(j);
  waiting_.store(static_cast<std::uint32_t>(simple_.size()));
  call_drain();
}

// One more worker looks at the simple tasks, if fewer do than there are.
void core::call_drain() {
  if (drains_.load() >= static_cast<int>(workers_) || simple_.empty()) return;
  drains_.fetch_add(1);
  try {
    task::submit(*this, nullptr, {});
  } catch (...) {
    drains_.fetch_sub(1);
    throw;
  }
}

void core::drain_waits(bool yes) {
  drains_.fetch_add(yes ? -1 : 1);
  if (yes) call_drain();
}

job* core::record(PyObject* f, PyObject* args, PyObject* kwargs, task_clauses& said) {
  job* const j = make_job(this, f, args, kwargs, false);
  if (j == nullptr) return nullptr;
  std::vector<PyObject*> gates;
  if (sort_out(j, said, gates)) {
    if (j->name == nullptr) j->name = name_of(f);
    if (!gates.empty())
      PyErr_SetString(PyExc_TypeError, "weftrt: a graph runs again and a future is done once; submit that task by "
                                       "itself, or let it be after a handle");
    for (const access& a : j->accesses != nullptr ? *j->accesses : std::vector<access>{})
      if (a.how == way::reduce)
        PyErr_SetString(PyExc_TypeError, "weftrt: a graph holds no reduce(); use add(), or submit that task by itself");
    if (said.team > 1) blas::look();
    j->state = job::is::running;
  }
  for (PyObject* g : gates) Py_DECREF(g);
  if (PyErr_Occurred() == nullptr) return j;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  Py_DECREF(j);
  PyErr_Restore(type, value, trace);
  return nullptr;
}

void core::call_node(job* j) {
  task::errand_of e{j, false};
  task::call(*this, e);
}

void core::call_node(job* j, weft::team_context& member) {
  task::as_member(*this, j, 0, member, [] {});
}

PyObject* core::submit(PyObject* f, PyObject* args, PyObject* kwargs) {
  job* const outer = running_job();
  const bool from_body = outer != nullptr && outer->of == this;
  if (gone_ && (!from_body || forked_)) return PyErr_SetString(PyExc_RuntimeError, why_gone()), nullptr;
  if (!from_body && all_->live > live_limit_ && !modelled_) {
    ++inside_;
    const bool goes_on = hold_back();
    --inside_;
    if (!goes_on) return nullptr;
    if (gone_) return PyErr_SetString(PyExc_RuntimeError, why_gone()), nullptr;
  }
  job* const j = make_job(this, f, args, kwargs);
  if (j == nullptr) return nullptr;
  PyObject* const future = Py_NewRef(j->future);
  task_clauses said;
  std::vector<PyObject*> gates;
  const bool is_right = sort_out(j, said, gates);
  if (modelled_) said.team = 1;  // its cores are no threads
  j->simple = j->accesses == nullptr && !said.urgent && said.hints.empty() && said.team < 2;
  if (said.team > 1) blas::look();
  if (is_right && j->name == nullptr && (!j->simple || traced_ || modelled_)) j->name = name_of(f);
  if (is_right) {
    j->in = new std::shared_ptr(scope_of(outer));
    const bool was_idle = all_->live == 0;
    (*j->in)->more();
    j->order = ++orders_given_;
    Py_INCREF(j);
    ++inside_;
    try {
      for (PyObject* g : gates) open_gate(g);
      enter(j, said, from_body);  // the record has the reference now
      --inside_;
      if (was_idle) rest(false);
      Py_DECREF(j);
      for (PyObject* g : gates) Py_DECREF(g);
      return future;
    } catch (const std::exception& e) {
      --inside_;
      const bool was_given_up = j->state != job::is::pending;  // Weft has had the record, and skipped it
      PyObject_SetAttrString(future, "_told", Py_True);
      Py_DECREF(j);
      PyErr_SetString(PyExc_ValueError, e.what());
      if (was_given_up) {
        for (PyObject* g : gates) Py_DECREF(g);
        Py_DECREF(future);
        return nullptr;
      }
      (*j->in)->less();
      delete std::exchange(j->in, nullptr);
    }
  }
  for (PyObject* g : gates) Py_DECREF(g);
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyObject_SetAttr(future, names::get().job, Py_None);
  Py_CLEAR(j->future);
  Py_DECREF(j);
  Py_DECREF(future);
  PyErr_Restore(type, value, trace);
  return nullptr;
}

}  // namespace weftrt
