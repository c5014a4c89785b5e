// See recover.hpp.
#include "recover.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "base/part_file.hpp"
#include "trace/collect.hpp"
#include "trace/journal.hpp"
#include "trace/writer.hpp"
#include "weft/clause.hpp"
#include "weft/error.hpp"

namespace weft::tool::trace {

namespace {

namespace made = weft::trace;

constexpr std::uint64_t writers_max = 1 << 16, places_max = 1 << 16, nodes_max = 1 << 10;

// The file as memory, and nobody else's: what is wrong in it is put right here.
class mapped {
 public:
  explicit mapped(const std::string& path) : path_(path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat what {};
    if (file < 0 || ::fstat(file, &what) != 0) fail(std::strerror(errno));
    const bool busy = base::has_writer(file);
    bytes_ = static_cast<std::size_t>(what.st_size) / made::block_bytes * made::block_bytes;
    if (S_ISREG(what.st_mode) && bytes_ != 0 && !busy) {
      void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
      if (at != MAP_FAILED) at_ = static_cast<std::byte*>(at);
    }
    const int why = errno;
    ::close(file);
    if (at_ != nullptr) return;
    fail(busy                     ? "is being written by a program that runs; its trace is there when that has ended"
         : !S_ISREG(what.st_mode) ? "is no plain file"
         : bytes_ == 0            ? "has nothing in it"
                                  : std::strerror(why));
  }
  ~mapped() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
  }
  mapped(const mapped&) = delete;
  mapped& operator=(const mapped&) = delete;
  [[nodiscard]] std::size_t blocks() const noexcept { return bytes_ / made::block_bytes; }
  [[nodiscard]] made::block& operator[](std::size_t i) const noexcept {
    return *reinterpret_cast<made::block*>(at_ + i * made::block_bytes);
  }
  [[noreturn]] void fail(const std::string& why) const { throw weft::error(path_ + ": " + why); }

 private:
  std::string path_;
  std::byte* at_ = nullptr;
  std::size_t bytes_ = 0;
};

struct writer {
  std::vector<made::block*> blocks;
  std::uint64_t lost = 0;
  std::vector<std::string> names{std::string()};
  std::unordered_map<std::uint32_t, std::string> handles;
};

[[nodiscard]] bool is_access_kind(std::uint8_t code) noexcept {
  constexpr std::uint8_t user_type = 128, user_types = 24;
  return code >= user_type
             ? code - user_type >= 1 && code - user_type <= user_types
             : code == detail::kind_read || code == detail::kind_write || code == detail::kind_add ||
                   code == detail::kind_concurrent || code == detail::kind_reduce || code == detail::kind_resource;
}

class reader {
 public:
  explicit reader(const std::string& path) : file_(path) {
    if (std::memcmp(&file_[0].head, made::journal_magic, sizeof made::journal_magic) != 0)
      file_.fail("is no journal of this version of Weft");
    for (std::size_t i = 1; i < file_.blocks(); ++i) {
      made::block& b = file_[i];
      if (b.head.kind == made::block_kind::words) read_words(b);
      if (b.head.kind == made::block_kind::events && b.head.writer < writers_max)
        of(b.head.writer).blocks.push_back(&b);
    }
  }

  void write(const std::string& trace) {
    made::facts about = facts();
    const weft::place::tree places = places_of(about);
    about.places = &places;
    of(places.workers() + 1);  // at least so many: all workers, the reserve, threads outside
    made::shared_state shared(0);
    std::vector<std::unique_ptr<made::recorder>> own;
    std::vector<made::recorder*> all;
    for (writer& w : writers_) {
      std::sort(w.blocks.begin(), w.blocks.end(),
                [](const auto* a, const auto* b) { return a->head.turn < b->head.turn; });
      for (made::block* b : w.blocks) {
        w.lost = std::max(w.lost, b->head.lost);
        for (made::event& e : b->events) put_right(e, about, places.workers());
      }
      own.push_back(std::make_unique<made::recorder>(shared, std::move(w.blocks), w.lost, std::move(w.names),
                                                     std::move(w.handles)));
      all.push_back(own.back().get());
    }
    about.duration_ns = last_ps_ <= start_ps_ ? 0 : (last_ps_ - start_ps_ + 999) / 1000;
    made::write_file(trace, about, made::collect(all, start_ps_, std::move(sections_)));
  }

