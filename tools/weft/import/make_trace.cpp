// See make_trace.hpp.
#include "make_trace.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/weft/output_file.hpp"
#include "tools/weft/trace/recover.hpp"
#include "trace/writer.hpp"
#include "weft/clause.hpp"
#include "weft/error.hpp"
#include "weft/weft.hpp"

namespace weft::tool::foreign {

namespace {

std::uint8_t code_of(mode m) noexcept {
  return std::array{detail::kind_read, detail::kind_write, detail::kind_add,
                    detail::kind_concurrent}[static_cast<std::size_t>(m)];
}

constexpr index fan_max = 64;                    // tasks before another, until they share a handle
constexpr std::uint32_t accesses_max = 1 << 15;  // of a task

// Of each handle: how many accesses there were before the newest group, and how many there are in all.
struct versions {
  std::uint64_t before = 0, all = 0;
  mode group = mode::write;

  std::uint64_t take(mode m) noexcept {
    if (m == mode::write || m != group || all == 0) {
      before = all;
      group = m;
    }
    ++all;
    return before;
  }
};

class builder {
 public:
  builder(const graph& g, const layout& l, const std::vector<index>& order) : g_(g), l_(l), order_(order) {}

  weft::trace::contents rows() {
    number_tokens();
    for (const std::string& name : g_.names) out_.names.push_back(name);
    for (std::size_t d = 0; d < g_.data.size(); ++d)
      out_.handles.emplace(static_cast<std::uint32_t>(d) + 1,
                           weft::trace::handle_row{.name = g_.data[d].name, .bytes = g_.data[d].bytes});
    newest_.resize(g_.data.size() + tokens_);
    out_.tasks.reserve(order_.size() + 1);
    out_.accesses.reserve(g_.accesses.size() + g_.edges.size() + tokens_);
    for (const index t : order_) add(t);
    weft::trace::complete_versions(out_.accesses);
    const std::uint64_t end = static_cast<std::uint64_t>(std::max(l_.end, g_.makespan));
    out_.waits.push_back({0, weft::trace::why::all, 0, 0, 0, 0, end, 0});
    return std::move(out_);
  }

