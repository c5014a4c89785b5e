// The module weftrt._core: what the Python files of the package are made of.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "core.hpp"
#include "graph.hpp"

namespace nb = nanobind;

namespace weftrt {

PyTypeObject* job::type = nullptr;

namespace {

unsigned workers_most = 0;  // of runtimes that are not told how many; 0: no limit. Guarded by the GIL.

}  // namespace

// By this name threadpoolctl knows the module among loaded libraries. What a runtime has that is not told.
extern "C" [[gnu::visibility("default")]] unsigned weftrt_get_workers() {
  return workers_most != 0 ? std::min(workers_most, weft::usable_cpus()) : weft::usable_cpus();
}

namespace {

void job_dealloc(PyObject* self) {
  auto* const j = reinterpret_cast<job*>(self);
  Py_XDECREF(j->f);
  Py_XDECREF(j->args);
  Py_XDECREF(j->kwargs);
  Py_XDECREF(j->future);
  if (j->accesses != nullptr)
    for (access& a : *j->accesses) clear(a);
  delete j->accesses;
  delete j->in;
  delete j->children;
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Somebody waits for the future, or has a callback.
PyObject* job_watch(PyObject* self, PyObject*) {
  reinterpret_cast<job*>(self)->watched = true;
  Py_RETURN_NONE;
}
PyObject* job_cancel(PyObject* self, PyObject*) { return PyBool_FromLong(cancel(reinterpret_cast<job*>(self))); }
PyObject* job_call_here(PyObject* self, PyObject*) { return PyBool_FromLong(call_here(reinterpret_cast<job*>(self))); }
PyObject* job_core_gone(PyObject* self, PyObject*) {
  const core& c = *reinterpret_cast<job*>(self)->of;
  if (c.gone() && c.forked()) return PyUnicode_FromString(c.why_gone());
  Py_RETURN_NONE;
}
PyObject* job_order(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<job*>(self)->order);
}
// On a modelled machine tasks run while somebody waits.
PyObject* job_run_modelled(PyObject* self, PyObject*) {
  core& c = *reinterpret_cast<job*>(self)->of;
  if (!c.is_modelled()) Py_RETURN_FALSE;
  if (running_job() != nullptr) {
    PyErr_SetString(PyExc_RuntimeError,
                    "weftrt: on a modelled machine a body cannot wait for a task that has begun or names data; let the "
                    "task that needs the result name it by after()");
    return nullptr;
  }
  try {
    if (!c.run_modelled()) return nullptr;
  } catch (const std::exception& e) {
    return PyErr_SetString(PyExc_RuntimeError, e.what()), nullptr;
  }
  Py_RETURN_TRUE;
}

PyMethodDef job_methods[] = {{"watch", job_watch, METH_NOARGS, nullptr},
                             {"cancel", job_cancel, METH_NOARGS, nullptr},
                             {"call_here", job_call_here, METH_NOARGS, nullptr},
                             {"gone", job_core_gone, METH_NOARGS, nullptr},
                             {"order", job_order, METH_NOARGS, nullptr},
                             {"run_modelled", job_run_modelled, METH_NOARGS, nullptr},
                             {nullptr, nullptr, 0, nullptr}};
PyType_Slot job_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(&job_dealloc)}, {Py_tp_methods, job_methods}, {0, nullptr}};
PyType_Spec job_spec{"weftrt._core.Job", sizeof(job), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                     job_slots};

struct python_access {
  nb::object of;
  way how;
  nb::object operation;  // of a reduce
};
struct python_clause {
  clause::what kind;
  nb::object value;
};

// A body that blocks in something else gives its worker away meanwhile. Who: any thread; outside of bodies it does
// nothing.
bool give_away() {
  carrier* const here = carrier::here();
  if (here == nullptr || !here->has_body()) return false;
  if (running_job() != nullptr && running_job()->of->is_modelled()) return false;
  here->give_away();
  if (here->drains != nullptr && here->sections() == 1) here->drains->drain_waits(true);
  return true;
}
void get_back() {
  carrier* const here = carrier::here();
  if (here->drains != nullptr && here->sections() == 1) here->drains->drain_waits(false);
  const nb::gil_scoped_release away;
  here->get_back();
}

