// See survey.hpp. What "usual" means is taken from published measurements of x86 and ARM servers and desktops since
// about 2010; a figure outside is no error, but somebody should look.
#include "survey.hpp"

#include <algorithm>
#include <new>

#include "busy.hpp"
#include "kernel.hpp"
#include "lines.hpp"
#include "memory.hpp"
#include "weft/error.hpp"

namespace weft::tool::calibrate {

namespace {

struct range {
  double min;
  double max;
};

class surveyor {
 public:
  surveyor(const host_description& host, const survey_setup& setup)
      : host_(host), setup_(setup), cpu_(host.cores[0].at.cpu), pairs_(pairs_by_distance(host, setup.quick ? 1 : 2)),
        effort_(setup.quick ? effort{0.1, 7} : effort{0.8, 15}) {
    if (pairs_.size() > 2)
      for (auto& [distance, pairs] : pairs_) pairs.resize(1);
    total_ = 12.0 + 4.0 * static_cast<double>(pairs_.size()) + 3.0 * static_cast<double>(host.caches.size() + 1) +
             4.0 * host.classes + static_cast<double>(step_programs().size() + check_programs(workers()).size());
  }

  survey run() {
    on_core(cpu_, [this] { one_core(); });
    for (const auto& [distance, pairs] : pairs_) across(distance, pairs);
    sleeping();
    data();
    together();
    const auto each = [this] { tick(); };
    all_.steps = measure(effort_, step_programs(), cpu_, each);
    all_.checks = measure(effort_, check_programs(workers()), cpu_, each);
    return std::move(all_);
  }

 private:
  void tick() { setup_.progress(std::min(1.0, ++done_ / total_)); }
  [[nodiscard]] unsigned workers() const noexcept {
    return static_cast<unsigned>(std::min<std::size_t>(host_.cores.size(), 2));
  }
  void add(std::string key, std::string what, const summary& value, range usual, std::string unit = "ns") {
    all_.found.add({std::move(key), std::move(what), std::move(unit), value, usual.min, usual.max});
    tick();
  }

  void one_core() {
    add("clock_speed", "clock speed", gigahertz(effort_), {0.8, 6.5}, "GHz");
    add("load_hit", "load, line is here", load_hit(effort_), {0.08, 1.5});
    add("store_hit", "store, line is here", store_hit(effort_), {0.08, 1.5});
    add("modify_hit", "atomic read-modify-write, line is here", modify_hit(effort_), {0.8, 20});
    add("pause", "one pause of a waiting loop", one_pause(effort_), {0.2, 80});
    add("clock_read", "reading the clock", clock_read(effort_), {8, 1500});
    add("system_call", "an empty system call", system_call(effort_), {20, 2000});
  }

  // The medians of several pairs: the pair in the middle stands for all of this distance.
  void across(unsigned distance, const std::vector<pair_of_cores>& pairs) {
    const auto middle = [&](auto measure_pair) {
      std::vector<summary> of_pairs;
      for (const pair_of_cores& p : pairs) of_pairs.push_back(measure_pair(effort_, p));
      std::sort(of_pairs.begin(), of_pairs.end(),
                [](const summary& a, const summary& b) { return a.median < b.median; });
      return of_pairs[of_pairs.size() / 2];
    };
    const std::string at = "_" + std::to_string(distance);
    const std::string where = ", " + name_of_distance(distance);
    add("transfer" + at, "a line from its last writer" + where, middle(transfer), {8, 1000});
    add("invalidation" + at, "a read-modify-write of a line both have" + where, middle(invalidation), {8, 1000});
    add("ping_pong" + at, "a word from store to sight, one way" + where, middle(ping_pong), {15, 1500});
    add("lock_hand_off" + at, "a contended lock, per acquisition" + where, middle(lock_hand_off), {5, 2000});
  }

