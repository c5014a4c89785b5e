// See assemble.hpp.
#include "assemble.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../output.hpp"

namespace weft::tool::calibrate {

namespace {

std::uint64_t ps(double ns) { return static_cast<std::uint64_t>(std::llround(std::max(0.0, ns) * 1000)); }

std::string how(const figure& f) {
  if (f.assumed()) return f.source;
  char text[128];
  std::snprintf(text, sizeof text, "measured: median of %zu, quartiles %.4g to %.4g %s%s", f.value.count, f.value.q1,
                f.value.q3, f.unit.c_str(), f.steady() ? "" : ", noisy");
  return text;
}

class assembler {
 public:
  assembler(const host_description& host, figures& found) : host_(host), found_(found) {}

  assembled build(const std::string& processor) {
    model::machine& m = out_.machine;
    m.name = "this-host";
    m.summary = processor + ", " + std::to_string(host_.cores.size()) +
                (host_.cores.size() == 1 ? " usable core" : " usable cores");
    m.topology = host_.topology;
    out_.xml = host_.xml;
    m.ghz = take("clock", "clock_speed", 1, "GHz");
    m.types = {{.name = "core", .speed = 1, .runtime_speed = 1, .speed_of = {}}};
    m.cores = host_.cores;
    m.apart = host_.apart;
    m.classes = host_.classes;
    lines(m.lines);
    runtime(m.runtime);
    memory(m.memory);
    if (found_.find("speed_when_shared") != nullptr)
      m.speed_when_shared = take("speed_when_shared", "speed_when_shared", 1, "x");
    m.speed_when_busy = busy_speed();
    return std::move(out_);
  }

 private:
  // The figure's median; if there is none it is assumed.
  double take(const std::string& number, const std::string& key, double otherwise, const char* unit = "ns") {
    if (found_.find(key) == nullptr) {
      summary value;
      value.median = value.min = value.q1 = value.q3 = otherwise;
      const std::string why =
          host_.cores.size() == 1 ? "assumed: one usable core" : "assumed: no such pair of cores here";
      found_.add({key, number, unit, value, 0, 0, why});
    }
    const figure& f = *found_.find(key);
    out_.source[number] = how(f);
    return f.value.median;
  }

  // The file cannot say of a body whether it computes with vectors, so it gets the mean of both loops. A figure next to
  // 1 is noise, and would have every body of the model ask what others do.
  double busy_speed() {
    const figure* const compute = found_.find("busy_compute");
    const figure* const vectors = found_.find("busy_vectors");
    if (compute == nullptr || vectors == nullptr) return 1;
    constexpr double nothing = 0.98;
    const double mean = (compute->value.median + vectors->value.median) / 2;
    out_.source["speed_when_busy"] = "measured: mean of " + short_number(compute->value.median) +
                                     " in loops of integers and " + short_number(vectors->value.median) +
                                     " in loops of vectors" + (compute->steady() && vectors->steady() ? "" : ", noisy");
    const double least = 1.0 / static_cast<double>(host_.cores.size());
    return mean < nothing ? std::max(mean, least) : 1;
  }

  void lines(model::line_costs& l) {
    l.load_ps = ps(take("lines.load_ps", "load_hit", 0.28));
    l.store_ps = ps(take("lines.store_ps", "store_hit", 0.28));
    l.modify_ps = ps(take("lines.modify_ps", "modify_hit", 2.06));
    transfers(l);
    for (unsigned c = 0; c < host_.classes; ++c)
      l.memory_ps.push_back(ps(take("lines.memory_ps", "latency_read_" + std::to_string(c), 100.0 * (c + 1))));
    if (host_.caches.size() < 2) return;
    l.kept = static_cast<unsigned>(std::max<std::size_t>(host_.caches[1].bytes / 64 / 2, 64));
    out_.source["lines.kept"] = "assumed: half of the second-level cache";
  }

  // A distance that no pair of cores has costs what the next nearer one does, or the nearest there is.
  void transfers(model::line_costs& l) {
    constexpr double otherwise = 100;  // ns; where there is no second core
    const unsigned distances = 3 + host_.classes;
    const auto key = [](unsigned d) { return "transfer_" + std::to_string(d); };
    unsigned nearest = 1;
    while (nearest < distances && found_.find(key(nearest)) == nullptr) ++nearest;
    double ns =
        nearest < distances ? found_.find(key(nearest))->value.median : take("lines.transfer.2", key(2), otherwise);
    l.transfer_ps.push_back(0);
    for (unsigned d = 1; d < distances; ++d) {
      const figure* const f = found_.find(key(d));
      if (f != nullptr) ns = f->value.median;
      l.transfer_ps.push_back(ps(ns));
      out_.source["lines.transfer." + std::to_string(d)] =
          f != nullptr ? how(*f) : "assumed: no such pair of cores here, so as the nearest distance there is";
    }
  }

