// A task of Python from its claim to its end: the call with its data, and what its future is told. All of it with the
// GIL, on a thread's own stack.
#include <string>
#include <utility>

#include "core.hpp"
#include "graph.hpp"

namespace weftrt {

namespace {

// Tasks that are called in one another where their results are wanted.
constexpr unsigned nested_most = 40;

// Cells whose Handle is gone, until no task uses them. Guarded by the GIL.
std::deque<handle_cell*>& graveyard() {
  static auto* const all = new std::deque<handle_cell*>;
  return *all;
}

void set(PyObject* o, PyObject* name, PyObject* value) {
  if (PyObject_SetAttr(o, name, value) != 0) PyErr_WriteUnraisable(o);
}

void clear_accesses(job* j) {
  if (j->accesses == nullptr) return;
  for (access& a : *j->accesses) clear(a);
  delete j->accesses;
  j->accesses = nullptr;
}

// Its future is complete: what only the call needed goes, so that data live no longer than their last reader.
void settle(job* j) {
  names& n = names::get();
  j->state = job::is::done;
  Py_CLEAR(j->f);
  Py_CLEAR(j->args);
  Py_CLEAR(j->kwargs);
  clear_accesses(j);
  PyObject* const future = std::exchange(j->future, nullptr);
  set(future, n.job, Py_None);
  if (j->watched) {
    PyObject* const r = PyObject_CallMethodNoArgs(future, n.announce);
    if (r == nullptr) PyErr_WriteUnraisable(future);
    Py_XDECREF(r);
  }
  Py_DECREF(future);
  j->of->one_done();
  if (j->in != nullptr) {
    (*j->in)->less();
    delete std::exchange(j->in, nullptr);
  }
  if (j->of->all()->live == 0) j->of->rest(true);
}

void finish_with(job* j, PyObject* result) {
  names& n = names::get();
  set(j->future, n.result, result);
  set(j->future, n.state, n.finished);
  Py_DECREF(result);
  settle(j);
}

// Takes the reference.
void fail_with(job* j, PyObject* exception) {
  names& n = names::get();
  set(j->future, n.exception, exception);
  set(j->future, n.state, n.finished);
  poison(j, exception);
  auto& failed = j->of->failed;
  PyObject* const order = PyLong_FromUnsignedLongLong(j->order);
  if (order != nullptr) set(j->future, n.order, order);
  Py_XDECREF(order);
  if (failed.size() < 1000) failed.push_back(Py_NewRef(j->future));
  Py_DECREF(exception);
  settle(j);
}

PyObject* raised() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
}

// Says in which task it was, where that is half of the answer: a write to what was only to be read.
void note_task(PyObject* e, const job* j) {
  if (j->accesses == nullptr || !PyObject_TypeCheck(e, reinterpret_cast<PyTypeObject*>(PyExc_ValueError))) return;
  if (PyObject_HasAttrString(e, "__notes__") != 0) return;  // a graph's run raises what a node of it did
  PyObject* const note = PyUnicode_FromFormat("in task '%s'; what it names by read() it may not write", j->name);
  PyObject* const r = PyObject_CallMethodOneArg(e, names::get().add_note, note);
  if (r == nullptr) PyErr_Clear();
  Py_XDECREF(r);
  Py_XDECREF(note);
}

// What a body gets for an argument; a new reference.
PyObject* datum_for(PyObject* argument, job* j) {
  if (j->accesses != nullptr)
    for (access& a : *j->accesses) {
      if (reinterpret_cast<PyObject*>(a.of) != argument) continue;
      if (a.how == way::reduce) return Py_XNewRef(part_of(a));
      if (a.how != way::read) return Py_NewRef(a.cell->data);
      return PyObject_CallOneArg(names::get().read_view, a.cell->data);
    }
  return Py_NewRef(argument);
}

// The arguments with data in the place of handles. False: an error is set.
bool fill_in(job* j, PyObject*& args, PyObject*& kwargs) {
  const Py_ssize_t n = PyTuple_GET_SIZE(j->args);
  args = PyTuple_New(n);
  if (args == nullptr) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* const x = datum_for(PyTuple_GET_ITEM(j->args, i), j);
    if (x == nullptr) return false;
    PyTuple_SET_ITEM(args, i, x);
  }
  if (j->kwargs == nullptr) return true;
  kwargs = PyDict_New();
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; kwargs != nullptr && PyDict_Next(j->kwargs, &at, &key, &value);) {
    PyObject* const x = datum_for(value, j);
    if (x == nullptr || PyDict_SetItem(kwargs, key, x) != 0) return Py_XDECREF(x), false;
    Py_DECREF(x);
  }
  return kwargs != nullptr;
}

PyObject* call_with_data(job* j) {
  PyObject *args = nullptr, *kwargs = nullptr, *result = nullptr;
  if (fill_in(j, args, kwargs)) result = PyObject_Call(j->f, args, kwargs);
  Py_XDECREF(args);
  Py_XDECREF(kwargs);
  if (result == nullptr || !give_back_parts(*j)) return Py_XDECREF(result), nullptr;
  PyObject* const data = PyTuple_New(static_cast<Py_ssize_t>(j->accesses->size()));
  if (data == nullptr) return Py_DECREF(result), nullptr;
  for (std::size_t i = 0; i < j->accesses->size(); ++i)
    PyTuple_SET_ITEM(data, static_cast<Py_ssize_t>(i), Py_NewRef((*j->accesses)[i].cell->data));
  PyObject* const checked = PyObject_CallFunctionObjArgs(names::get().check_result, result, data, nullptr);
  Py_DECREF(data);
  Py_DECREF(result);
  return checked;
}

