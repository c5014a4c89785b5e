#include "flow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

namespace weft::apps::flow {

form setting::which() const {
  if (form == "serial") return flow::form::serial;
  if (form == "shm") return flow::form::shm;
  if (form == "dsa") return flow::form::dsa;
  throw error("--form " + form + " is none: serial, shm or dsa");
}

memory_placement setting::placement() const {
  if (layout == "interleaved") return memory_placement::interleaved();
  if (layout == "first-touch") return memory_placement::first_touch();
  if (layout == "blocked") return memory_placement::blocked();
  throw error("--layout " + layout + " is none: interleaved, first-touch or blocked");
}

bool setting::is_sequential() const {
  if (control != "sequential" && control != "parallel" && control != "chained")
    throw error("--control " + control + " is none: sequential, parallel or chained");
  return control == "sequential";
}

bool setting::is_immediate() const {
  if (allocation == "immediate") return true;
  if (allocation == "deferred") return false;
  throw error("--allocation " + allocation + " is none: deferred or immediate");
}

std::vector<option> setting::options(const std::shared_ptr<setting>& s) {
  return {
      {"form", "serial, shm (tasks on shared arrays) or dsa (private buffers through streams)", &s->form},
      {"layout", "how the shared arrays lie on memory nodes: interleaved, first-touch or blocked", &s->layout},
      {"control",
       "who submits the tasks: sequential, the main thread; parallel, tasks; or, of stencils with streams, chained: "
       "each the next one of its block",
       &s->control},
      {"allocation", "of memory for streams: deferred, by who writes it; or immediate, on submission", &s->allocation},
      {"creators", "tasks that submit the items of a stage in parallel; 0: one for each worker", &s->creators, 0,
       100'000},
      {"cycles", "of computing for one element on modelled machines; 0: as measured", &s->cycles, 0, 1'000'000},
      pages_option(&s->pages),
      migrate_option(&s->migrate),
      {"model-only", "bodies cost cycles and bytes and do nothing: for sizes that this computer lacks",
       &s->model_only}};
}

option pages_option(std::size_t* kib) {
  return {"pages", "of shared arrays on modelled machines, in KiB: each is whole on a memory node; 0: no pages", kib, 0,
          1u << 20};
}

option migrate_option(bool* migrate) {
  return {"migrate", "the modelled system moves pages to the nodes that use them", migrate};
}

weft::options with_pages(const weft::options& opt, std::size_t kib, bool migrate) {
  if (kib == 0 && migrate) throw error("--migrate needs the size of a page: --pages KIB");
  if (kib == 0) return opt;
  if (opt.machine != nullptr ? std::strcmp(opt.machine, "host") == 0 : std::getenv("WEFT_MACHINE") == nullptr)
    throw error("--pages needs a modelled machine: --machine NAME");
  static std::set<std::string> changes;  // for the life of the process, as a runtime may ask for it
  const char* before = opt.model.change != nullptr ? opt.model.change : std::getenv("WEFT_CHANGE");
  const std::string mine =
      "memory.pages.size.KiB = " + std::to_string(kib) + "; memory.pages.migrate = " + (migrate ? "true" : "false");
  weft::options all = opt;
  all.model.change = changes.insert(before == nullptr ? mine : before + ("; " + mine)).first->c_str();
  return all;
}

void setting::describe(result& r) const {
  r.add("form", form);
  r.add("layout", layout);
  r.add("control", control);
  r.add("allocation", allocation);
  r.add("buffers_peak_bytes", std::uint64_t{node_memory().peak});
  r.add("pages_kib", std::uint64_t{pages});
  r.add("migrate", migrate);
  r.add("model_only", model_only);
}

addresses::addresses(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  begin_ = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin_ == MAP_FAILED)
    throw error("no " + std::to_string(bytes) + " bytes of addresses for a modelled array: " + std::strerror(errno));
}

addresses::~addresses() {
  if (bytes_ == 0) return;
  place_memory(begin_, bytes_, memory_placement::first_touch());
  static_cast<void>(::munmap(begin_, bytes_));
}

namespace {

// How long a cycle of worker 0 is: what a body of two million takes longer than one of a million.
double measure_cycle(runtime& rt) {
  constexpr double million = 1e6;
  double began[3] = {};
  handle<void> order;
  for (int i = 0; i < 3; ++i)
    rt.submit(named("clock"), pin(0), cycles((i + 1) * million), write(order),
              [&rt, &began, i] { began[i] = rt.now_ns(); });
  rt.wait();
  return (began[2] - 2 * began[1] + began[0]) / million;
}

void do_all(runtime& rt, program& p) {
  for (std::size_t stage = 0; stage < p.stages(); ++stage)
    for (std::size_t i = 0; i < p.items(stage); ++i) p.go(rt, stage, i);
}

// Tasks that submit, before all others: those of a stage together, and stage after stage. Of two tokens one is for
// those of a stage to wait for and the other to be waited for by those of the next.
void submit_by_tasks(runtime& rt, const setting& s, program& p, progress& bar) {
  handle<void> tokens[2];
  const std::size_t most = s.creators != 0 ? s.creators : rt.workers();
  for (std::size_t stage = 0; stage < p.stages(); ++stage) {
    const std::size_t n = p.items(stage), parts = std::min(most, n);
    for (std::size_t part = 0; part < parts; ++part)
      rt.submit(named("control"), priority(1), read(tokens[stage % 2]), concurrent(tokens[(stage + 1) % 2]),
                [&rt, &p, stage, from = n * part / parts, to = n * (part + 1) / parts] {
                  for (std::size_t i = from; i < to; ++i) p.go(rt, stage, i);
                });
    bar.report(0.5 * static_cast<double>(stage) / static_cast<double>(p.stages()));
  }
  rt.wait();
}

}  // namespace

double drive(runtime& rt, const setting& s, program& p, progress& bar) {
  if (s.is_chained() && !p.is_chained()) throw error("--control chained is for stencils with --form dsa");
  const bool is_modelled = std::strcmp(rt.machine(), "host") != 0, is_sequential = s.is_sequential();
  if (p.is_model_only && !is_modelled) throw error("--model-only needs a modelled machine: --machine NAME");
  if (is_modelled) p.ns_per_cycle = measure_cycle(rt);
  const double start = rt.now_ns();
  if (p.made == form::serial) {
    rt.submit(named("serial"), [&rt, &p] { do_all(rt, p); });
    rt.wait();
  } else if (is_sequential) {
    do_all(rt, p);
    rt.wait();
  } else {
    submit_by_tasks(rt, s, p, bar);
  }
  bar.report(1);
  return (rt.now_ns() - start) * 1e-9;
}

std::size_t program::ran() const {
  std::size_t all = 0;
  for (const std::uint32_t n : ran_) all += n;
  return all;
}

check all_ran(const program& p) {
  return {"each_body_once", p.ran() == p.bodies(),
          std::to_string(p.ran()) + " bodies of " + std::to_string(p.bodies())};
}

}  // namespace weft::apps::flow