  void runtime(model::runtime_costs& r) {
    r.relax_ps = ps(take("runtime.relax_ps", "pause", 10));
    r.sleep_ps = ps(take("runtime.sleep_ps", "sleep", 1000));
    r.waker_ps = ps(take("runtime.waker_ps", "waker", static_cast<double>(r.waker_ps) / 1000));
    r.wake_ps = ps(take("runtime.wake_ps", "wake", static_cast<double>(r.wake_ps) / 1000));
    out_.source["runtime.body_ps"] = "chosen: a body that says nothing about itself takes 1 us";
  }

  void memory(model::memory_costs& m) {
    out_.source["memory.sizes"] = "measured: by hwloc";
    for (const cache_level& c : host_.caches) {
      m.caches.push_back({c.who, c.bytes, found_.median("bandwidth_" + c.name, 0)});
      if (const figure* const f = found_.find("bandwidth_" + c.name))
        out_.source["memory.rate." + std::to_string(c.bytes)] = how(*f);
    }
    if (const figure* const f = found_.find("busy_stream");
        f != nullptr && !m.caches.empty() && found_.find("bandwidth_" + host_.caches.back().name) != nullptr)
      out_.source["memory.rate." + std::to_string(m.caches.back().bytes)] +=
          "; of one core: while all cores do the same each has " + short_number(f->value.median) + " of it";
    const double one = take("memory.one_core", "bandwidth_memory_0", 10, "GB/s");
    m.controller_bytes_per_ns = std::max(one, found_.median("bandwidth_memory_all_0", one));
    out_.source["memory.controller_bytes_per_ns"] = found_.find("bandwidth_memory_all_0") != nullptr
                                                        ? how(*found_.find("bandwidth_memory_all_0")) + ", all cores"
                                                        : "measured with one core, all there is";
    for (unsigned c = 0; c < host_.classes; ++c) {
      const std::string at = "_" + std::to_string(c);
      const double link = found_.median("bandwidth_memory_all" + at, found_.median("bandwidth_memory" + at, 0));
      m.link_bytes_per_ns.push_back(c > 0 ? link : 0);
      if (const figure* const f = found_.find("bandwidth_memory_all" + at); f != nullptr && c > 0)
        out_.source["memory.link_bytes_per_ns"] = how(*f);
      m.read_line_ps.push_back(ps(take("memory.read_line_ps", "latency_read" + at, 100.0 * (c + 1))));
      m.write_line_ps.push_back(ps(take("memory.write_line_ps", "latency_write" + at, 100.0 * (c + 1))));
    }
    // What makes latency and the bandwidth of one core agree.
    m.lines_in_flight = std::max(1.0, one * found_.median("latency_read_0", 100) / 64);
    out_.source["memory.lines_in_flight"] = "derived: bandwidth of one core times latency, in lines of 64 bytes";
  }

  const host_description& host_;
  figures& found_;
  assembled out_;
};

}  // namespace

assembled assemble(const host_description& host, figures& found, const std::string& processor) {
  return assembler(host, found).build(processor);
}

void add_steps(assembled& a, const std::vector<measured_part>& measured, const figures& found, const run_model& run) {
  const step_costs solved = solve_steps(measured, a.machine, run);
  const std::vector<std::uint64_t> latency = a.machine.lines.memory_ps;
  a.machine = solved.machine;
  const std::string how = "measured: programs of one worker, less what the model charges for their shared words";
  const auto tell = [&](const std::string& number, std::size_t u) {
    if (solved.determined[u])
      a.source[number] = how;
    else if (u < model::steps)
      a.source[number] = "assumed: not told by any program here";
  };
  for (std::size_t i = 0; i < model::steps; ++i) tell(std::string("runtime.steps.") + step_names[i], i);
  tell("runtime.switch_ps", unknown_switch);
  tell("lines.memory_ps", unknown_memory);
  // Nodes farther away are so much slower as their latency is.
  for (std::size_t c = 1; c < latency.size(); ++c)
    a.machine.lines.memory_ps[c] = a.machine.lines.memory_ps[0] * latency[c] / std::max<std::uint64_t>(latency[0], 1);
  // One worker steals nothing and requests nothing.
  auto& step = a.machine.runtime.step_ps;
  const auto at = [](model::step s) { return static_cast<std::size_t>(s); };
  step[at(model::step::steal)] = ps(found.median("clock_read", 25));
  a.source["runtime.steps.steal"] = "derived: a round of searching reads the clock";
  step[at(model::step::request)] = step[at(model::step::submit)];
  a.source["runtime.steps.request"] = "assumed: as submit";
}

}  // namespace weft::tool::calibrate
