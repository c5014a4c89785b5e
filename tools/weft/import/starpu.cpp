// A run of StarPU. A task that ran on a worker has a start and an end; what orders it are its handles with their modes,
// as in Weft. Others did not run: StarPU's own tasks, by which it waits for data, and hints. Of these only what they
// order is kept: who comes after one of them comes after what that came after.
//
// The order of the file is that of submission. Of several MPI ranks there is none that all share, so then it is that
// in which tasks began: of two that touch a datum the first began first.
#include <algorithm>
#include <map>

#include "formats.hpp"
#include "starpu_records.hpp"
#include "table.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

constexpr std::size_t through_max = 1 << 24;  // tasks that come before StarPU's own, in all

class starpu_reader {
 public:
  starpu_reader(source& from, const reading& how, graph& into) : from_(from), how_(how), into_(into) {}

  void read() {
    if (how_.beside != nullptr) read_handles(*how_.beside);
    starpu_records(from_, how_.tell, [this](const starpu_record& r) { take(r); });
    sort();
    for (const row& r : rows_) add(r);
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      if (jobs_[j].task != none) add_edges(static_cast<index>(j));
    say();
  }

 private:
  struct row {  // a task that ran
    starpu_record is;
    index job;
    ns start, end;
    std::uint64_t order;
  };
  struct job {
    std::vector<std::string> after;
    index task = none;  // in the graph
    bool is_known = false, is_open = false;
    std::vector<index> through;  // of one that did not run: the tasks that it comes after
  };

  void take(const starpu_record& r) {
    if (!r.control.empty() || r.job.empty()) {
      ++hints_;
      return;
    }
    const std::string key = r.rank.empty() || r.job.find('_') != std::string::npos ? r.job : r.rank + "_" + r.job;
    const auto [at, fresh] = by_key_.try_emplace(key, static_cast<index>(jobs_.size()));
    if (!fresh) from_.fail_at(r.line, "the job '" + printable(key, name_width_max) + "' is there already");
    jobs_.emplace_back();
    prefix_.push_back(r.rank.empty() ? "" : r.rank + "_");
    words(r.depends_on, [&](std::string_view other) { jobs_.back().after.emplace_back(other); });
    keys_.push_back(key);
    if (r.start.empty() && r.end.empty()) {
      ++own_;
      return;
    }
    if (r.start.empty() || r.end.empty()) from_.fail_at(r.line, "has only one of StartTime and EndTime");
    const ns start = from_.moment(r.start, millisecond_ns, r.line, "StartTime");
    const ns end = from_.moment(r.end, millisecond_ns, r.line, "EndTime");
    if (end < start) from_.fail_at(r.line, "ends before it starts, so its duration would be negative");
    const std::uint64_t order =
        r.submit_order.empty() ? rows_.size() : from_.count(r.submit_order, UINT64_MAX, r.line, "SubmitOrder");
    ranks_[r.rank];
    rows_.push_back({r, at->second, start, end, order});
    rows_.back().is.depends_on.clear();
  }

  void sort() {
    if (ranks_.size() > 1)
      std::ranges::stable_sort(rows_, {}, &row::start);
    else
      std::ranges::stable_sort(rows_, {}, &row::order);
  }

  void add(const row& r) {
    const starpu_record& is = r.is;
    const index t = into_.add(keys_[r.job], is.name,
                              from_.duration(static_cast<double>(r.end - r.start), 1, is.line, "duration"), is.line);
    jobs_[r.job].task = t;
    into_.tasks[t].begin = r.start;
    if (!is.worker.empty()) {
      const auto [at, fresh] = workers_.try_emplace({is.rank, is.worker}, static_cast<index>(workers_.size()));
      into_.tasks[t].worker = at->second;
    }
    if (!is.node.empty() && is.node != "0") ++elsewhere_;
    add_handles(is, t);
  }

  void add_handles(const starpu_record& is, index t) {
    std::vector<std::string_view> modes, sizes;
    words(is.modes, [&](std::string_view m) { modes.push_back(m); });
    words(is.sizes, [&](std::string_view s) { sizes.push_back(s); });
    std::size_t i = 0;
    words(is.handles, [&](std::string_view handle) {
      if (i >= modes.size()) from_.fail_at(is.line, "has more handles than modes");
      touch(is, t, handle, modes[i], i < sizes.size() ? sizes[i] : std::string_view());
      ++i;
    });
    if (i < modes.size()) from_.fail_at(is.line, "has more modes than handles");
  }

  void touch(const starpu_record& is, index t, std::string_view handle, std::string_view how, std::string_view size) {
    const auto has = [how](char c) { return how.find(c) != std::string_view::npos; };
    if (how == "S" || how.starts_with("SCRATCH")) {
      ++scratch_;
      return;
    }
    mode m = mode::read;
    if (how == "X" || how.find("REDUX") != std::string_view::npos) {
      m = mode::concurrent;
      ++reduced_;
    } else if (has('W') && has('C')) {
      m = mode::add;
    } else if (has('W')) {
      m = mode::write;
    } else if (!has('R')) {
      from_.fail_at(is.line, "the mode '" + printable(how, name_width_max) +
                                 "' is unknown; there are R, W, RW, RWC, S and "
                                 "REDUX");
    }
    std::string key = is.rank + ":" + std::string(handle);
    if (const auto at = same_.find(key); at != same_.end()) key = at->second;
    const index datum = into_.datum_of(key);
    if (!size.empty()) into_.data[datum].bytes = from_.count(size, bytes_max, is.line, "size");
    into_.access(t, datum, m);
  }

