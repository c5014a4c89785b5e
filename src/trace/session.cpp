#include "trace/session.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/part_file.hpp"
#include "weft/error.hpp"

namespace weft::trace {

namespace {

constexpr std::size_t bytes_per_mib = std::size_t{1} << 20;
constexpr std::size_t sections_max = 100'000;  // of 100 bytes each

[[nodiscard]] std::string refusal(const std::string& path, const std::string& why) {
  return "weft: cannot write a trace to '" + path + "': " + why;
}
[[noreturn]] void refuse(const std::string& path, const std::string& why) { throw error(refusal(path, why)); }

// run.weft, run.2.weft, run.3.weft: the first that no runtime of this process has had.
[[nodiscard]] std::string reserve(const std::string& wanted) {
  static std::mutex guard;
  static auto* const taken = new std::set<std::string>;  // never destroyed: runtimes may be static objects
  const std::filesystem::path whole(wanted);
  const std::lock_guard hold(guard);
  std::string name = wanted;
  for (unsigned n = 2; !taken->insert(name).second; ++n) {
    std::filesystem::path next = whole;
    next.replace_filename(whole.stem().string() + "." + std::to_string(n) + whole.extension().string());
    name = next.string();
  }
  return name;
}

// What is there already may be replaced only if it is a trace, or empty.
void check_replaceable(const std::string& path) {
  struct stat what {};
  if (::stat(path.c_str(), &what) != 0) {
    if (errno == ENOENT) return;
    refuse(path, std::strerror(errno));
  }
  if (S_ISDIR(what.st_mode)) refuse(path, "it is a folder; name a file in it");
  if (!S_ISREG(what.st_mode)) refuse(path, "it is no regular file");
  if (what.st_size == 0) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) refuse(path, std::strerror(errno));
  unsigned char header[header_bytes] = {};
  if (std::fread(header, 1, sizeof header, file.get()) != sizeof header || !is_trace_header(header))
    refuse(path, "there is a file that is no Weft trace; remove it or choose another name");
}

// What programs left that were killed, but for the newest: somebody may want to know what happened.
void remove_older(const std::string& path) {
  const std::vector<std::string> parts = base::abandoned_parts(path);
  std::string newest;
  timespec when{};
  for (const std::string& part : parts) {
    struct stat what {};
    if (::stat(part.c_str(), &what) != 0 || what.st_size == 0) continue;
    if (!newest.empty() && std::tie(what.st_mtim.tv_sec, what.st_mtim.tv_nsec) < std::tie(when.tv_sec, when.tv_nsec))
      continue;
    newest = part;
    when = what.st_mtim;
  }
  for (const std::string& part : parts)
    if (part != newest) base::remove_abandoned(part);
}

[[nodiscard]] std::string checked(const char* path) {
  if (*path == '\0') refuse(path, "it has no name");
  std::error_code bad;
  const std::string absolute = std::filesystem::absolute(path, bad).lexically_normal().string();
  if (bad) refuse(path, bad.message());
  const std::string name = reserve(absolute);
  check_replaceable(name);
  remove_older(name);
  return name;
}

// Nobody knows why a program does not end while it writes a trace of millions of rows, so it says how far it is; one
// that takes no longer than a blink says nothing.
class told_slowly {
 public:
  explicit told_slowly(const std::string& path) : path_(path) {}
  void operator()(double done) {
    const int tenths = static_cast<int>(10 * done);
    if (std::chrono::steady_clock::now() - start_ < silent || tenths <= told_) return;
    told_ = tenths;
    std::fprintf(stderr, "weft: writing the trace '%s': %d %%\n", path_.c_str(), 10 * tenths);
  }

 private:
  static constexpr std::chrono::seconds silent{2};
  const std::string& path_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int told_ = 0;
};

[[nodiscard]] const base::part_file& opened(const base::part_file& file, const std::string& path) {
  if (!file.is_open()) refuse(path, std::strerror(errno));
  return file;
}

[[nodiscard]] std::string listed(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ",") + one;
  return text;
}

// The sessions there are, by their paths.
struct directory {
  std::mutex guard;
  std::map<std::string, session*, std::less<>> sessions;
};
[[nodiscard]] directory& all_sessions() {
  static auto* const all = new directory;  // never destroyed: runtimes may be static objects
  return *all;
}

}  // namespace

session::session(const char* path, std::size_t mib, const char* counters)
    : path_(checked(path)), file_(path_, 0600), shared_(mib * bytes_per_mib, opened(file_, path_)) {
  if (counters != nullptr) counters_ = usable_counters(parse_counters(counters));
  directory& all = all_sessions();
  const std::lock_guard hold(all.guard);
  all.sessions.emplace(path_, this);
}

// What could not be written stays in the journal.
session::~session() {
  if (!last_error_.empty() && shared_.lies_in.is_in_file()) {
    file_.abandon();
    std::fprintf(stderr, "weft: what was recorded is in '%s'; `weft recover '%s'` makes the trace of it.\n",
                 file_.name().c_str(), path_.c_str());
  }
  directory& all = all_sessions();
  const std::lock_guard hold(all.guard);
  all.sessions.erase(path_);
}

void record_section(const char* path, const section_row& row) noexcept {
  directory& all = all_sessions();
  const std::lock_guard hold(all.guard);
  if (const auto found = all.sessions.find(std::string_view(path)); found != all.sessions.end())
    found->second->section(row);
}

void count(const char* path, unsigned worker, std::uint32_t task, const char* name, std::uint64_t value) noexcept {
  directory& all = all_sessions();
  const std::lock_guard hold(all.guard);
  if (const auto found = all.sessions.find(std::string_view(path)); found != all.sessions.end())
    found->second->count(worker, {.value = value, .task = task, .kind = event_kind::counted}, name);
}

