// Perfetto's own format: a stream of TracePacket messages, each a length and its fields, so it is written as it is
// made. Names are interned: said once, in the first packets, then named by number. The numbers of the fields are those
// of Perfetto's public .proto files (protos/perfetto/trace), quoted beside them.
#include <protozero/pbf_writer.hpp>

#include "export.hpp"
#include "tools/weft/json.hpp"

namespace weft::tool::trace {

namespace {

// Numbers of fields, by message.
namespace trace_file {
constexpr protozero::pbf_tag_type packet = 1;
}
namespace packet {
constexpr protozero::pbf_tag_type timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12,
                                  sequence_flags = 13, track_descriptor = 60;
}
namespace interned {
constexpr protozero::pbf_tag_type categories = 1, names = 2, annotations = 3;  // each a list of (iid, name)
constexpr protozero::pbf_tag_type iid = 1, name = 2;
}  // namespace interned
namespace track {
constexpr protozero::pbf_tag_type uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8;
constexpr protozero::pbf_tag_type pid = 1, process_name = 6;  // of a process; pid of a thread too
constexpr protozero::pbf_tag_type tid = 2, thread_name = 5;   // of a thread
constexpr protozero::pbf_tag_type unit = 3;                   // of a counter
}  // namespace track
namespace event {
constexpr protozero::pbf_tag_type category = 3, annotation = 4, type = 9, name = 10, track = 11, counter = 44,
                                  flow = 47, last_of_flow = 48;
constexpr protozero::pbf_tag_type annotation_name = 1, signed_value = 4, text_value = 6;
}  // namespace event

constexpr std::uint32_t state_cleared = 1, needs_state = 2;  // sequence_flags
constexpr std::int32_t slice_begin = 1, slice_end = 2, counter_value = 4;
constexpr std::int32_t unit_count = 2;

// Numbers we give.
constexpr std::uint64_t process_uuid = 1, running_uuid = 2, live_uuid = 3, workers_uuid = 16;  // + worker
constexpr std::uint64_t bodies_uuid = std::uint64_t{1} << 32;                                  // + worker
constexpr std::uint64_t main_name = 1, sleep_name = 2, unnamed_name = 3, body_name = 4,
                        names_from = 16;  // + index in file::names
constexpr std::uint64_t task_category = 1, main_category = 2, sleep_category = 3, body_category = 4;
constexpr std::uint64_t note_task = 1, note_parent = 2, note_outcome = 3, note_stolen_from = 4, note_near = 5,
                        note_at_near = 6, note_call = 7, note_section = 8, note_timestamp = 9, note_number = 10,
                        note_runs = 11, counters_from = 16;
constexpr std::int32_t pid = 1;
constexpr std::size_t names_per_packet = 1024;
constexpr std::size_t buffer_bytes = 1 << 16;

class perfetto_writer {
 public:
  perfetto_writer(const file& f, const timeline_options& opt, output_file& out)
      : f_(f), time_(f), flows_(f, time_, opt), out_(out), tell_(opt.tell) {}

  written write() {
    intern();
    describe_tracks();
    // The end of a slice and the begin of the next may be one moment: in this order, as Perfetto keeps the order of
    // what is simultaneous. Tracks follow each other, because it sorts by time anyhow.
    for (std::size_t s = 0; s < time_.slices.size(); ++s) {
      write_slice(s);
      if (tell_ && s % 16384 == 0) tell_(static_cast<double>(s) / static_cast<double>(time_.slices.size()));
    }
    for (const body& b : f_.bodies) write_body(b);
    write_counter(time_.running, running_uuid);
    write_counter(time_.live, live_uuid);
    flush();
    return {time_.slices.size() + f_.bodies.size(), flows_.count()};
  }

 private:
  // Adds one packet, filled by `fill`.
  template <class Fill> void add(std::uint32_t flags, Fill fill) {
    packet_.clear();
    {
      protozero::pbf_writer p(packet_);
      p.add_uint32(packet::sequence_id, 1);
      p.add_uint32(packet::sequence_flags, flags);
      fill(p);
    }
    protozero::pbf_writer(buffer_).add_message(trace_file::packet, packet_);
    if (buffer_.size() >= buffer_bytes) flush();
  }

  void flush() {
    out_.put(buffer_);
    buffer_.clear();
  }

