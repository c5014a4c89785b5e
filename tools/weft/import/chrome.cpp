// Chrome's trace events: complete ones (X), and pairs of a begin and an end (B, E), are spans of a thread. What orders
// them are flow events (s, t, f) of one id: each arrow leads from a span to the next. An arrow to a span that began
// before the first had ended tells who started it, not what it waited for.
#include <algorithm>
#include <map>

#include "formats.hpp"
#include "json_fields.hpp"
#include "spans.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

class chrome_reader final : public json_sieve {
 public:
  chrome_reader(source& from, const reading& how, graph& into) : from_(from), how_(how), into_(into) {}

  bool wants(std::string_view path) override { return path == "traceEvents[]" || path == "[]"; }
  void read(double share) override { how_.tell(share); }
  void take(std::string_view, std::size_t item, json value) override {
    const auto place = static_cast<index>(item);
    const std::string phase = text_of(value, "ph");
    if (phase.empty()) return;
    switch (phase[0]) {
    case 'X': return complete(value, place);
    case 'B': open_[track(value)].push_back({time(value, "ts", place), text_of(value, "name"), place}); return;
    case 'E': return end(value, place);
    case 's':
    case 't':
    case 'f': return flow(value, phase[0], place);
    case 'b':
    case 'n':
    case 'e': ++asynchronous_; return;
    default: return;  // names of threads, counters, moments
    }
  }

  void end() {
    std::uint64_t open = 0;
    for (const auto& [track, unended] : open_) open += unended.size();
    spans_.settle(into_);
    add_edges();
    into_.note(open, "spans begin and never end, and are left out");
    into_.note(ends_, "ends have no begin, and are left out");
    into_.note(asynchronous_, "events are asynchronous and of no thread, and are left out");
    into_.note(lost_, "ends of flows are at no span, and are left out");
    into_.note(starts_,
               "arrows lead to a span that began before the one they come from had ended: they tell who started "
               "it, and are left out");
    if (flows_.empty()) into_.note("it has no flow events (s, t, f), so nothing is known of what waits for what");
  }

 private:
  struct begun {
    ns time;
    std::string name;
    index place;
  };
  struct flow_end {
    ns time;
    char phase;
    bool encloses;
    index track;
  };

  [[nodiscard]] index track(const json& e) { return spans_.track_of(text_of(e, "pid") + "/" + text_of(e, "tid")); }
  [[nodiscard]] ns time(const json& e, const char* key, index place) const {
    const std::optional<double> number = number_of(e, {key}, from_, place);
    if (!number) from_.fail_at(place, std::string("has no ") + key);
    return from_.moment(*number, microsecond_ns, place, key);
  }

  void complete(const json& e, index place) {
    const ns begin = time(e, "ts", place);
    const std::optional<double> dur = number_of(e, {"dur"}, from_, place);
    const ns length = from_.duration(dur.value_or(0), microsecond_ns, place, "dur");
    spans_.add({begin, begin + length, track(e), text_of(e, "name"), place});
  }
  void end(const json& e, index place) {
    const ns now = time(e, "ts", place);
    const index t = track(e);
    std::vector<begun>& open = open_[t];
    if (open.empty()) {
      ++ends_;
      return;
    }
    if (now < open.back().time) from_.fail_at(place, "ends before it begins, so its duration would be negative");
    spans_.add({open.back().time, now, t, std::move(open.back().name), open.back().place});
    open.pop_back();
  }
  void flow(const json& e, char phase, index place) {
    std::string id = text_of(e, "id");
    if (const json* const two = e.find("id2"); id.empty() && two != nullptr)
      id = text_of(*two, "local") + "/" + text_of(*two, "global");
    if (id.empty()) from_.fail_at(place, "is a flow event without an id");
    flows_[text_of(e, "cat") + "/" + id].push_back({time(e, "ts", place), phase, text_of(e, "bp") == "e", track(e)});
  }

  void add_edges() {
    for (auto& [id, ends] : flows_) {
      std::ranges::stable_sort(ends, {}, &flow_end::time);
      index last = none;
      for (const flow_end& x : ends) {
        const index here = task_at(x);
        if (here == none) {
          ++lost_;
        } else if (x.phase != 's' && last != none && last != here) {
          if (one_after_the_other(into_, last, here))
            into_.order(last, here);
          else
            ++starts_;
        }
        if (here != none) last = here;
      }
    }
  }
  // A flow starts in the span around it, and ends in the next one of its thread unless it says that it is the one
  // around.
  [[nodiscard]] index task_at(const flow_end& x) const {
    const index around = spans_.at(x.track, x.time);
    if (x.phase != 'f' || x.encloses) return around == none && x.phase == 't' ? spans_.from(x.track, x.time) : around;
    const index next = spans_.from(x.track, x.time);
    return next == none ? around : next;
  }

  source& from_;
  const reading& how_;
  graph& into_;
  spans spans_;
  std::map<index, std::vector<begun>> open_;  // of each track, the innermost last
  std::map<std::string, std::vector<flow_end>> flows_;
  std::uint64_t ends_ = 0, asynchronous_ = 0, lost_ = 0, starts_ = 0;
};

}  // namespace

bool is_chrome(std::string_view text) {
  const std::string_view head = trimmed(text.substr(0, 4096));
  if (!head.starts_with('{') && !head.starts_with('[')) return false;
  return text.find("\"traceEvents\"") != std::string_view::npos || text.find("\"ph\"") != std::string_view::npos;
}

void read_chrome(source& from, const reading& how, graph& into) {
  from.counts_in("traceEvents[", "]");
  from.end_array();
  chrome_reader reader(from, how, into);
  sift(from, reader);
  reader.end();
}

}  // namespace weft::tool::foreign
