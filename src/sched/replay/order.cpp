#include "sched/replay/order.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "access/version.hpp"
#include "base/assert.hpp"
#include "base/part_file.hpp"
#include "trace/recorder.hpp"
#include "weft/error.hpp"

namespace weft::sched {

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

// Of a name, the same on every machine (FNV-1a): an actor's priority must not depend on when it came.
std::uint64_t hash(const std::string& text) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

// A field of a line: tabs and newlines separate fields and lines.
std::string field(const char* text) {
  std::string s(text);
  std::replace_if(
      s.begin(), s.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return s;
}

// A line names a task and all that it accesses; one that goes on for longer belongs to another kind of file.
constexpr std::size_t line_bytes_max = std::size_t{1} << 24;

// As std::getline, but it stops beyond line_bytes_max.
bool next_line(std::istream& from, std::string& line) {
  line.clear();
  std::streambuf& text = *from.rdbuf();
  for (int c = text.sbumpc(); c != EOF; c = text.sbumpc()) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
    if (line.size() > line_bytes_max) return true;
  }
  return !line.empty();
}

// In a folder where others may write, a link there can be a stranger's, to any file of this user's. Errors:
// weft::error.
int open_log(const std::string& path) {
  const auto refuse = [&path](const std::string& why) {
    throw error("weft: WEFT_ORDER_LOG: cannot write " + path + ": " + why);
  };
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (log < 0)
    refuse(errno == ELOOP ? "it is a link, perhaps a stranger's; name the file itself" : std::strerror(errno));
  struct stat found {};
  if (::fstat(log, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink > 1) {
    ::close(log);
    refuse("the file has another name as well, so this one is perhaps a stranger's");
  }
  return log;
}

}  // namespace

task_order::task_order(const setup& s) : setup_(s), random_(s.seed) {
  if (setup_.how == rule::given) read_list();
  if (setup_.how == rule::drawn && setup_.length != 0) {
    const auto range = static_cast<std::uint32_t>(std::min<std::uint64_t>(setup_.length, 0xffff'ffffu));
    for (unsigned i = 0; i < setup_.depth; ++i) moments_.push_back(random_.below(range));
    std::sort(moments_.begin(), moments_.end());
  }
  if (!setup_.log.empty()) {
    log_ = open_log(setup_.log);
  }
  const std::string main = setup_.runtime == 1 ? "main" : std::to_string(setup_.runtime) + "/main";
  actors_.emplace(nullptr, make_actor(main));
}

task_order::~task_order() {
  if (log_ >= 0) ::close(log_);
}

void task_order::read_list() {
  const auto refuse = [this](const std::string& why) {
    throw error("weft: schedule: cannot read the order of tasks in " + setup_.given + ": " + why);
  };
  struct stat found;
  if (::stat(setup_.given.c_str(), &found) != 0) refuse(std::strerror(errno));
  // A pipe ends; a device need not.
  if (!S_ISREG(found.st_mode) && !S_ISFIFO(found.st_mode)) refuse("it is a folder or a device, not a file");
  std::ifstream file(setup_.given);
  if (!file) refuse(std::strerror(errno));
  std::uint64_t place = 0;
  for (std::string line; next_line(file, line); ++place) {
    if (line.size() > line_bytes_max)
      refuse("line " + std::to_string(place + 1) + " has more than " + std::to_string(line_bytes_max) + " bytes");
    std::istringstream words(line);
    std::string verb, name;
    std::uint64_t number = 0;
    if (!(words >> verb) || verb != "run") continue;
    if (!(words >> name >> number) || number > place)
      throw error("weft: schedule: line " + std::to_string(place + 1) + " of " + setup_.given +
                  " is no step; it must be: run ACTOR NUMBER");
    std::vector<std::uint64_t>& places = list_[name];
    if (places.size() <= number) places.resize(number + 1, never);
    places[number] = place;
  }
}

task_order::actor task_order::make_actor(std::string name) {
  actor a;
  // The highest bit keeps all drawn priorities above those of the demoted.
  // Not of the runtime's number: with the same options its run is the same, wherever in a process it comes.
  const std::size_t slash = name.find('/');
  const std::uint64_t h = hash(slash == std::string::npos ? name : name.substr(slash + 1));
  a.priority = base::random(setup_.seed ^ h).next() | std::uint64_t{1} << 63;
  if (const auto found = list_.find(name); found != list_.end()) a.places = &found->second;
  a.name = std::move(name);
  return a;
}

task_order::actor& task_order::actor_of(const detail::record* body) {
  const auto found = actors_.find(body);
  WEFT_ASSERT(found != actors_.end());
  return found->second;
}

// A stack that waited belongs to the task that its record names as parent.
const detail::record* task_order::body_of(const detail::record& r) const noexcept {
  return detail::is_task(r) ? &r : detail::body_around(r.parent);
}

// The way to r from the program: numbers among siblings.
std::string task_order::path_of(const detail::record& r) const {
  if (r.parent == nullptr) {
    WEFT_ASSERT(r.order != 0);  // at top level numbers begin with 1
    return (setup_.runtime == 1 ? "" : std::to_string(setup_.runtime) + "/") + std::to_string(r.order);
  }
  const bool in_scope = detail::is_scope(*r.parent);
  return (in_scope ? path_of(*r.parent) : actors_.at(r.parent).name) + "." + std::to_string(r.order + 1);
}

void task_order::submitted(detail::record& r) {
  std::string name = path_of(r);
  if (log_ >= 0) {
    std::string line = "submit\t" + name + "\t" + field(r.name != nullptr ? r.name : "");
    for (std::uint32_t i = 0; i < r.access_count; ++i) {
      const detail::handle_state& h = access::handle_of(r.accesses()[i]);
      line += "\t" + trace::kind_text(trace::kind_code(r.accesses()[i])) + "\t" + std::to_string(h.id) + "\t" +
              field(detail::name_in(h) != nullptr ? detail::name_in(h) : "");
    }
    write(line + "\n");
  }
  actors_.insert_or_assign(&r, make_actor(std::move(name)));
}

void task_order::step(const detail::record* body) {
  actor& a = actor_of(body);
  if (log_ >= 0) write("run\t" + a.name + "\t" + std::to_string(a.steps) + "\n");
  ++a.steps;
}

// Not buffered: what a program did before it crashed is what one wants to know. The program goes on without a log that
// cannot be written: it did not ask for one.
void task_order::write(const std::string& line) noexcept {
  const base::quiet_writing quiet;
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t n = ::write(log_, line.data() + at, line.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      std::fprintf(stderr, "weft: WEFT_ORDER_LOG: cannot write %s: %s; the log ends here\n", setup_.log.c_str(),
                   std::strerror(errno));
      ::close(std::exchange(log_, -1));
      return;
    }
    at += static_cast<std::size_t>(n);
  }
}

bool task_order::has_for(unsigned worker) const noexcept {
  return std::any_of(pool_.begin(), pool_.end(), [worker](const detail::record* r) {
    return r->pin == detail::record::unpinned || r->pin == worker;
  });
}

// Lower is earlier.
std::uint64_t task_order::rank(const detail::record& r) {
  const actor& a = actor_of(body_of(r));
  if (setup_.how == rule::drawn) return ~a.priority;
  return a.places != nullptr && a.steps < a.places->size() ? (*a.places)[a.steps] : never;
}

// Of equal ones the one that was ready first; pool_.size() if there is none.
std::size_t task_order::first_for(unsigned worker) {
  std::size_t best = pool_.size();
  std::uint64_t best_rank = never;
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    const detail::record& r = *pool_[i];
    if (r.pin != detail::record::unpinned && r.pin != worker) continue;
    const std::uint64_t at = rank(r);
    if (best != pool_.size() && at >= best_rank) continue;
    best = i;
    best_rank = at;
  }
  return best;
}

detail::record* task_order::take(unsigned worker) {
  std::size_t first = first_for(worker);
  if (first == pool_.size()) return nullptr;
  if (setup_.how == rule::drawn && pool_.size() > 1) {
    const std::uint64_t now = choices_++;
    for (; demoted_ < moments_.size() && moments_[demoted_] <= now; first = first_for(worker)) {
      WEFT_ASSERT(first < pool_.size());
      ++demoted_;
      actor_of(body_of(*pool_[first])).priority = moments_.size() - demoted_;
    }
  }
  detail::record* r = pool_[first];
  pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(first));
  return r;
}

}  // namespace weft::sched