void session::count(unsigned worker, const event& counted, const char* name) noexcept {
  if (worker + 1 >= recorders_.size()) return;
  event e = counted;
  try {
    const std::lock_guard hold(outside_);
    const auto at = std::find(own_counters_.begin(), own_counters_.end(), name);
    e.detail = static_cast<std::uint8_t>(counters_.size() + static_cast<std::size_t>(at - own_counters_.begin()));
    if (at == own_counters_.end()) {
      own_counters_.emplace_back(name);
      shared_.lies_in.tell(word_kind::fact, std::string("counters") + '\0', listed(all_counters()));
    }
  } catch (const std::bad_alloc&) {
    return;
  }
  recorders_[worker]->add(e);
}

// Who: holds outside_.
std::vector<std::string> session::all_counters() const {
  std::vector<std::string> all = counters_;
  all.insert(all.end(), own_counters_.begin(), own_counters_.end());
  return all;
}

void session::open(unsigned workers) {
  for (unsigned i = 0; i <= workers; ++i) recorders_.push_back(std::make_unique<recorder>(shared_, i));
}

void session::submitted_outside(detail::record& r, std::uint64_t now) noexcept {
  const std::lock_guard hold(outside_);
  recorders_.back()->submitted(r, now);
}

void session::section(const section_row& row) noexcept {
  const std::lock_guard hold(outside_);
  try {
    if (sections_.size() < sections_max) {
      sections_.push_back(row);
      const std::uint64_t numbers[] = {row.id,
                                       row.section,
                                       row.window,
                                       row.always_ahead ? 1u : 0u,
                                       row.began_ns,
                                       row.ended_ns,
                                       row.committed,
                                       row.started,
                                       row.again,
                                       row.in_order,
                                       static_cast<std::uint64_t>(row.serial_ns)};
      shared_.lies_in.tell(word_kind::section, {reinterpret_cast<const char*>(numbers), sizeof numbers}, row.executor);
      return;
    }
  } catch (const std::bad_alloc&) {  // then it is one of those that are lost
  }
  ++sections_lost_;
}

// A worker that cannot have what the first thread had counts nothing; the tasks it runs have no rows then.
void session::open_counters(recorder& r) noexcept {
  if (counters_.empty()) return;
  int refused = ENOMEM;
  try {
    refused = r.counters.open(counters_);
  } catch (const std::bad_alloc&) {
    r.counters.close();
  }
  if (refused != 0) std::fprintf(stderr, "weft: a worker has no counters (%s); going on.\n", std::strerror(refused));
}

contents session::gather(const std::vector<recorder*>& all, std::uint64_t start_ps) {
  const std::lock_guard hold(outside_);
  contents rows = collect(all, start_ps, sections_);
  rows.lost += sections_lost_;
  return rows;
}

void session::complete(facts& about) const {
  {
    const std::lock_guard hold(outside_);
    about.counters = all_counters();
  }
  about.schedule = schedule_;
  about.program = program_invocation_short_name;
}

void session::begins(facts about, std::uint64_t start_ps) {
  complete(about);
  const auto tell = [this](std::string key, const std::string& value) {
    key += '\0';
    shared_.lies_in.tell(word_kind::fact, key, value);
  };
  std::vector<std::string> places;
  for (unsigned w = 0; w < about.places->workers(); ++w)
    for (const unsigned number : {about.places->of(w).cpu, about.places->of(w).cache, about.places->of(w).node})
      places.push_back(std::to_string(number));
  tell("program", about.program);
  tell("machine", about.machine);
  tell("policy", about.policy);
  tell("creation", about.creation);
  tell("schedule", about.schedule);
  tell("seed", std::to_string(about.seed));
  tell("window", std::to_string(about.window));
  tell("bound", about.bound ? "1" : "0");
  tell("counters", listed(about.counters));
  tell("places", listed(places));
  tell("start_ps", std::to_string(start_ps));
}

void session::write(facts about, std::uint64_t start_ps) {
  complete(about);
  std::vector<recorder*> all;
  for (const auto& r : recorders_) all.push_back(r.get());
  const std::uint64_t issued_before = issued();
  written_whole_ = false;
  try {
    check_replaceable(path_);
    constexpr double collected = 0.3;  // of the time
    told_slowly tell(path_);
    const contents rows = gather(all, start_ps);
    tell(collected);
    write_file(path_, about, rows, [&tell](double done) { tell(collected + (1 - collected) * done); });
    for (const std::string& part : base::abandoned_parts(path_)) base::remove_abandoned(part);
    written_ = issued_before;
    written_whole_ = std::all_of(rows.tasks.begin() + 1, rows.tasks.end(), [](const task_row& t) { return t.ran; });
    last_error_.clear();
    if (rows.lost != 0)
      std::fprintf(stderr,
                   "weft: the trace '%s' is not whole: %llu records were overwritten; give it more trace_mib.\n",
                   path_.c_str(), static_cast<unsigned long long>(rows.lost));
  } catch (const std::exception& e) {
    const bool no_memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
    last_error_ = e.what();
    if (!last_error_.starts_with("weft: ")) last_error_ = refusal(path_, no_memory ? "no memory" : e.what());
    throw error(last_error_);
  }
}

std::uint64_t session::issued() const noexcept {
  std::uint64_t all = 0;
  {
    const std::lock_guard hold(outside_);
    all += sections_.size() + sections_lost_;
  }
  for (const auto& r : recorders_) all += r->issued();
  return all;
}

bool session::anything_new() const noexcept { return !written_whole_ || written_ != issued(); }

}  // namespace weft::trace