  // --- what is after what

  [[nodiscard]] index job_of(index by, const std::string& other) {
    auto at = by_key_.find(other);
    if (at == by_key_.end()) at = by_key_.find(prefix_[by] + other);
    if (at == by_key_.end()) {
      ++missing_;
      return none;
    }
    return at->second;
  }

  void add_edges(index of) {
    std::vector<index> before;
    for (const std::string& other : jobs_[of].after) gather(of, other, before);
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const index b : before) into_.order(b, jobs_[of].task);
  }
  void gather(index by, const std::string& other, std::vector<index>& into) {
    const index j = job_of(by, other);
    if (j == none) return;
    if (jobs_[j].task != none) return into.push_back(jobs_[j].task);
    find_through(j);
    into.insert(into.end(), jobs_[j].through.begin(), jobs_[j].through.end());
  }
  // Without calls that lie in each other: chains of StarPU's own tasks can be long.
  void find_through(index first) {
    std::vector<index> open{first};
    while (!open.empty()) {
      const index j = open.back();
      job& x = jobs_[j];
      if (x.is_known) {
        open.pop_back();
        continue;
      }
      bool waits = false;
      if (!x.is_open)
        for (const std::string& other : x.after)
          if (const index o = job_of(j, other); o != none && jobs_[o].task == none && !jobs_[o].is_known) {
            if (jobs_[o].is_open) from_.fail("StarPU's own tasks wait for each other in a circle: job " + keys_[o]);
            open.push_back(o);
            waits = true;
          }
      x.is_open = true;
      if (waits) continue;
      std::vector<index> found;
      for (const std::string& other : x.after) gather(j, other, found);
      std::ranges::sort(found);
      found.erase(std::unique(found.begin(), found.end()), found.end());
      if ((through_ += found.size()) > through_max) from_.fail("StarPU's own tasks order too many others");
      x.through = std::move(found);
      x.is_known = true;
      x.is_open = false;
      open.pop_back();
    }
  }

  // --- data of several ranks

  // Handles of one tag are copies of one datum.
  void read_handles(const source& beside) {
    table_reader t(beside);
    const int handle = t.column("Handle"), rank = t.column("MPIRank"), tag = t.column("MPITag");
    if (handle < 0 || rank < 0 || tag < 0)
      beside.fail_at(t.line(), "has no columns Handle, MPIRank and MPITag: it is no rec.data_handles.csv");
    while (t.next())
      if (!t[tag].empty() && !t[tag].starts_with('-'))
        same_[std::string(t[rank]) + ":" + std::string(t[handle])] = "tag " + std::string(t[tag]);
  }

  void say() {
    into_.note(own_, "tasks of StarPU's own did not run on a worker, and are left out but for what they order");
    into_.note(hints_, "records are hints and no tasks, and are left out");
    into_.note(missing_, "times a task waits for one that is not in the file; that is left out");
    into_.note(elsewhere_,
               "tasks ran at memory nodes other than 0, as those of GPUs are; here every worker takes as long, "
               "and copies to and fro take nothing");
    into_.note(scratch_, "accesses are scratch, which orders nothing, and are left out");
    into_.note(reduced_, "accesses reduce; here they run at the same time, and what joins them takes nothing");
    if (ranks_.size() > 1)
      into_.note("its " + std::to_string(ranks_.size()) +
                 " MPI ranks are workers of one machine here, and messages take "
                 "nothing" +
                 (how_.beside == nullptr ? "; which of their data are the same is in rec.data_handles.csv "
                                           "(--with), and without it no rank waits for another"
                                         : ""));
  }

  source& from_;
  const reading& how_;
  graph& into_;
  std::vector<row> rows_;
  std::vector<job> jobs_;
  std::vector<std::string> keys_, prefix_;  // of each job
  std::unordered_map<std::string, index> by_key_;
  std::unordered_map<std::string, std::string> same_;
  std::map<std::string, int> ranks_;
  std::map<std::pair<std::string, std::string>, index> workers_;
  std::uint64_t own_ = 0, hints_ = 0, missing_ = 0, elsewhere_ = 0, scratch_ = 0, reduced_ = 0;
  std::size_t through_ = 0;
};

}  // namespace

bool is_starpu(std::string_view text) {
  if (is_starpu_table(text)) return true;
  const std::string_view head = text.substr(0, 1 << 16);
  const auto has = [head](std::string_view key) {
    return head.starts_with(key) || head.find("\n" + std::string(key)) != std::string_view::npos;
  };
  return has("JobId:") && (has("Name:") || has("Model:") || has("SubmitOrder:") || has("SubmitTime:"));
}

void read_starpu(source& from, const reading& how, graph& into) { starpu_reader(from, how, into).read(); }

}  // namespace weft::tool::foreign