class python_finish {
 public:
  explicit python_finish(core& c) : of_(c) {}
  void enter() {
    if (job* const j = running_job(); j != nullptr && j->of == &of_) {
      static_cast<void>(of_.scope_of(j));
      before_ = *j->children;
      all_ = std::make_shared<scope>(before_);
      *j->children = all_;
      in_ = j;
    } else {
      all_ = std::make_shared<scope>(of_.all());
      here_ = {&of_, all_, finish_of_thread};
      finish_of_thread = &here_;
    }
  }
  // What was submitted since; to be waited for.
  void leave() {
    if (in_ != nullptr)
      *in_->children = before_;
    else
      finish_of_thread = here_.outer;
  }
  std::shared_ptr<scope> all_;

 private:
  core& of_;
  job* in_ = nullptr;
  std::shared_ptr<scope> before_;
  thread_finish here_{};
};

// The lock is released when nothing is left; False if that is so already.
bool await_scope(scope& s, nb::object lock) {
  if (s.live == 0) return false;
  s.waiting.push_back(lock.release().ptr());
  return true;
}

// What tasks name, and say.
void define_data(nb::module_& m) {
  auto handles =
      nb::class_<handle>(m, "Handle")
          .def(
              "__init__", [](handle* self, nb::object data) { new (self) handle(data.ptr()); }, nb::arg("data").none())
          .def_prop_ro("unguarded", [](const handle& h) { return nb::borrow(h.cell->data); })
          .def_prop_rw(
              "name", [](const handle& h) { return h.cell->text; },
              [](handle& h, const std::string& text) {
                h.cell->text = text;
                h.cell->name(h.cell->text.c_str());
              });
  auto accesses =
      nb::class_<python_access>(m, "Access").def_prop_ro("handle", [](const python_access& a) { return a.of; });
  auto clauses = nb::class_<python_clause>(m, "Clause");
  nb::class_<gate>(m, "Gate")
      .def("__init__", [](gate* g, nb::object h) { new (g) gate(h.ptr(), nb::inst_ptr<handle>(h)->cell); })
      .def("open", [](gate& g, nb::args) {
        const nb::gil_scoped_release away;
        g.over.fulfil();
      });
  names& n = names::get();
  n.handle_type = handles.inc_ref().ptr();
  n.access_type = accesses.inc_ref().ptr();
  n.clause_type = clauses.inc_ref().ptr();
  const auto make_access = [](way how) {
    return [how](nb::typed<nb::object, handle> h) { return python_access{h, how, {}}; };
  };
  m.def("read", make_access(way::read));
  m.def("write", make_access(way::write));
  m.def("add", make_access(way::add));
  m.def("reduce", [](nb::typed<nb::object, handle> h, nb::object operation) {
    return python_access{h, way::reduce, operation};
  });
  m.def("clause", [](int kind, nb::object value) { return python_clause{static_cast<clause::what>(kind), value}; });
}