  static void entry(protozero::pbf_writer& table, protozero::pbf_tag_type kind, std::uint64_t iid,
                    const std::string& name) {
    protozero::pbf_writer e(table, kind);
    e.add_uint64(interned::iid, iid);
    e.add_string(interned::name, valid_utf8(name));
  }

  void intern() {
    add(state_cleared | needs_state, [&](protozero::pbf_writer& p) {
      protozero::pbf_writer table(p, packet::interned_data);
      entry(table, interned::categories, task_category, "task");
      entry(table, interned::categories, main_category, "main");
      entry(table, interned::categories, sleep_category, "sleep");
      entry(table, interned::categories, body_category, "ordered");
      entry(table, interned::names, main_name, "main");
      entry(table, interned::names, sleep_name, "sleep");
      entry(table, interned::names, unnamed_name, "task");
      entry(table, interned::names, body_name, "ordered body");
      entry(table, interned::annotations, note_task, "task");
      entry(table, interned::annotations, note_parent, "parent");
      entry(table, interned::annotations, note_outcome, "outcome");
      entry(table, interned::annotations, note_stolen_from, "stolen_from");
      entry(table, interned::annotations, note_near, "near");
      entry(table, interned::annotations, note_at_near, "at_near");
      entry(table, interned::annotations, note_call, "call");
      entry(table, interned::annotations, note_section, "section");
      entry(table, interned::annotations, note_timestamp, "timestamp");
      entry(table, interned::annotations, note_number, "number");
      entry(table, interned::annotations, note_runs, "runs");
      for (std::size_t c = 0; c < f_.counter_names.size(); ++c)
        entry(table, interned::annotations, counters_from + c, f_.counter_names[c]);
    });
    for (std::size_t first = 0; first < f_.names.size(); first += names_per_packet)
      add(needs_state, [&](protozero::pbf_writer& p) {
        protozero::pbf_writer table(p, packet::interned_data);
        for (std::size_t n = first; n < f_.names.size() && n < first + names_per_packet; ++n)
          entry(table, interned::names, names_from + n, f_.names[n]);
      });
  }

  void describe_tracks() {
    const std::string program = f_.about("program");
    const std::string title = (program.empty() ? "weft" : program) + " (" + f_.about("machine") + ")";
    add(needs_state, [&](protozero::pbf_writer& p) {
      protozero::pbf_writer t(p, packet::track_descriptor);
      t.add_uint64(track::uuid, process_uuid);
      protozero::pbf_writer process(t, track::process);
      process.add_int32(track::pid, pid);
      process.add_string(track::process_name, valid_utf8(title));
    });
    for (std::size_t w = 0; w < f_.workers.size(); ++w)
      add(needs_state, [&](protozero::pbf_writer& p) {
        protozero::pbf_writer t(p, packet::track_descriptor);
        t.add_uint64(track::uuid, workers_uuid + w);
        t.add_uint64(track::parent, process_uuid);
        protozero::pbf_writer thread(t, track::thread);
        thread.add_int32(track::pid, pid);
        thread.add_int64(track::tid, static_cast<std::int64_t>(w) + 1);  // thread 0 is the idle one of the kernel
        thread.add_string(track::thread_name, "worker " + std::to_string(f_.workers[w].id));
      });
    describe_bodies();
    describe_counter(running_uuid, "running workers");
    describe_counter(live_uuid, "live tasks");
  }

  // Bodies of ordered sections that happened, below the worker on which each was.
  void describe_bodies() {
    std::vector<bool> has(f_.workers.size(), false);
    for (const body& b : f_.bodies) has[b.worker] = true;
    for (std::size_t w = 0; w < has.size(); ++w)
      if (has[w])
        add(needs_state, [&](protozero::pbf_writer& p) {
          protozero::pbf_writer t(p, packet::track_descriptor);
          t.add_uint64(track::uuid, bodies_uuid + w);
          t.add_uint64(track::parent, workers_uuid + w);
          t.add_string(track::name, "ordered bodies of worker " + std::to_string(f_.workers[w].id));
        });
  }
  void write_body(const body& b) {
    const auto put = [&](std::int64_t time, std::int32_t type, bool first) {
      add(needs_state, [&](protozero::pbf_writer& p) {
        p.add_uint64(packet::timestamp, static_cast<std::uint64_t>(time));
        protozero::pbf_writer e(p, packet::track_event);
        e.add_enum(event::type, type);
        e.add_uint64(event::track, bodies_uuid + b.worker);
        if (!first) return;
        e.add_uint64(event::category, body_category);
        e.add_uint64(event::name, body_name);
        note(e, note_section, std::int64_t{b.section} + 1);
        note(e, note_timestamp, static_cast<std::int64_t>(b.timestamp));
        note(e, note_number, b.number);
        note(e, note_runs, std::max(b.runs, 1));
      });
    };
    put(b.from_ns, slice_begin, true);
    put(b.to_ns, slice_end, false);
  }