 private:
  writer& of(std::uint32_t number) {
    if (number >= writers_.size()) writers_.resize(number + 1);
    return writers_[number];
  }

  void read_words(made::block& b) {
    for (std::size_t at = 0; at + sizeof(made::word_head) <= made::words_bytes;) {
      made::word_head head;
      std::memcpy(&head, b.words() + at, sizeof head);
      const std::size_t length = made::word_length(head.bytes);
      if (head.kind == made::word_kind::nothing || length > made::words_bytes - at) return;
      read_word(head.kind, {reinterpret_cast<const char*>(b.words() + at + sizeof head), head.bytes});
      at += length;
    }
  }

  template <class T> [[nodiscard]] static T cut(std::string_view& from) {
    T value{};
    if (from.size() < sizeof value) return value;
    std::memcpy(&value, from.data(), sizeof value);
    from.remove_prefix(sizeof value);
    return value;
  }

  void read_word(made::word_kind kind, std::string_view text) {
    switch (kind) {
    case made::word_kind::fact:
      if (const std::size_t end = text.find('\0'); end != std::string_view::npos)
        facts_[std::string(text.substr(0, end))] = text.substr(end + 1);
      break;
    case made::word_kind::name: {
      const auto by = cut<std::uint32_t>(text), number = cut<std::uint32_t>(text);
      if (by >= writers_max || number >= text_max) break;
      std::vector<std::string>& names = of(by).names;
      if (number >= names.size()) names.resize(number + 1);
      names[number] = text;
      break;
    }
    case made::word_kind::handle: {
      const auto by = cut<std::uint32_t>(text), id = cut<std::uint32_t>(text);
      if (by < writers_max) of(by).handles[id] = text;
      break;
    }
    case made::word_kind::section: {
      made::section_row s;
      s.id = static_cast<std::uint32_t>(cut<std::uint64_t>(text));
      s.section = static_cast<std::uint32_t>(cut<std::uint64_t>(text));
      s.window = cut<std::uint64_t>(text);
      s.always_ahead = cut<std::uint64_t>(text) != 0;
      for (std::uint64_t* field : {&s.began_ns, &s.ended_ns, &s.committed, &s.started, &s.again, &s.in_order})
        *field = cut<std::uint64_t>(text);
      s.serial_ns = cut<std::int64_t>(text);
      s.executor = text;
      sections_.push_back(std::move(s));
      break;
    }
    case made::word_kind::nothing: break;
    }
  }

  [[nodiscard]] std::string text(const char* key) const {
    const auto found = facts_.find(key);
    if (found == facts_.end()) file_.fail("has nothing to read yet: the program was killed as its runtime was made");
    return found->second;
  }
  [[nodiscard]] std::uint64_t number(const char* key) const {
    const std::string all = text(key);
    std::uint64_t value = 0;
    const auto [end, bad] = std::from_chars(all.data(), all.data() + all.size(), value);
    if (bad != std::errc() || end != all.data() + all.size()) file_.fail(std::string("says no number as ") + key);
    return value;
  }
  [[nodiscard]] std::vector<std::string> list(const char* key) const {
    std::vector<std::string> all;
    const std::string whole = text(key);
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t end = std::min(whole.find(',', at), whole.size());
      all.push_back(whole.substr(at, end - at));
      at = end + 1;
    }
    return all;
  }

  [[nodiscard]] made::facts facts() {
    made::facts f;
    f.recovered = true;
    f.program = text("program");
    f.machine = text("machine");
    f.policy = text("policy");
    f.creation = text("creation");
    f.schedule = text("schedule");
    f.seed = number("seed");
    f.window = number("window");
    f.bound = number("bound") != 0;
    f.counters = list("counters");
    start_ps_ = number("start_ps");
    return f;
  }

