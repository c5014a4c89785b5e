// Reductions of Python: tasks that reduce run together, each with a part of its own to add to. The first task that
// names the handle otherwise comes after one that puts the parts together (weftrt/_reduce.py); so does a wait for all.
// Invariant: a handle with parts is in `reducing_`, and no task has named it otherwise since.
#include <nanobind/nanobind.h>

#include "core.hpp"

namespace nb = nanobind;

namespace weftrt {

void clear(access& a) {
  Py_CLEAR(a.of);
  Py_CLEAR(a.parts);
  Py_CLEAR(a.part);
}

// `a` is about to be submitted. Its `parts`, borrowed, is the operation; after this it has a reference to the parts.
// False: an error is set.
bool core::meet_reduction(access& a) {
  handle_cell& c = *a.cell;
  if (a.how == way::reduce) {
    nb::object open = nb::steal(std::exchange(c.parts, nullptr));
    PyObject* const parts = PyObject_CallFunctionObjArgs(names::get().open_reduction, nb::find(*this).ptr(), a.of,
                                                         open.is_valid() ? open.ptr() : Py_None, a.parts, nullptr);
    a.parts = parts;
    if (parts == nullptr) return false;
    c.parts = Py_NewRef(parts);
    if (reducing_.insert(a.of).second) Py_INCREF(a.of);
    return true;
  }
  if (c.parts == nullptr) return true;
  const nb::object open = nb::steal(std::exchange(c.parts, nullptr));
  if (reducing_.erase(a.of) != 0) Py_DECREF(a.of);  // the access names it as well
  PyObject* const done =
      PyObject_CallFunctionObjArgs(names::get().close_reduction, nb::find(*this).ptr(), a.of, open.ptr(), nullptr);
  Py_XDECREF(done);
  return done != nullptr;
}

bool core::close_reductions() {
  while (!reducing_.empty()) {
    PyObject* const h = *reducing_.begin();
    access any{h, cell_of(h), way::read};
    const nb::object until_closed = nb::borrow(h);
    if (!meet_reduction(any)) return false;
    if (reducing_.erase(h) != 0) Py_DECREF(h);
  }
  return true;
}

PyObject* part_of(access& a) {
  a.part = PyObject_CallMethod(a.parts, "take", "O", a.cell->data);
  return a.part;
}

bool give_back_parts(job& j) {
  for (access& a : *j.accesses) {
    if (a.part == nullptr) continue;
    PyObject* const done = PyObject_CallMethod(a.parts, "give_back", "O", a.part);
    Py_CLEAR(a.part);
    if (done == nullptr) return false;
    Py_DECREF(done);
  }
  return true;
}

}  // namespace weftrt
