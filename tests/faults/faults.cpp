// Faults injected: each front's program (fronts.cpp) with the k-th call of a kind failing, for every k, once and from
// there on; a process for each, forked from one that is warm, so that thousands take seconds. The run ends with the
// right result, or with an error that the headers name; without a hang, a crash, a task that is lost, or a block of
// memory; and the same program after it, without a fault, is right.
//
//   weft_faults                         a sample by WEFT_FAULTS_SEED (the day's number), one k of WEFT_FAULTS_EACH
//   weft_faults --whole                 every k; of more than 1,000 of one kind some 500. --at-once N: N fronts at a
//   time weft_faults --front F --call C --machine M --k K [--from-on]    one run: what a failure prints to be run again
//   weft_faults --once [--machine M]    each front once, no call fails on command: for limits set from outside
//   weft_faults --check README.md       whether the page has each front, and no run fell
//   weft_faults --whole --write README.md                    writes the page's table
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "inject.hpp"
#include "ledger.hpp"
#include "page.hpp"

namespace {

using faults::call;
using faults::front;
using faults::plan;

enum class ending { right, told, fell };
constexpr long many = 1000;  // k's of one kind: of more some hundreds are drawn
constexpr int status_right = 0, status_told = 10, status_wrong = 11;

struct asked {
  bool whole = false, once = false;
  std::string_view front, call, machine, check, write;
  long k = 0;
  bool from_on = false;
  std::size_t at_once = 1;
  unsigned patience_s = 300;  // a guard against hangs, and no judge of speed
};

using faults::tally;

[[nodiscard]] weft::options options_on(std::string_view machine) {
  return {.workers = machine == "host" ? 2u : 4u,
          .machine = machine.data(),
          .stack_kib = 64,
          .stuck_ms = 0,
          .trace_mib = 1};
}

// One run in this process. Returns whether everything is as it must be.
[[nodiscard]] bool run(const front& f, std::string_view machine, const plan& p, bool& told) {
  faults::ledger l;
  const weft::options o = options_on(machine);
  faults::arm(p);
  l.tries([&] { f.run(l, o); });
  faults::disarm();
  told = l.anything_told();
  if (told && p.which == call::count && std::string_view(f.name) != "failures" && std::string_view(f.name) != "cancels")
    l.require(false, ("told without a fault: " + l.said).c_str());
  return l.balances();
}

// In a child of the warm process: with the fault, and once more without.
[[noreturn]] void run_as_child(const front& f, std::string_view machine, const plan& p, long lost_in_good_run) {
  const long before = faults::live_blocks();
  bool told = false, told_again = false;
  bool right = run(f, machine, p, told);
  const long lost = faults::live_blocks() - before;
  if (lost > lost_in_good_run) {
    std::fprintf(stderr, "  wrong: %ld blocks are left, %ld after a good run\n", lost, lost_in_good_run);
    right = false;
  }
  if (right && !run(f, machine, {}, told_again)) {
    std::fprintf(stderr, "  wrong: the run after it, without a fault\n");
    right = false;
  }
  std::fflush(nullptr);
  ::_exit(!right ? status_wrong : told ? status_told : status_right);
}

struct outcome {
  ending how = ending::fell;
  std::string what;
};

// Waits for `child` and reads what it says.
[[nodiscard]] outcome await(pid_t child, int from, unsigned patience_s) {
  outcome o;
  std::string said;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(patience_s);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    pollfd one{from, POLLIN, 0};
    if (::poll(&one, 1, static_cast<int>(left.count())) <= 0) continue;
    char text[4096];
    const ssize_t n = ::read(from, text, sizeof text);
    if (n <= 0) break;
    said.append(text, static_cast<std::size_t>(n));
  }
  const bool hung = std::chrono::steady_clock::now() >= until;
  if (hung) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  // The one end that README.md names: a wait that has no stack to go on with.
  const bool no_stack = said.find("weft: no memory for one more stack") != std::string::npos;
  if (hung)
    o.what = "hangs\n" + said;
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && no_stack)
    o.how = ending::told;
  else if (WIFSIGNALED(status))
    o.what = "killed by signal " + std::to_string(WTERMSIG(status)) + "\n" + said;
  else if (WEXITSTATUS(status) == status_right)
    o.how = ending::right;
  else if (WEXITSTATUS(status) == status_told)
    o.how = ending::told;
  else
    o.what = "wrong\n" + said;
  return o;
}