 private:
  // Edges are sorted by their first task. A task that others come after has a handle that it writes and they read; but
  // of a task that comes after very many it is the other way round, so that it has one access and not as many.
  void number_tokens() {
    token_.assign(g_.tasks.size(), none);
    meeting_.assign(g_.tasks.size(), none);
    into_.assign(g_.tasks.size() + 1, 0);
    out_of_.assign(g_.tasks.size() + 1, 0);
    for (const edge& e : g_.edges) {
      ++into_[e.after + 1];
      ++out_of_[e.before + 1];
    }
    for (std::size_t i = 1; i < into_.size(); ++i) {
      if (into_[i] > fan_max) meeting_[i - 1] = handle("begin of ", static_cast<index>(i) - 1);
      into_[i] += into_[i - 1];
      out_of_[i] += out_of_[i - 1];
    }
    from_.resize(g_.edges.size());
    std::vector<index> next(into_.begin(), into_.end() - 1);
    for (const edge& e : g_.edges) {
      from_[next[e.after]++] = e.before;
      if (meeting_[e.after] == none && token_[e.before] == none) token_[e.before] = handle("end of ", e.before);
    }
    first_.assign(g_.tasks.size() + 1, 0);
    for (const access& a : g_.accesses) ++first_[a.task + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  }

  // A new one, behind those of the data.
  index handle(const char* what, index task) {
    const index number = static_cast<index>(g_.data.size()) + tokens_++;
    out_.handles.emplace(number + 1, weft::trace::handle_row{.name = what + g_.id_of(task)});
    return number;
  }

  void add(index t) {
    const task& of = g_.tasks[t];
    weft::trace::task_row row;
    row.started_ns = static_cast<std::uint64_t>(l_.begin[t]);
    row.finished_ns = static_cast<std::uint64_t>(l_.begin[t] + of.duration);
    row.own_ns = 0;
    row.name = of.name == none ? 0 : of.name + 1;
    row.submitter = 0;
    row.worker = static_cast<std::uint16_t>(l_.worker[t]);
    row.priority = of.priority;
    row.ran = true;
    const auto number = static_cast<std::uint32_t>(out_.tasks.size());
    out_.tasks.push_back(row);
    std::uint32_t position = 0;
    const auto touch = [&](index handle, mode m) {
      const std::uint8_t code = code_of(m);
      out_.kinds.emplace(code, code);
      out_.accesses.push_back({number, position++, handle + 1, code, newest_[handle].take(m), 0});
    };
    for (index a = first_[t]; a < first_[t + 1]; ++a) touch(g_.accesses[a].datum, g_.accesses[a].mode);
    if (meeting_[t] != none)
      touch(meeting_[t], mode::write);
    else
      for (index i = into_[t]; i < into_[t + 1]; ++i) touch(token_[from_[i]], mode::read);
    for (index e = out_of_[t]; e < out_of_[t + 1]; ++e)
      if (const index meeting = meeting_[g_.edges[e].after]; meeting != none) touch(meeting, mode::concurrent);
    if (token_[t] != none) touch(token_[t], mode::write);
    if (position > accesses_max)
      g_.from().fail_at(of.place, g_.called(t) + " has " + std::to_string(position) +
                                      " data and edges, more than the " + std::to_string(accesses_max) +
                                      " that a task can have");
  }

  const graph& g_;
  const layout& l_;
  const std::vector<index>& order_;
  weft::trace::contents out_;
  std::vector<versions> newest_;    // of each handle
  std::vector<index> token_;        // of each task, that it writes; none: nobody comes after it
  std::vector<index> meeting_;      // of each task, that those before it share; none: it reads their tokens
  std::vector<index> out_of_;       // of task t in the edges
  std::vector<index> into_, from_;  // of task t: it comes after from_[into_[t]] to before from_[into_[t + 1]]
  std::vector<index> first_;        // of task t in the accesses
  index tokens_ = 0;
};

weft::place::tree one_node(unsigned workers) {
  std::vector<weft::place::core> cores;
  for (unsigned w = 0; w < workers; ++w) cores.push_back({w, 0, 0});
  return {std::move(cores), workers};
}

// Renaming over a symbolic link would replace the link.
std::string target_of(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

}  // namespace

made make_trace(const std::string& path, const graph& g, const layout& l, const std::vector<index>& order,
                const std::string& format, const std::function<void(double)>& tell) {
  const weft::trace::contents rows = builder(g, l, order).rows();
  const weft::place::tree places = one_node(l.workers);
  weft::trace::facts about;
  about.program = (g.program.empty() ? g.from().path() : g.program) + " (" + format + ")";
  about.machine = "host";
  about.policy = "local";
  about.creation = "inline";
  about.schedule = "time";
  about.seed = 1;
  about.window = weft::options().window;
  about.duration_ns = rows.waits[0].to_ns;
  about.places = &places;
  try {
    weft::trace::write_file(target_of(path), about, rows, tell);
  } catch (const weft::error& e) {
    throw weft::error("-o " + path + ": cannot write: " + e.what() + "; nothing was written");
  }
  return {rows.handles.size(), rows.accesses.size()};
}

void demand_place_for_trace(const std::string& path) {
  if (path == "-") throw weft::error("import: a trace is a database, which cannot go to a pipe; name a file with -o");
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 && found.st_size != 0) {
    unsigned char head[weft::trace::header_bytes] = {};
    std::FILE* const file = S_ISREG(found.st_mode) ? std::fopen(path.c_str(), "rb") : nullptr;
    const bool is_trace =
        file != nullptr && std::fread(head, 1, sizeof head, file) == sizeof head && weft::trace::is_trace_header(head);
    if (file != nullptr) std::fclose(file);
    if (!is_trace) throw weft::error("-o " + path + ": is there, and no trace; give another name");
  } else if (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    throw weft::error("-o " + path + ": is no plain file; name one");
  }
  demand_writable("-o", path);
}

}  // namespace weft::tool::foreign