  // Of each worker: cpu, cache, node.
  [[nodiscard]] weft::place::tree places_of(const made::facts&) const {
    std::vector<weft::place::core> cores;
    std::vector<unsigned> numbers;
    for (const std::string& one : list("places")) {
      unsigned value = 0;
      const auto [end, bad] = std::from_chars(one.data(), one.data() + one.size(), value);
      if (bad != std::errc() || end != one.data() + one.size() || value >= places_max) file_.fail("has no places");
      numbers.push_back(value);
    }
    for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
      cores.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
    const bool right =
        !cores.empty() && cores.size() < writers_max &&
        std::all_of(cores.begin(), cores.end(), [](const weft::place::core& c) { return c.node < nodes_max; });
    if (!right) file_.fail("has no places");
    const auto workers = static_cast<unsigned>(cores.size());
    return {std::move(cores), workers};
  }

  // What cannot be becomes nothing.
  void put_right(made::event& e, const made::facts& about, unsigned workers) {
    using enum made::event_kind;
    if (e.kind == nothing) return;
    const bool on_worker = e.worker <= workers;  // or the reserve
    bool right = e.kind <= located;
    std::uint64_t last = e.time;
    switch (e.kind) {
    case access: right = is_access_kind(e.detail), last = 0; break;
    case ran: right = on_worker && e.detail <= 2, last = e.value; break;
    case waited: right = on_worker && e.detail <= 7, last = e.value; break;
    case passed: right = e.detail <= 7; break;
    case stolen: right = on_worker && e.detail <= 2; break;
    case team: right = e.detail <= 2, last = e.value; break;
    case strand: right = e.detail <= 3; break;
    case step: right = e.detail <= 12, last = 0; break;
    case pipeline: right = e.detail >= 1 && e.detail <= 64; break;
    case pass: right = e.time <= e.value, last = e.value; break;
    case call: right = on_worker && e.time <= e.value, last = 0; break;
    case loaded:
    case stored: right = e.worker <= 0xff, last = 0; break;
    case called:
    case crew:
    case helper:
    case more: last = 0; break;
    case counted: right = e.detail < about.counters.size(), last = 0; break;
    case slept:
    case stay: last = e.value; break;
    case located:
    case member: last = 0; break;
    default: break;
    }
    if (!right)
      e.kind = nothing;
    else
      last_ps_ = std::max(last_ps_, last);
  }

  static constexpr std::uint32_t text_max = 1 << 24;  // names of tasks

  mapped file_;
  std::map<std::string, std::string> facts_;
  std::vector<writer> writers_;
  std::vector<made::section_row> sections_;
  std::uint64_t start_ps_ = 0, last_ps_ = 0;
};

}  // namespace

bool is_journal(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  char begin[sizeof made::journal_magic] = {};
  struct stat what {};
  const bool read = ::fstat(file, &what) == 0 && S_ISREG(what.st_mode) &&
                    ::pread(file, begin, sizeof begin, 0) == static_cast<ssize_t>(sizeof begin);
  ::close(file);
  return read && std::memcmp(begin, made::journal_magic, sizeof begin) == 0;
}

std::string journal_of(const std::string& trace) {
  std::string newest;
  timespec when{};
  for (std::string& part : base::abandoned_parts(trace)) {
    struct stat what {};
    if (!is_journal(part) || ::stat(part.c_str(), &what) != 0) continue;
    const timespec t = what.st_mtim;
    if (!newest.empty() && (t.tv_sec < when.tv_sec || (t.tv_sec == when.tv_sec && t.tv_nsec < when.tv_nsec))) continue;
    when = t;
    newest = std::move(part);
  }
  return newest;
}

void recover(const std::string& journal, const std::string& trace) { reader(journal).write(trace); }

}  // namespace weft::tool::trace