[[nodiscard]] outcome run_forked(const front& f, std::string_view machine, const plan& p, long lost,
                                 unsigned patience_s) {
  int ends[2];
  if (::pipe(ends) != 0) return {ending::fell, "no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    run_as_child(f, machine, p, lost);
  }
  ::close(ends[1]);
  outcome o = await(child, ends[0], patience_s);
  ::close(ends[0]);
  return o;
}

void print_failure(const front& f, std::string_view machine, const plan& p, const outcome& o) {
  const std::string_view kind = faults::call_names[static_cast<std::size_t>(p.which)];
  std::printf("FELL: weft_faults --front %s --machine %.*s --call %.*s --k %ld%s: %s\n", f.name,
              static_cast<int>(machine.size()), machine.data(), static_cast<int>(kind.size()), kind.data(), p.k,
              p.from_on ? " --from-on" : "", o.what.c_str());
}

// The k of a kind that are tried.
[[nodiscard]] std::vector<long> chosen(const asked& a, long points, std::mt19937_64& random) {
  std::vector<long> all;
  if (a.k != 0) return {a.k};
  const char* const each_text = std::getenv("WEFT_FAULTS_EACH");
  unsigned long each = a.whole ? 1 : each_text != nullptr ? std::strtoul(each_text, nullptr, 10) : 40;
  if (points > many) each *= static_cast<unsigned long>(points) / (many / 2);
  for (long k = 1; k <= points; ++k)
    if (each <= 1 || random() % each == 0) all.push_back(k);
  return all;
}

// Memory keeps a shelf for each thread at each node that was ever busy beside others. Who is busy beside whom is
// chance, so that all shelves are made before anybody counts blocks.
void make_shelves() {
  constexpr int threads = 8;
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
  std::barrier all_there(threads);
  std::vector<std::thread> busy;
  for (int t = 0; t < threads; ++t)
    busy.emplace_back([&] {
      for (int core = 0; core < CPU_SETSIZE; ++core) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        if (CPU_ISSET(core, &all) == 0 || ::sched_setaffinity(0, sizeof one, &one) != 0) continue;
        weft::detail::give_back(weft::detail::take_here(64, 8), 64, 8);
      }
      all_there.arrive_and_wait();
    });
  for (std::thread& t : busy) t.join();
}

// In a process of its own, for each front and machine.
[[nodiscard]] tally try_front(const front& f, std::string_view machine, const asked& a, std::uint64_t seed) {
  tally t;
  bool told = false;
  bool right = true;
  make_shelves();
  for (int warm = 0; warm < 2; ++warm) right = run(f, machine, {}, told) && right;
  const long before = faults::live_blocks();
  right = run(f, machine, {}, told) && right;
  const long lost = faults::live_blocks() - before;
  if (!right)
    std::printf("FELL: %s on %.*s without any fault\n", f.name, static_cast<int>(machine.size()), machine.data()),
        ++t.fell;
  for (std::size_t c = 0; c < std::size(t.points); ++c) t.points[c] = faults::counted(static_cast<call>(c));
  std::mt19937_64 random(seed);
  for (std::size_t c = 0; c < std::size(t.points); ++c) {
    if (!a.call.empty() && a.call != faults::call_names[c]) continue;
    for (const long k : chosen(a, t.points[c], random))
      for (const bool from_on : {false, true}) {
        if (a.k != 0 && from_on != a.from_on) continue;
        const plan p{static_cast<call>(c), k, from_on};
        const outcome o = run_forked(f, machine, p, lost, a.patience_s);
        ++t.runs;
        ++(o.how == ending::right ? t.right : o.how == ending::told ? t.told : t.fell);
        if (o.how == ending::fell) print_failure(f, machine, p, o);
        std::fflush(stdout);
      }
  }
  return t;
}

// A child that does try_front(); what it counted comes through a pipe.
struct server {
  std::string_view front, machine;
  pid_t child = -1;
  int from = -1;
};
[[nodiscard]] server serve(const front& f, std::string_view machine, const asked& a, std::uint64_t seed) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    const tally t = try_front(f, machine, a, seed);
    std::fflush(stdout);
    if (::write(ends[1], &t, sizeof t) != sizeof t) ::_exit(1);
    ::_exit(0);
  }
  ::close(ends[1]);
  return {f.name, machine, child, ends[0]};
}
[[nodiscard]] tally what_came_of(const server& s) {
  tally t;
  const bool whole = ::read(s.from, &t, sizeof t) == sizeof t;
  ::close(s.from);
  int status = 0;
  ::waitpid(s.child, &status, 0);
  if (whole && status == 0) return t;
  std::printf("FELL: %.*s on %.*s without any fault, status %d\n", static_cast<int>(s.front.size()), s.front.data(),
              static_cast<int>(s.machine.size()), s.machine.data(), status);
  t = {};
  ++t.fell;
  return t;
}