void define_runtime(nb::module_& m) {
  nb::class_<core>(m, "Core")
      .def("__init__",
           [](core* c, unsigned workers, const std::string& machine, const std::string& trace,
              const std::string& policy, std::uint64_t seed) {
             new (c) core({workers, machine, trace, policy, seed});
           })
      .def(
          "submit",
          [](core& c, nb::handle f, nb::tuple args, nb::object kwargs) {
            PyObject* const future = c.submit(f.ptr(), args.ptr(), kwargs.ptr());
            if (future == nullptr) throw nb::python_error();
            return nb::steal(future);
          },
          nb::arg(), nb::arg(), nb::arg().none())
      .def("end", &core::end)
      .def("abandon", &core::abandon)
      .def("cancel_all", &core::cancel_all)
      .def("heal", &core::heal)
      .def("close_reductions",
           [](core& c) {
             if (!c.close_reductions()) throw nb::python_error();
           })
      .def("run_modelled",
           [](core& c) {
             if (!c.run_modelled()) throw nb::python_error();
           })
      .def("now_ns", &core::now_ns)
      .def("in_body", [](core& c) { return running_job() != nullptr && running_job()->of == &c; })
      .def("await_all", [](core& c, nb::object lock) { return await_scope(*c.scope_of(running_job()), lock); })
      .def("take_failed",
           [](core& c) {
             nb::list all;
             for (PyObject* f : std::exchange(c.failed, {})) all.append(nb::steal(f));
             return all;
           })
      .def_prop_ro("gone", &core::gone)
      .def_prop_ro("begun", &core::begun)
      .def_prop_ro("counts", [](const core& c) { return nb::make_tuple(c.submitted(), c.done()); })
      .def_prop_ro("modelled", &core::is_modelled)
      .def_prop_ro("workers", &core::workers)
      .def_prop_ro("machine", &core::machine)
      .def_prop_ro("threads", &core::threads)
      .def_prop_ro("trace", &core::trace_path);
  nb::class_<graph>(m, "Graph")
      .def(nb::init<core&, nb::list, nb::object>(), nb::keep_alive<1, 2>())
      .def("submit", &graph::submit)
      .def("await_children", [](graph& g, nb::object lock) { return await_scope(*g.scope(), lock); })
      .def("take_failure", &graph::take_failure)
      .def_prop_ro("nodes", &graph::nodes)
      .def_prop_ro("edges", &graph::edges)
      .def_prop_ro("runs", &graph::runs);
  nb::class_<python_finish>(m, "Finish")
      .def(nb::init<core&>(), nb::keep_alive<1, 2>())
      .def("enter", &python_finish::enter)
      .def("leave", [](python_finish& f, nb::object lock) { return f.leave(), await_scope(*f.all_, lock); });
}

}  // namespace

handle_cell* cell_of(PyObject* x) { return nb::inst_ptr<handle>(nb::handle(x))->cell; }
access access_of(PyObject* x) {
  const python_access& a = *nb::inst_ptr<python_access>(nb::handle(x));
  return {a.of.ptr(), cell_of(a.of.ptr()), a.how, a.operation.ptr()};
}
clause clause_of(PyObject* x) {
  const python_clause& c = *nb::inst_ptr<python_clause>(nb::handle(x));
  return {c.kind, c.value.ptr()};
}
gate& gate_of(PyObject* x) { return *nb::inst_ptr<gate>(nb::handle(x)); }

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // a daemon thread may hold a future when the program ends
  job::type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&job_spec));
  m.attr("Job") = nb::borrow(reinterpret_cast<PyObject*>(job::type));
  define_data(m);
  define_runtime(m);
  m.def("give_away", &give_away);
  m.def("get_back", &get_back);
  m.def("task_name", []() -> nb::object {
    job* const j = running_job();
    return j == nullptr || j->name == nullptr ? nb::none() : nb::object(nb::str(j->name));
  });
  m.def("in_task", [] { return running_job() != nullptr; });
  m.def("workers_by_default", [] { return weftrt_get_workers(); });
  m.def("limit_workers", [](unsigned n) { workers_most = n; });
  m.def("usable_cpus", [] { return weft::usable_cpus(); });
  m.def("usable_cpus_reason", [] { return std::string(weft::usable_cpus_reason()); });
  m.def("version", [] { return std::string(weft::version()); });
  m.def("choices", [](bool machines) {
    nb::list all;
    for (const weft::choice& c : machines ? weft::machines() : weft::policies())
      all.append(nb::make_tuple(c.name, c.what));
    return all;
  });
  m.def("running_core", []() -> nb::object {
    job* const j = running_job();
    return j == nullptr ? nb::none() : nb::object(nb::find(*j->of));
  });
  m.def("set_up_reductions", [](nb::object opened, nb::object closed) {
    names::get().open_reduction = opened.release().ptr();
    names::get().close_reduction = closed.release().ptr();
  });
  m.def("set_up", [](nb::object future, nb::object skipped, nb::object read_view, nb::object check_result) {
    names& of = names::get();
    of.future_type = future.release().ptr();
    of.skipped = skipped.release().ptr();
    of.read_view = read_view.release().ptr();
    of.check_result = check_result.release().ptr();
  });
}

}  // namespace weftrt