  void sleeping() {
    add("sleep", "going to sleep, of the sleeper", going_to_sleep(effort_, cpu_), {300, 20'000});
    if (pairs_.empty()) return;
    const sleep_figures s = sleep_and_wake(effort_, pairs_.begin()->second.front());
    add("waker", "waking a sleeper, of the waker", s.waker, {300, 50'000});
    add("wake", "from the wake to the sleeper's first instruction", s.wake, {1000, 200'000});
    if (const pair_of_cores p = siblings(host_); p.first != p.second) {
      summary speed;
      // Two together do no less than one alone: what is below is noise.
      speed.median = speed.min = speed.q1 = speed.q3 = std::max(0.5, speed_when_shared(effort_, p));
      speed.count = 1;
      add("speed_when_shared", "speed of a core while its sibling works", speed, {0.3, 1}, "x");
    }
  }

  void data() {
    on_core(cpu_, [this] {
      for (const cache_level& c : host_.caches) {
        const block part(c.bytes / 2);
        add("bandwidth_" + c.name, "triad from " + c.name + ", one core", bandwidth(effort_, part), {4, 2000}, "GB/s");
        add("latency_" + c.name, "a line from " + c.name, line_latency(effort_, part, false), {0.4, 200});
      }
    });
    const std::vector<std::vector<unsigned>> nodes = cores_by_node(host_);
    for (unsigned c = 0; c < host_.classes; ++c) memory_of_class(c, nodes);
  }

  // What physical cores take from each other; what hardware threads of one do is speed_when_shared.
  void together() {
    const std::vector<unsigned> cpus = one_of_each(host_);
    if (cpus.size() < 2) return;
    add("busy_compute", "speed of a core while all compute", speed_while_all(effort_, cpus, compute_loop), {0.4, 1.1},
        "x");
    add("busy_vectors", "speed of a core while all compute with vectors", speed_while_all(effort_, cpus, vector_loop),
        {0.3, 1.1}, "x");
    if (host_.caches.empty()) return;
    const cache_level& outermost = host_.caches.back();
    const std::size_t part = std::max(outermost.bytes / 2 / cpus.size(), std::size_t{16} << 10);
    add("busy_stream", "speed of a triad from " + outermost.name + " while all do one",
        speed_while_all(effort_, cpus, [part] { return stream_loop(part); }), {0.1, 1.1}, "x");
  }

  // Memory of a node whose distance from a core's own node has this class. A node without cores cannot touch its memory
  // first and is left out.
  void memory_of_class(unsigned c, const std::vector<std::vector<unsigned>>& nodes) {
    for (std::size_t from = 0; from < nodes.size(); ++from)
      for (std::size_t to = 0; to < nodes.size(); ++to)
        if (host_.apart[from][to] == c && !nodes[from].empty() && !nodes[to].empty())
          return memory_between(c, nodes[from], nodes[to][0]);
  }

  void memory_between(unsigned c, const std::vector<unsigned>& cpus, unsigned home) {
    const std::size_t outermost = host_.caches.empty() ? std::size_t{8} << 20 : host_.caches.back().bytes;
    const std::size_t bytes = std::max((setup_.quick ? 2 : 4) * outermost, std::size_t{32} << 20);
    std::unique_ptr<block> memory;
    on_core(home, [&] { memory = std::make_unique<block>(bytes); });
    const std::string at = "_" + std::to_string(c);
    const std::string where = c == 0 ? ", same node" : ", node distance " + std::to_string(c);
    on_core(cpus[0], [&] {
      add("bandwidth_memory" + at, "triad from memory, one core" + where, bandwidth(effort_, *memory), {1, 200},
          "GB/s");
      add("latency_read" + at, "a line from memory" + where, line_latency(effort_, *memory, false), {40, 1000});
      add("latency_write" + at, "a line from and to memory" + where, line_latency(effort_, *memory, true), {40, 1500});
    });
    memory.reset();
    if (cpus.size() < 2) return;
    // Not more cores than saturate any controller: their blocks must fit into memory.
    const std::vector<unsigned> some(
        cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(cpus.size(), 16)));
    const std::size_t each = std::max(bytes / some.size(), std::size_t{8} << 20);
    add("bandwidth_memory_all" + at, "triad from memory, " + std::to_string(some.size()) + " cores" + where,
        bandwidth_of_all(effort_, some, each, home), {2, 2000}, "GB/s");
  }

  const host_description& host_;
  const survey_setup& setup_;
  const unsigned cpu_;
  std::map<unsigned, std::vector<pair_of_cores>> pairs_;
  const effort effort_;
  survey all_;
  double done_ = 0;
  double total_ = 1;
};

}  // namespace

std::string name_of_distance(unsigned distance) {
  constexpr const char* near[] = {"same core", "shared second-level cache", "shared outermost cache", "same node"};
  return distance < 4 ? near[distance] : "node distance " + std::to_string(distance - 3);
}

survey measure_host(const host_description& host, const survey_setup& setup) {
  try {
    return surveyor(host, setup).run();
  } catch (const std::bad_alloc&) {
    throw weft::error("calibrate: not enough memory to measure memory with");
  }
}

}  // namespace weft::tool::calibrate
