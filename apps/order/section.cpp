#include "section.hpp"

#include "weft/oracle.hpp"

namespace weft::apps::order {

namespace {

void add_spread(result& r, const std::string& what, const oracle_spread& s) {
  r.add(what + "_mean", s.mean);
  r.add(what + "_90th", s.percentile_90);
}

void add_oracle(result& r, const oracle_statistics& o) {
  r.add("instructions", o.instructions);
  r.add("critical_path", o.critical_path, "instructions");
  add_spread(r, "size", o.size);
  add_spread(r, "reads", o.reads);
  add_spread(r, "writes", o.writes);
  r.add("parallelism", o.parallelism.unlimited);
  r.add("parallelism_window_1024", o.parallelism.window_1024);
  r.add("parallelism_window_64", o.parallelism.window_64);
  r.add("parallelism_in_flight_1024", o.parallelism.in_flight_1024);
  r.add("parallelism_in_flight_64", o.parallelism.in_flight_64);
  r.add("parallelism_sequential", o.parallelism.sequential);
  r.add("is_loop", o.is_loop);
}

}  // namespace

void run_section(result& r, runtime& rt, ordered& q, const section_setting& s) {
  q.run();
  describe_section(r, rt, q, s);
}

void describe_section(result& r, runtime& rt, ordered& q, const section_setting& s) {
  r.describe(rt);
  const ordered_counts c = q.counts();
  r.seconds = c.seconds;
  r.add("executor", s.executor.empty() ? std::string("default") : s.executor);
  r.add("calls_committed", c.committed);
  r.add("calls_started", c.started);
  if (s.executor == "oracle") add_oracle(r, oracle_of(q));
}

check each_call_once(ordered& q, std::uint64_t expected) {
  const std::uint64_t is = q.counts().committed;
  return {"each_call_once", is == expected,
          std::to_string(is) + " calls committed, " + std::to_string(expected) + " expected"};
}

}  // namespace weft::apps::order
