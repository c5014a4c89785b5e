#include "graph.hpp"

#include "without_gil.hpp"

namespace nb = nanobind;

namespace weftrt {

graph::graph(core& of, nb::list nodes, nb::object token)
    : of_(of), token_(std::move(token)), inside_(std::make_shared<weftrt::scope>(of.all())) {
  if (of_.gone()) throw std::runtime_error(of_.why_gone());
  std::vector<task_clauses> said(nodes.size());
  try {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const nb::tuple what = nb::cast<nb::tuple>(nodes[i]);
      job* const j =
          of_.record(nb::object(what[0]).ptr(), nb::object(what[1]).ptr(), nb::object(what[2]).ptr(), said[i]);
      if (j == nullptr) throw nb::python_error();
      jobs_.push_back(j);
      j->node_of = this;
      j->order = i;
      j->in = new std::shared_ptr(inside_);
    }
    const auto make = [&] {
      is_ = std::make_unique<weft::graph>(of_.runtime(), [&](weft::recorder& r) {
        r.submit(weft::write(*cell_of(token_.ptr())), weft::named("run begins"), [] {});
        for (std::size_t i = 0; i < jobs_.size(); ++i) record(r, jobs_[i], said[i]);
      });
    };
    const without_gil away;
    of_.is_modelled() ? of_.on_maker(make) : make();
  } catch (...) {
    for (job* j : jobs_) Py_DECREF(j);
    throw;
  }
  of_.graphs.insert(this);
}

graph::~graph() {
  of_.graphs.erase(this);
  begin();
  Py_CLEAR(failure_.second);
  if (is_ != nullptr && running_job() != nullptr) {
    of_.ended_graphs.push_back(std::move(is_));
  } else if (is_ != nullptr) {
    const without_gil away;
    of_.is_modelled() ? of_.on_maker([this] { is_.reset(); }) : is_.reset();
  }
  for (job* j : jobs_) Py_DECREF(j);
}

void graph::record(weft::recorder& r, job* j, const task_clauses& said) {
  std::vector<weft::handle<void>*> reads, writes, adds;
  for (const access& a : j->accesses != nullptr ? *j->accesses : std::vector<access>{})
    (a.how == way::read ? reads : a.how == way::write ? writes : adds).push_back(a.cell);
  core* const of = &of_;
  const auto with = [&](auto body, auto... more) {
    r.submit(weft::read(reads), weft::write(writes), weft::add(adds), weft::named(j->name), weft::cost(said.cost_ns),
             weft::priority(said.urgent ? 1 : 0), more..., body);
  };
  const auto one = [of, j] { of->call_node(j); };
  const auto member = [of, j](weft::team_context& t) { of->call_node(j, t); };
  const bool is_team = said.team > 1 && !of_.is_modelled();
  if (is_team && !said.hints.empty())
    with(member, weft::team(said.team), said.hints.front());
  else if (is_team)
    with(member, weft::team(said.team));
  else if (!said.hints.empty())
    with(one, said.hints.front());
  else
    with(one);
}

weft::graph& graph::living() const {
  if (is_ == nullptr) throw std::runtime_error(of_.why_gone());
  return *is_;
}

std::size_t graph::nodes() const { return living().nodes() - 1; }
std::size_t graph::edges() const { return living().edges(); }
std::uint64_t graph::runs() const { return living().runs(); }

void graph::submit() {
  weft::graph& g = living();
  if (of_.gone()) throw std::runtime_error(of_.why_gone());
  if (of_.is_modelled() && running_job() != nullptr)
    throw std::runtime_error("weftrt: on a modelled machine a body cannot run a graph; run it outside of tasks");
  of_.rest(false);
  const without_gil away;
  of_.is_modelled() ? of_.on_maker([&] { g.submit(); }) : g.submit();
}

// What the run before has left unwritten may be used again.
void graph::begin() {
  is_fresh_ = false;
  for (const auto& [h, cause] : std::exchange(poisoned_, {})) {
    if (cell_of(h)->cause == cause) Py_CLEAR(cell_of(h)->cause);
    Py_DECREF(cause);
    Py_DECREF(h);
  }
}

nb::object graph::take_failure() {
  is_fresh_ = true;
  return failure_.second == nullptr ? nb::none() : nb::steal(std::exchange(failure_.second, nullptr));
}

void graph::call(job* j) {
  if (is_fresh_) begin();
  if (of_.cancels()) return;
  PyObject* failure = nullptr;
  if (PyObject* const result = call_body(j, failure)) return Py_DECREF(result);
  const std::size_t before = of_.unwritten.size();
  poison(j, failure);
  for (std::size_t i = before; i < of_.unwritten.size(); ++i)
    poisoned_.push_back({Py_NewRef(of_.unwritten[i]), Py_NewRef(failure)});
  if (failure_.second == nullptr || j->order < failure_.first) {
    std::swap(failure_.second, failure);
    failure_.first = j->order;
  }
  Py_XDECREF(failure);
}

}  // namespace weftrt
