// What an ordered section costs and gains on real cores, beside the same work in a plain loop and in the serial
// executor. All take turns in one process, so that what disturbs one disturbs its rivals; a figure is the median of the
// rounds, and each pass has its result compared with the loop's.
//
//   ordered transactions [WORKERS [ROUNDS [BODY_NS]]]   0, 10 and 100 % of them change one word that all of these read
//   ordered access [ROUNDS]                             cycles for each tracked access, in cache: by one worker, whose
//   bodies always come first; and by one whose bodies all run ahead of one that another worker holds back
//   ordered losses [WORKERS [ROUNDS]]                   programs that cannot gain: time over that of the serial
//   executor
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/measure.hpp"
#include "weft/weft.hpp"

namespace weft::bench {
namespace {

// A bank: a transaction reads some accounts, computes, and changes them. `hot` percent change the first account, too.
struct bank {
  std::uint64_t transactions;
  unsigned hot;
  unsigned accesses;  // half of them loads, half stores, to words of a transaction's own few
  std::uint64_t rounds;
  bool chained = false;  // each creates the next
  std::vector<std::uint64_t> accounts = std::vector<std::uint64_t>(4096);

  void reset() {
    for (std::size_t i = 0; i < accounts.size(); ++i) accounts[i] = i;
  }
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t x) noexcept {
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 31;
  }
  template <class X> void transact(X& x, std::uint64_t i) {
    const std::uint64_t draw = mixed(i + 1);
    const bool is_hot = draw % 100 < hot;
    std::uint64_t sum = is_hot ? x.load(accounts[0]) : 0;
    const std::size_t first = 64 + 8 * (draw >> 40) % 4000;
    for (unsigned a = 0; a < accesses / 2; ++a) sum += x.load(accounts[first + a % 8]);
    spin(rounds);
    for (unsigned a = 0; a < accesses / 2; ++a) x.store(accounts[first + a % 8], mixed(sum + a));
    if (is_hot) x.store(accounts[0], sum);
  }
};

struct plain {
  static std::uint64_t load(const std::uint64_t& from) noexcept { return from; }
  static void store(std::uint64_t& to, std::uint64_t value) noexcept { to = value; }
};

void call(ordered_context& x, std::uint64_t now, bank* b) {
  b->transact(x, now);
  if (b->chained && now + 1 < b->transactions) x.at(now + 1, call, b);
}

double in_loop(bank& b) {
  b.reset();
  plain x;
  const auto begin = steady::now();
  for (std::uint64_t i = 0; i < b.transactions; ++i) b.transact(x, i);
  return nanoseconds(steady::now() - begin).count();
}

// CPU time of the process: what a gain is paid with, and what it could be where nobody else uses the cores.
[[nodiscard]] double cpu_ns() noexcept {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return 1e9 * static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e3 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

struct pass {
  double ns;
  double cpu;
  ordered_counts counts;
};
pass in_section(bank& b, runtime& rt, const ordered_options& o, const std::vector<std::uint64_t>& expected) {
  b.reset();
  const double cpu = cpu_ns();
  const auto begin = steady::now();
  ordered q(rt, o);
  for (std::uint64_t i = 0; i < (b.chained ? 1 : b.transactions); ++i) q.at(i, call, &b);
  q.run();
  const double ns = nanoseconds(steady::now() - begin).count();
  if (b.accounts != expected || q.counts().committed != b.transactions) {
    std::fprintf(stderr, "ordered: '%s' has left what the loop does not leave\n", o.executor);
    std::exit(1);
  }
  return {ns, cpu_ns() - cpu, q.counts()};
}

// The same without any order, as two tasks for each worker: what these cores give at best. Its result is nobody's.
double without_order(bank& b, runtime& rt) {
  const std::uint64_t parts = 2 * rt.workers();
  const auto begin = steady::now();
  for (std::uint64_t p = 0; p < parts; ++p)
    rt.submit([&b, p, parts] {
      bank own{.transactions = 0, .hot = b.hot, .accesses = b.accesses, .rounds = b.rounds};
      plain x;
      for (std::uint64_t i = p; i < b.transactions; i += parts) own.transact(x, i);
    });
  rt.wait();
  return nanoseconds(steady::now() - begin).count();
}

struct figures {
  double loop, free, serial, speculative, cpu;  // nanoseconds a transaction, medians
  ordered_counts counts;                        // of the last pass
};
figures compare(bank b, runtime& rt, int rounds, const ordered_options& o = {.executor = "speculative"}) {
  std::vector<double> loop, free, serial, speculative, cpu;
  figures f{};
  const double n = static_cast<double>(b.transactions);
  for (int r = 0; r < rounds; ++r) {
    loop.push_back(in_loop(b) / n);
    const std::vector<std::uint64_t> expected = b.accounts;
    free.push_back(without_order(b, rt) / n);
    serial.push_back(in_section(b, rt, {.executor = "serial"}, expected).ns / n);
    const pass p = in_section(b, rt, o, expected);
    speculative.push_back(p.ns / n);
    cpu.push_back(p.cpu / n);
    f.counts = p.counts;
  }
  f.loop = median(loop);
  f.free = median(free);
  f.serial = median(serial);
  f.speculative = median(speculative);
  f.cpu = median(cpu);
  return f;
}

void print(const std::string& what, const figures& f) {
  std::printf("%-30s %9.1f %9.1f %9.1f %9.1f %9.1f  %5.2fx %5.2fx %8llu %8llu %6zu\n", what.c_str(), f.loop, f.free,
              f.serial, f.speculative, f.cpu, f.serial / f.speculative, f.counts.serial_seconds / f.counts.seconds,
              static_cast<unsigned long long>(f.counts.started), static_cast<unsigned long long>(f.counts.in_order),
              f.counts.window);
}
void print_head() {
  std::printf("%-30s %9s %9s %9s %9s %9s  %6s %6s %8s %8s %6s\n", "ns a transaction", "loop", "free", "serial",
              "specul.", "its CPU", "gain", "own", "started", "in order", "window");
}

void transactions(unsigned workers, int rounds, double body_ns) {
  runtime rt({.workers = workers});
  const auto spins = static_cast<std::uint64_t>(body_ns / calibrate_spin());
  const auto count = static_cast<std::uint64_t>(2e8 / body_ns);
  print_head();
  for (const unsigned hot : {0u, 10u, 100u}) {
    const bank b{.transactions = count, .hot = hot, .accesses = 10, .rounds = spins};
    print(std::to_string(hot) + " % conflicts", compare(b, rt, rounds));
    print(std::to_string(hot) + " % conflicts, always ahead",
          compare(b, rt, rounds, {.executor = "speculative", .always_ahead = true}));
  }
}

[[nodiscard]] double cycles_per_ns() {
#if defined(__x86_64__)
  const auto begin = steady::now();
  const std::uint64_t first = __builtin_ia32_rdtsc();
  while (nanoseconds(steady::now() - begin).count() < 2e7) {
  }
  return static_cast<double>(__builtin_ia32_rdtsc() - first) / nanoseconds(steady::now() - begin).count();
#else
  return 1;  // nanoseconds, then
#endif
}

// The first transaction lasts until all others have run ahead of it, on another worker. What they take, publishing and
// commits included, in nanoseconds.
struct held_back {
  bank* all;
  std::atomic<std::uint64_t> ran{0};
  steady::time_point began{};
};
void call_behind(ordered_context& x, std::uint64_t now, held_back* h) {
  if (now == 0) {
    while (h->ran < h->all->transactions) std::this_thread::yield();
    return;
  }
  if (now == 1) h->began = steady::now();
  h->all->transact(x, now - 1);
  ++h->ran;
}
double behind_one(bank& b, runtime& rt) {
  in_loop(b);
  const std::vector<std::uint64_t> expected = b.accounts;
  b.reset();
  held_back h{&b};
  ordered q(rt, {.executor = "speculative", .window = 2 * b.transactions, .always_ahead = true});
  for (std::uint64_t i = 0; i <= b.transactions; ++i) q.at(i, call_behind, &h);
  q.run();
  const double ns = nanoseconds(steady::now() - h.began).count();
  if (b.accounts != expected || q.counts().started != b.transactions + 1) {
    std::fprintf(stderr, "ordered: what ran behind one body has left what the loop does not leave, or ran twice\n");
    std::exit(1);
  }
  return ns;
}
// A transaction with many accesses against one with few, in turns, so that what a call costs does not count, nor what
// the loop takes. Nanoseconds for each access more: the median of the rounds.
template <class Pass> double for_each_access(int rounds, std::uint64_t transactions, Pass pass) {
  bank few{.transactions = transactions, .hot = 0, .accesses = 2, .rounds = 0};
  bank many = few;
  many.accesses = 16;  // each word once
  std::vector<double> extra;
  for (int r = 0; r < rounds; ++r) {
    const double loop = in_loop(many) - in_loop(few);
    extra.push_back((pass(many) - pass(few) - loop) / static_cast<double>(14 * transactions));
  }
  return median(extra);
}
void access_cost(int rounds) {
  const double cycles = cycles_per_ns();
  std::printf("cycles for each access beyond those of the loop, each word once in a call\n");
  const auto row = [cycles](const char* what, double ns) { std::printf("  %-16s %6.1f\n", what, ns * cycles); };
  runtime one({.workers = 1});
  const auto alone = [&one](const ordered_options& o) {
    return [&one, o](bank& b) {
      in_loop(b);
      const std::vector<std::uint64_t> expected = b.accounts;
      return in_section(b, one, o, expected).ns;
    };
  };
  row("serial executor", for_each_access(rounds, 20'000, alone({.executor = "serial"})));
  row("default", for_each_access(rounds, 20'000, alone({.executor = "speculative"})));
  row("coming first", for_each_access(rounds, 20'000, alone({.executor = "speculative", .always_ahead = true})));
  runtime two({.workers = 2});
  row("behind another", for_each_access(10 * rounds, 500, [&two](bank& b) { return behind_one(b, two); }));
}

void losses(unsigned workers, int rounds) {
  runtime rt({.workers = workers});
  const double spin_ns = calibrate_spin();
  print_head();
  for (const bool chained : {false, true})
    for (const unsigned hot : {0u, 30u, 100u})
      for (const double body_ns : {0.0, 300.0, 3'000.0, 30'000.0}) {
        const bank b{.transactions = static_cast<std::uint64_t>(5e7 / (body_ns + 100)),
                     .hot = hot,
                     .accesses = 10,
                     .rounds = static_cast<std::uint64_t>(body_ns / spin_ns),
                     .chained = chained};
        print(std::to_string(static_cast<int>(body_ns)) + " ns, " + std::to_string(hot) + " %" +
                  (chained ? ", a chain" : ""),
              compare(b, rt, rounds));
      }
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  if (what == "transactions" && number(2, 2) > 0 && number(4, 10'000) > 0)
    weft::bench::transactions(static_cast<unsigned>(number(2, 2)), number(3, 9), number(4, 10'000));
  else if (what == "access")
    weft::bench::access_cost(number(2, 21));
  else if (what == "losses" && number(2, 2) > 0)
    weft::bench::losses(static_cast<unsigned>(number(2, 2)), number(3, 5));
  else {
    std::fprintf(stderr, "usage: ordered transactions [WORKERS [ROUNDS [BODY_NS]]] | access [ROUNDS] | "
                         "losses [WORKERS [ROUNDS]]\n");
    return 2;
  }
  return 0;
}