  void describe_counter(std::uint64_t uuid, const char* name) {
    add(needs_state, [&](protozero::pbf_writer& p) {
      protozero::pbf_writer t(p, packet::track_descriptor);
      t.add_uint64(track::uuid, uuid);
      t.add_uint64(track::parent, process_uuid);
      t.add_string(track::name, name);
      protozero::pbf_writer counter(t, track::counter);
      counter.add_enum(track::unit, unit_count);
    });
  }

  void write_counter(const std::vector<sample>& samples, std::uint64_t uuid) {
    for (const sample& s : samples)
      add(needs_state, [&](protozero::pbf_writer& p) {
        p.add_uint64(packet::timestamp, static_cast<std::uint64_t>(s.time_ns));
        protozero::pbf_writer e(p, packet::track_event);
        e.add_enum(event::type, counter_value);
        e.add_uint64(event::track, uuid);
        e.add_double(event::counter, s.value);
      });
  }

  void write_slice(std::size_t s) {
    const slice& of = time_.slices[s];
    const std::uint64_t uuid = workers_uuid + of.worker;
    add(needs_state, [&](protozero::pbf_writer& p) {
      p.add_uint64(packet::timestamp, static_cast<std::uint64_t>(of.from_ns));
      protozero::pbf_writer e(p, packet::track_event);
      e.add_enum(event::type, slice_begin);
      e.add_uint64(event::track, uuid);
      if (of.kind == slice::what::main_thread) {
        e.add_uint64(event::category, main_category);
        e.add_uint64(event::name, main_name);
      } else if (of.kind == slice::what::sleep) {
        e.add_uint64(event::category, sleep_category);
        e.add_uint64(event::name, sleep_name);
      } else {
        describe_task(e, of);
      }
      for (const std::uint32_t id : flows_.out(s)) e.add_fixed64(event::flow, id);
      for (const std::uint32_t id : flows_.in(s)) e.add_fixed64(event::last_of_flow, id);
    });
    add(needs_state, [&](protozero::pbf_writer& p) {
      p.add_uint64(packet::timestamp, static_cast<std::uint64_t>(of.to_ns));
      protozero::pbf_writer e(p, packet::track_event);
      e.add_enum(event::type, slice_end);
      e.add_uint64(event::track, uuid);
    });
  }

  void describe_task(protozero::pbf_writer& e, const slice& of) {
    const task& t = f_.tasks[of.task];
    e.add_uint64(event::category, task_category);
    e.add_uint64(event::name, t.name == none ? unnamed_name : names_from + t.name);
    note(e, note_task, t.id);
    if (t.parent != none) note(e, note_parent, f_.tasks[t.parent].id);
    if (t.result != outcome::done) {
      protozero::pbf_writer n(e, event::annotation);
      n.add_uint64(event::annotation_name, note_outcome);
      n.add_string(event::text_value, text(t.result));
    }
    if (!of.first) return;
    if (const index victim = time_.stolen_from[of.task]; victim != none)
      note(e, note_stolen_from, f_.workers[victim].id);
    if (t.near >= 0) note(e, note_near, t.near);
    if (t.at_near >= 0) note(e, note_at_near, t.at_near);
    if (t.is_call) note(e, note_call, 1);
    for (const counter& c : counters_of(f_, of.task)) note(e, counters_from + c.name, c.value);
  }

  static void note(protozero::pbf_writer& e, std::uint64_t name, std::int64_t value) {
    protozero::pbf_writer n(e, event::annotation);
    n.add_uint64(event::annotation_name, name);
    n.add_int64(event::signed_value, value);
  }

  const file& f_;
  timeline time_;
  flows flows_;
  output_file& out_;
  const std::function<void(double)>& tell_;
  std::string packet_, buffer_;
};

}  // namespace

written write_perfetto(const file& f, const timeline_options& opt, output_file& out) {
  return perfetto_writer(f, opt, out).write();
}

}  // namespace weft::tool::trace
