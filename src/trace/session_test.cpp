// Where a trace goes: what is refused when the runtime is made, what may be replaced, and that nothing is lost when it
// cannot be written.
#include "trace/session.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <optional>

#include "base/part_file.hpp"
#include "capture.hpp"
#include "sanitized.hpp"
#include "trace_file.hpp"
#include "weft/weft.hpp"

namespace weft {
namespace {

std::string refusal(const std::string& path) {
  try {
    const runtime rt({.machine = "virtual", .trace = path.c_str()});
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void run(const char* path, int tasks) {
  runtime rt({.machine = "virtual", .trace = path});
  for (int i = 0; i < tasks; ++i) rt.submit([] {});
}

// While this lives, no file grows beyond `bytes`: the same as a full disk, but that the system sends a signal that ends
// who does not expect it.
class small_disk {
 public:
  explicit small_disk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~small_disk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("trace session: a place that cannot be written is refused when the runtime is made") {
  const trace_place place;
  const std::string folder = place.path("");
  CHECK(refusal(place.path("no/such/folder.weft")) ==
        "weft: cannot write a trace to '" + place.path("no/such/folder.weft") + "': No such file or directory");
  CHECK(refusal(place.path(".")).ends_with("it is a folder; name a file in it"));
  CHECK(refusal("/dev/null").ends_with("'/dev/null': it is no regular file"));
  CHECK(refusal("") == "weft: cannot write a trace to '': it has no name");
  CHECK(place.files().empty());
  if (::geteuid() != 0) {
    ::chmod(folder.c_str(), 0500);
    CHECK(refusal(place.path()).ends_with("Permission denied"));
    ::chmod(folder.c_str(), 0700);
  }
}

TEST_CASE("trace session: only a trace or an empty file is replaced") {
  const trace_place place;
  const std::string text = place.path("text");
  put(text, "somebody's work");
  CHECK(refusal(text).ends_with("there is a file that is no Weft trace; remove it or choose another name"));
  CHECK(content(text) == "somebody's work");
  const std::string other = place.path("other.db");
  put(other, "SQLite format 3" + std::string(200, '\0'));
  CHECK(refusal(other).ends_with("there is a file that is no Weft trace; remove it or choose another name"));
  const std::string empty = place.path("empty.weft");
  put(empty, "");
  run(empty.c_str(), 3);
  CHECK(trace_file(empty).number("SELECT count(*) FROM tasks") == 3);
  std::filesystem::copy_file(empty, place.path("again.weft"));
  run(place.path("again.weft").c_str(), 5);
  CHECK(trace_file(place.path("again.weft")).number("SELECT count(*) FROM tasks") == 5);
}

TEST_CASE("trace session: what a program counts of its tasks itself") {
  const trace_place place;
  const std::string path = place.path();
  {
    runtime rt({.workers = 1, .machine = "virtual", .trace = path.c_str()});
    const auto body = [&path](const char* name, std::uint64_t value) {
      trace::count(path.c_str(), 0, detail::self_out_of_line()->current->trace_id(), name, value);
    };
    for (std::uint64_t i = 1; i <= 3; ++i) rt.submit([=] { body(i == 2 ? "other" : "waits_ns", 10 * i); });
    rt.submit([&path] { trace::count(path.c_str(), 77, 1, "of no worker", 1); });
    trace::count(place.path("none.weft").c_str(), 0, 1, "of no runtime", 1);
  }
  const trace_file f(path);
  CHECK(f.rows("SELECT task, name, value FROM counters ORDER BY value") ==
        std::vector<std::vector<std::string>>{{"1", "waits_ns", "10"}, {"2", "other", "20"}, {"3", "waits_ns", "30"}});
}

TEST_CASE("trace session: what the main program computes is told from its submitting") {
  const trace_place place("own.weft");
  const std::string path = place.path();
  {
    runtime rt({.workers = 2, .machine = "virtual", .trace = path.c_str()});
    rt.submit([] {});
    rt.charge(5000);
    rt.submit([&rt] {
      rt.submit([] {});  // a body's: its time is the body's
      rt.wait();
    });
    rt.submit([] {});
    rt.charge(300);
    rt.charge(400);
    rt.wait();
    rt.charge(70'000);
    rt.wait();  // nothing to wait for
    rt.submit([] {});
  }
  const trace_file file(path);
  // Before the first submission nobody measured; behind the second wait the program computed nothing.
  CHECK(file.text("SELECT own_ns FROM tasks WHERE parent IS NULL ORDER BY id") == "0 5000 0 0");
  CHECK(file.text("SELECT own_ns FROM tasks WHERE parent IS NOT NULL") == "NULL");
  CHECK(file.text("SELECT DISTINCT own_ns FROM waits WHERE task IS NOT NULL") == "NULL");
  const auto wait = file.number("SELECT own_ns FROM waits WHERE task IS NULL");
  CHECK((wait >= 700 && wait < 700 + 2000));  // with what the call to wait() itself took
  const auto passed = file.number("SELECT own_ns FROM passed WHERE task IS NULL ORDER BY time_ns LIMIT 1");
  CHECK((passed >= 70'000 && passed < 72'000));
}

TEST_CASE("trace session: the main program's own work is counted once, beside tasks of the runtime's own") {
  const trace_place place("own.weft");
  const std::string path = place.path();
  {
    reduction<long> sum;
    runtime rt({.workers = 2, .machine = "virtual", .trace = path.c_str()});
    for (int i = 0; i < 4; ++i) {
      rt.charge(1000);
      rt.submit(reduce(sum), [](long& s) { ++s; });
    }
    rt.charge(1000);
    rt.submit(read(sum), [](const long&) {});  // what reduced is applied before it, by a task of the runtime's own
    rt.wait();
  }
  const trace_file file(path);
  CHECK(file.number("SELECT count(*) FROM tasks WHERE own_ns IS NULL") == 0);
  CHECK(file.number("SELECT count(*) FROM tasks") == 6);
  CHECK(file.number("SELECT sum(own_ns) FROM tasks") == 4000);
}

TEST_CASE("trace session: runtimes that are given one name write one file each") {
  const trace_place place("run.weft");
  const std::string path = place.path(), bare = place.path("bare");
  {
    runtime first({.machine = "virtual", .trace = path.c_str()});
    runtime second({.machine = "virtual", .trace = path.c_str()});
    CHECK(std::string(first.trace_path()) == path);
    CHECK(std::string(second.trace_path()) == place.path("run.2.weft"));
    first.submit([] {});
    CHECK(runtime({.machine = "virtual"}).trace_path() == nullptr);
  }
  run(path.c_str(), 2);
  run(bare.c_str(), 1);
  run(bare.c_str(), 1);
  CHECK(place.files() == std::vector<std::string>{"bare", "bare.2", "run.2.weft", "run.3.weft", "run.weft"});
  CHECK(trace_file(path).number("SELECT count(*) FROM tasks") == 1);
  CHECK(trace_file(place.path("run.2.weft")).number("SELECT count(*) FROM tasks") == 0);
  CHECK(trace_file(place.path("run.3.weft")).number("SELECT count(*) FROM tasks") == 2);
}

TEST_CASE("trace session: a full disk is an error, and the old trace stays") {
  const trace_place place;
  const std::string path = place.path();
  put(path, "");
  std::string before, told, said;
  {
    runtime rt({.machine = "virtual", .trace = path.c_str()});
    rt.submit([] {});
    rt.wait();
    rt.write_trace();
    before = content(path);
    for (int i = 0; i < 20'000; ++i) rt.submit([] {});
    rt.wait();
    const small_disk disk(200'000);
    try {
      rt.write_trace();
    } catch (const error& e) {
      told = e.what();
    }
    CHECK(content(path) == before);
    CHECK(place.files().size() == 2);  // and what is recorded, until the runtime ends
  }
  CHECK(told.starts_with("weft: cannot write a trace to '" + path + "': "));
  CHECK(told.ends_with("(File too large)"));
  CHECK(trace_file(path).number("SELECT count(*) FROM tasks") == 20'001);  // the end of the runtime had room again
  {
    const small_disk disk(20'000);
    said = stderr_of([&] { run(place.path("u.weft").c_str(), 20'000); });
  }
  CHECK(said.find("weft: cannot write a trace to '" + place.path("u.weft") + "': ") == 0);
  CHECK(place.files() == std::vector<std::string>{"t.weft"});
}

TEST_CASE("trace session: what could not be written at the end stays, and a trace is made of it") {
  const trace_place place;
  const std::string path = place.path();
  const std::string said = stderr_of([&] {
    std::optional<runtime> rt(std::in_place, options{.machine = "virtual", .trace = path.c_str()});
    for (int i = 0; i < 2'000; ++i) rt->submit([] {});
    rt->wait();
    const small_disk disk(10'000);
    rt.reset();
  });
  REQUIRE(place.files().size() == 1);
  const std::string left = place.path(place.files()[0]);
  CHECK(base::abandoned_parts(path) == std::vector<std::string>{left});
  CHECK(said.find("weft: what was recorded is in '" + left + "'; `weft recover '" + path + "'`") != std::string::npos);
  CHECK(content(left).starts_with("Weft journal"));
}

TEST_CASE("trace session: links that a stranger has laid are not followed") {
  const trace_place place;
  const std::string path = place.path(), victim = place.path("victim");
  put(victim, "precious");
  // The names that were foreseen once.
  const std::string foreseen = path + ".part-" + std::to_string(::getpid());
  REQUIRE(::symlink(victim.c_str(), foreseen.c_str()) == 0);
  run(path.c_str(), 3);
  CHECK(content(victim) == "precious");
  CHECK(trace_file(path).number("SELECT count(*) FROM tasks") == 3);
}

TEST_CASE("trace session: writing early and again") {
  const trace_place place;
  const std::string path = place.path();
  {
    runtime rt({.machine = "virtual", .trace = path.c_str()});
    rt.submit([] {});
    rt.write_trace();
    CHECK(trace_file(path).text("SELECT outcome, worker, started_ns, finished_ns FROM tasks") ==
          "not run|NULL|NULL|NULL");
    rt.wait();
    rt.write_trace();
    CHECK(trace_file(path).text("SELECT outcome FROM tasks") == "done");
    std::filesystem::remove(path);
  }
  CHECK(place.files().empty());  // nothing came after the last writing
  const std::string late = place.path("late.weft");
  {
    runtime rt({.machine = "virtual", .trace = late.c_str()});
    rt.submit([] {});
    rt.wait();
    rt.write_trace();
    rt.submit([] {});
  }
  CHECK(trace_file(late).text("SELECT outcome FROM tasks") == "done done");
  runtime without({.machine = "virtual"});
  CHECK_THROWS_WITH_AS(without.write_trace(),
                       "weft: this runtime records no trace; give it the option trace, or WEFT_TRACE", error);
}

TEST_CASE("trace session: a child after fork() leaves the parent's trace alone") {
  const trace_place place;
  const std::string path = place.path();
  {
    runtime rt({.workers = 2, .machine = "host", .trace = path.c_str()});
    rt.submit([] {});
    rt.wait();
    // A sanitizer does not survive it: what other threads have locked of its own the child finds locked.
    const pid_t child = sanitized ? -1 : ::fork();
    if (child == 0) {
      rt.~runtime();
      ::_exit(0);
    }
    int status = 0;
    if (child > 0) ::waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(place.files().size() == 1);  // what is recorded; no trace yet
  }
  CHECK(trace_file(path).verdict().empty());
}

}  // namespace weft