[[nodiscard]] asked parse(int argc, char** argv) {
  asked a;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto next = [&] { return i + 1 < argc ? std::string_view(argv[++i]) : std::string_view(); };
    if (word == "--whole")
      a.whole = true;
    else if (word == "--once")
      a.once = true;
    else if (word == "--check")
      a.check = next();
    else if (word == "--write")
      a.write = next();
    else if (word == "--from-on")
      a.from_on = true;
    else if (word == "--front")
      a.front = next();
    else if (word == "--call")
      a.call = next();
    else if (word == "--machine")
      a.machine = next();
    else if (word == "--k")
      a.k = std::strtol(next().data(), nullptr, 10);
    else if (word == "--at-once")
      a.at_once = std::max<std::size_t>(1, std::strtoul(next().data(), nullptr, 10));
    else if (word == "--patience")
      a.patience_s = static_cast<unsigned>(std::strtoul(next().data(), nullptr, 10));
    else
      std::fprintf(stderr, "weft_faults: unknown: %s\n", argv[i]), std::exit(2);
  }
  return a;
}

void print(std::string_view name, std::string_view machine, const tally& t) {
  std::printf("%-12.*s %-8.*s %6ld runs: %6ld right, %6ld with an error, %4ld fell\n", static_cast<int>(name.size()),
              name.data(), static_cast<int>(machine.size()), machine.data(), t.runs, t.right, t.told, t.fell);
  std::fflush(stdout);
}

// Each front once, in this process: where the system itself refuses something. Status 0: all right, or told.
[[nodiscard]] int run_once(const asked& a) {
  std::size_t count = 0;
  const front* const fronts = faults::fronts(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!a.front.empty() && a.front != fronts[i].name) continue;
    faults::ledger l;
    const weft::options o = options_on(a.machine.empty() ? "host" : a.machine);
    l.tries([&] { fronts[i].run(l, o); });
    if (!l.balances()) return std::printf("FELL: %s\n", fronts[i].name), 1;
    std::printf("%s: %s\n", fronts[i].name, l.anything_told() ? l.said.c_str() : "right");
    std::fflush(stdout);
  }
  return 0;
}

// A folder for what the runs write, gone with this.
class scratch {
 public:
  scratch() {
    if (::mkdtemp(path_.data()) == nullptr) std::perror("weft_faults"), std::exit(2);
    std::filesystem::current_path(path_);
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::current_path("/", ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "weft-faults-XXXXXX").string();
};

}  // namespace

int main(int argc, char** argv) {
  const asked a = parse(argc, argv);
  if (!a.check.empty()) return faults::page::check(std::string(a.check)) ? 0 : 1;
  if (a.once) {
    const scratch here;
    return run_once(a);
  }
  const char* const given = std::getenv("WEFT_FAULTS_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : static_cast<std::uint64_t>(std::time(nullptr) / 86'400);
  std::printf("replay: WEFT_FAULTS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  const std::string page = a.write.empty() ? "" : std::filesystem::absolute(a.write).string();
  const scratch here;
  tally all;
  faults::page written;
  std::size_t count = 0;
  const front* const fronts = faults::fronts(count);
  std::deque<server> under_way;
  const auto end_first = [&] {
    const server s = under_way.front();
    under_way.pop_front();
    const tally t = what_came_of(s);
    all.runs += t.runs, all.right += t.right, all.told += t.told, all.fell += t.fell;
    print(s.front, s.machine, t);
    written.add(s.front, s.machine, t);
  };
  for (std::size_t i = 0; i < count; ++i)
    for (const std::string_view machine : faults::page::machines) {
      if ((!a.front.empty() && a.front != fronts[i].name) || (!a.machine.empty() && a.machine != machine)) continue;
      if (under_way.size() == a.at_once) end_first();
      under_way.push_back(serve(fronts[i], machine, a, seed + i));
    }
  while (!under_way.empty()) end_first();
  print("all", "", all);
  if (!page.empty() && !written.write(page)) return 1;
  return all.fell == 0 ? 0 : 1;
}