bool claim(job* j) {
  names& n = names::get();
  if (j->state == job::is::pending && j->of->cancels()) {
    PyObject* const r = PyObject_CallMethod(j->future, "cancel", nullptr);
    if (r == nullptr) PyErr_WriteUnraisable(j->future);
    Py_XDECREF(r);
  }
  if (j->state == job::is::pending) {
    j->state = job::is::running;
    j->of->one_begun();
    set(j->future, n.state, n.running);
    return true;
  }
  if (j->state == job::is::cancelled) {
    set(j->future, n.state, n.notified);
    settle(j);
  }
  return false;
}

// Something that it names was left unwritten by a task that failed: it fails with that.
[[nodiscard]] PyObject* skipped(const job* j) {
  if (j->accesses == nullptr) return nullptr;
  for (const access& a : *j->accesses) {
    if (a.cell->cause == nullptr) continue;
    const char* const which = a.cell->text.empty() ? "a handle" : a.cell->text.c_str();
    PyObject* const e = PyObject_CallFunction(names::get().skipped, "ssO", j->name, which, a.cell->cause);
    return e != nullptr ? e : raised();
  }
  return nullptr;
}

}  // namespace

void poison(const job* j, PyObject* exception) {
  if (j->accesses == nullptr) return;
  for (const access& a : *j->accesses)
    if (a.how != way::read && a.cell->cause == nullptr) {
      a.cell->cause = Py_NewRef(exception);
      j->of->unwritten.push_back(Py_NewRef(a.of));
    }
}

PyObject* call_body(job* j, PyObject*& failure) {
  failure = skipped(j);
  if (failure != nullptr) return nullptr;
  carrier* const here = carrier::here();
  void* const outer = std::exchange(here->job, j);
  PyObject* const result = j->accesses == nullptr ? PyObject_Call(j->f, j->args, j->kwargs) : call_with_data(j);
  here->job = outer;
  delete std::exchange(j->children, nullptr);
  if (result != nullptr) return result;
  failure = raised();
  note_task(failure, j);
  return nullptr;
}

void run_job(job* j) {
  if (j->node_of != nullptr) return j->node_of->call(j);
  if (!claim(j)) return;
  PyObject* failure = nullptr;
  PyObject* const result = call_body(j, failure);
  result != nullptr ? finish_with(j, result) : fail_with(j, failure);
}

void skip_job(job* j) {
  if (!claim(j)) return;
  clear_accesses(j);
  PyErr_SetString(PyExc_RuntimeError, "weftrt: the runtime ended before this task could run");
  fail_with(j, raised());
}

names& names::get() {
  static names all = [] {
    names n{};
    const auto text = [](const char* s) { return PyUnicode_InternFromString(s); };
    n.state = text("_state"), n.result = text("_result"), n.exception = text("_exception"), n.job = text("_job"),
    n.order = text("_order");
    n.announce = text("_announce"), n.add_note = text("add_note");
    n.pending = text("PENDING"), n.running = text("RUNNING"), n.cancelled = text("CANCELLED");
    n.notified = text("CANCELLED_AND_NOTIFIED"), n.finished = text("FINISHED");
    return n;
  }();
  return all;
}

// ---- handles and scopes

handle::handle(PyObject* data) : cell(new handle_cell(Py_NewRef(data))) {
  Py_buffer view;
  if (PyObject_CheckBuffer(data) && PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) == 0) {
    cell->bytes(static_cast<std::uint64_t>(view.len));
    PyBuffer_Release(&view);
  }
  PyErr_Clear();
}

handle::~handle() {
  Py_CLEAR(cell->data);
  Py_CLEAR(cell->parts);
  Py_CLEAR(cell->cause);
  auto& dead = graveyard();
  dead.push_back(cell);
  for (int looks = 0; looks < 4 && !dead.empty(); ++looks) {
    handle_cell* const oldest = dead.front();
    dead.pop_front();
    if (oldest->idle())
      delete oldest;
    else
      dead.push_back(oldest);
  }
}

void scope::less() {
  for (scope* s = this; s != nullptr; s = s->outer.get()) {
    if (--s->live != 0 || s->waiting.empty()) continue;
    for (PyObject* lock : std::exchange(s->waiting, {})) {
      PyObject* const r = PyObject_CallMethod(lock, "release", nullptr);
      if (r == nullptr) PyErr_WriteUnraisable(lock);
      Py_XDECREF(r);
      Py_DECREF(lock);
    }
  }
}

job* running_job() noexcept {
  carrier* const here = carrier::here();
  return here == nullptr ? nullptr : static_cast<job*>(here->job);
}

bool call_here(job* j) {
  carrier* const here = carrier::here();
  if (here == nullptr || !j->simple || j->state != job::is::pending || here->nested >= nested_most) return false;
  ++here->nested;
  Py_INCREF(j);
  run_job(j);
  Py_DECREF(j);
  --here->nested;
  return true;
}

bool cancel(job* j) {
  if (j->state != job::is::pending) return j->state == job::is::cancelled;
  j->state = job::is::cancelled;
  set(j->future, names::get().state, names::get().cancelled);
  return true;
}

}  // namespace weftrt
