// Ranks without an MPI: the programs on threads, or on the nodes of a modelled cluster.
//   build/release/mpi/weft-ranks cholesky 32 32 --machine cluster-16x64
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cholesky.hpp"
#include "stencil.hpp"
#include "weft/modelled_ranks.hpp"
#include "weft/thread_ranks.hpp"

namespace weft::programs {
namespace {

struct arguments {
  std::string program = "cholesky";
  std::size_t a = 16, b = 32;
  const char* machine = nullptr;  // ranks are threads
  std::string change;
  int ranks = 0;
  unsigned workers = 0;
  bool quick = false;  // tiles are not computed
  bool grid = false;   // of ranks
  bool once = false;   // what binds is not tried
  std::vector<int> nodes{};  // to be tried one after the other
};

// What a core does in a second: of 2 GHz, eight multiply-adds in a cycle. Bodies say what they cost by that.
constexpr double flops_per_ns = 32;

double flops_here = 0;  // of this thread's ranks, which on a modelled cluster are all

void costs(double flops) {
  flops_here += flops;
  charge(flops / flops_per_ns);
}
double cubed(const tile& t) { return static_cast<double>(t.b) * static_cast<double>(t.b) * static_cast<double>(t.b); }

template <bool Computes> struct costed_kernels {
  static void potrf(tile& d) {
    costs(cubed(d) / 3);
    if (Computes) plain_kernels::potrf(d);
  }
  static void trsm(const tile& d, tile& x) {
    costs(cubed(d));
    if (Computes) plain_kernels::trsm(d, x);
  }
  static void gemm(const tile& l, const tile& r, tile& x) {
    costs(2 * cubed(x));
    if (Computes) plain_kernels::gemm(l, r, x);
  }
};

struct result {
  double ns = 0;
  std::uint64_t sum = 0, messages = 0, bytes = 0, tasks = 0;
  unsigned workers = 0;
  int ranks = 0;
};

// Times are of rank 0, from one fence to the next. Ranks of threads come one after another to add what they have seen.
void factor(cluster& w, const arguments& args, result& r) {
  tiled_matrix m = args.grid ? tiled_matrix(w, args.a, args.b, tiled_matrix::grid{}) : tiled_matrix(w, args.a, args.b);
  fill(w, m);
  w.fence();
  const cluster_counts before = w.counts();
  const double begin = w.on().now_ns();
  args.quick ? cholesky<costed_kernels<false>>(w, m) : cholesky<costed_kernels<true>>(w, m);
  w.fence();
  if (w.rank() == 0) r.ns = w.on().now_ns() - begin;
  r.messages += w.counts().messages_sent - before.messages_sent;
  r.bytes += w.counts().bytes_sent - before.bytes_sent;
  r.tasks += w.counts().tasks_here - before.tasks_here;
  if (!args.quick) r.sum = checksum(w, m);
}

void diffuse(cluster& w, const arguments& args, result& r) {
  stencil s(w, args.a, 16, 64);
  w.fence();
  const double begin = w.on().now_ns();
  for (std::size_t i = 0; i < args.b; ++i) s.step();
  w.fence();
  if (w.rank() == 0) r.ns = w.on().now_ns() - begin;
  r.messages += w.counts().messages_sent;
  r.bytes += w.counts().bytes_sent;
  r.tasks += w.counts().tasks_here;
  r.sum = s.checksum();
}

void run_on(const arguments& args, runtime& rt, transport& net, result& r) {
  cluster w(rt, net);
  r.workers = rt.workers();
  r.ranks = w.size();
  args.program == "cholesky" ? factor(w, args, r) : diffuse(w, args, r);
}

struct modelled_result {
  result of;
  network_report network;
  double seconds = 0, flops = 0;
};

modelled_result on_model(const arguments& args, const std::string& more) {
  modelled_result m;
  const std::string change = args.change + (args.change.empty() || more.empty() ? "" : ";") + more;
  flops_here = 0;
  const std::clock_t begin = std::clock();
  m.network = run_modelled_ranks({.machine = args.machine, .ranks = args.ranks, .change = change.c_str()},
                                 [&](transport& net) {
                                   runtime rt({.workers = args.workers});
                                   run_on(args, rt, net, m.of);
                                 });
  m.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  m.flops = flops_here;
  return m;
}

result on_threads(const arguments& args) {
  result r;
  // One after the other would be enough for the sums, but not for the ranks: each adds to its own.
  std::vector<result> each(static_cast<std::size_t>(std::max(args.ranks, 1)));
  run_ranks(static_cast<int>(each.size()), [&](transport& net) {
    runtime rt({.workers = std::max(args.workers, 1u), .machine = "host"});
    run_on(args, rt, net, each[static_cast<std::size_t>(net.rank())]);
  });
  r = each[0];
  for (std::size_t i = 1; i < each.size(); ++i) {
    r.messages += each[i].messages;
    r.bytes += each[i].bytes;
    r.tasks += each[i].tasks;
    if (each[i].sum != r.sum) throw std::runtime_error("the ranks have different results");
  }
  return r;
}

void print(const result& r, const char* of) {
  std::printf("ranks      %d, %u %s each\n", r.ranks, r.workers, r.workers == 1 ? "core" : "cores");
  std::printf("tasks      %llu\n", static_cast<unsigned long long>(r.tasks));
  std::printf("time       %.6g ms%s\n", r.ns / 1e6, of);
  const double megabytes = static_cast<double>(r.bytes) / 1e6;
  std::printf("messages   %llu, %.6g MB\n", static_cast<unsigned long long>(r.messages), megabytes);
  std::printf("checksum   %016llx\n", static_cast<unsigned long long>(r.sum));
}

// What the time is due to is tried, not guessed: the same once more with a network that costs next to nothing.
struct verdict {
  const char* binds;
  double free_ns, share;
};
double busy_share(const modelled_result& m) {
  return m.flops / flops_per_ns / (m.of.ns * static_cast<double>(m.of.workers) * m.of.ranks);
}
// The lines of a change but those that say what messages cost.
std::string without_costs(const std::string& change) {
  std::string rest;
  std::stringstream in(change);
  for (std::string line; std::getline(in, line, ';');) {
    const std::size_t at = std::min(line.find_first_not_of(" \t\n"), line.size());
    bool is_cost = false;
    for (const char* what : {"latency", "send", "receive", "gap", "link", "eager"})
      is_cost |= line.substr(at).starts_with("network." + std::string(what) + ".");
    if (!is_cost) rest += (rest.empty() ? "" : ";") + line;
  }
  return rest;
}
verdict what_binds(const arguments& args, const modelled_result& m) {
  const char* const else_binds = busy_share(m) > 0.8 ? "cores" : "critical path, or too few tasks";
  if (m.of.ranks == 1) return {else_binds, m.of.ns, 0};
  arguments others = args;
  others.change = without_costs(args.change);
  const modelled_result free =
      on_model(others, "network.latency.ns = 50; network.send.ns = 0; network.receive.ns = 0; network.gap.ns = 0;"
                       "network.link.GBps = 100000; network.eager.GiB = 1");
  if (free.of.sum != m.of.sum) throw std::runtime_error("another network has changed the result");
  const double share = 1 - free.of.ns / m.of.ns;
  return {share > 0.2 ? "network" : else_binds, free.of.ns, share};
}

void print(const arguments& args, const modelled_result& m) {
  print(m.of, " of modelled time");
  if (m.flops != 0)
    std::printf("gflops     %.4g, cores %.1f %% in bodies\n", m.flops / m.of.ns, busy_share(m) * 100);
  const network_report& n = m.network;
  if (n.messages != 0) {
    const bool trunk = n.longest_full_node == static_cast<std::uint32_t>(m.of.ranks);
    const std::string link = trunk ? "between switches"
                                   : (n.longest_full_sends ? "out of node " : "into node ") +
                                         std::to_string(n.longest_full_node);
    std::printf("network    the link %s was full for %.4g ms; sharing made a message %.4g us longer on average\n",
                link.c_str(), n.longest_full_ns / 1e6, n.slow_ns / 1e3 / static_cast<double>(n.messages));
  }
  if (m.of.ranks > 1 && !args.once) {
    const verdict v = what_binds(args, m);
    std::printf("binds      %s: with a network that costs nothing it takes %.6g ms, %.1f %% %s\n", v.binds,
                v.free_ns / 1e6, std::abs(v.share) * 100, v.share < 0 ? "more" : "less");
  }
  std::fprintf(stderr, "model      %.2f s of a core here, %.3f M tasks/s\n", m.seconds,
               static_cast<double>(m.of.tasks) / m.seconds / 1e6);
}

// The number of nodes as a question.
void print_nodes(arguments args) {
  std::printf("nodes      time  speed-up  messages        MB  cores busy  binds\n");
  double first_ns = 0;
  std::uint64_t sum = 0;
  for (const int nodes : args.nodes) {
    args.ranks = nodes;
    const modelled_result m = on_model(args, "");
    if (first_ns == 0) {
      first_ns = m.of.ns;
      sum = m.of.sum;
    }
    if (m.of.sum != sum) throw std::runtime_error("the result depends on the number of nodes");
    std::printf("%5d  %5.3f ms  %8.2f  %8llu  %8.1f  %8.1f %%  %s\n", nodes, m.of.ns / 1e6, first_ns / m.of.ns,
                static_cast<unsigned long long>(m.of.messages), static_cast<double>(m.of.bytes) / 1e6,
                busy_share(m) * 100, what_binds(args, m).binds);
  }
}

int number_in(std::string_view text, const std::string& of, int least) {
  int n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size() || n < least)
    throw std::runtime_error(of + " takes a number from " + std::to_string(least) + ", and not '" + std::string(text) +
                             "'");
  return n;
}
std::vector<int> numbers_in(const std::string& list) {
  std::vector<int> all;
  std::stringstream in(list);
  for (std::string one; std::getline(in, one, ',');) all.push_back(number_in(one, "--nodes", 1));
  if (all.empty()) throw std::runtime_error("--nodes takes numbers, as 1,2,4");
  return all;
}

constexpr const char usage[] =
    "weft-ranks cholesky TILES SIDE | stencil BLOCKS STEPS\n  [--machine NAME] the nodes of a modelled cluster; "
    "without it ranks are threads\n  [--ranks N] [--workers N] [--change LINES]\n  [--grid] owners stand in a grid "
    "[--quick] tiles are not computed [--once] what binds is not tried\n  [--nodes 1,2,4] a row for each number\n"
    "  as: weft-ranks cholesky 33 64 --machine cluster-16x64";

arguments parsed(const std::vector<std::string_view>& words) {
  arguments a;
  std::vector<std::string_view> plain;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] {
      if (++i == words.size()) throw std::runtime_error(std::string(words[i - 1]) + " needs a value");
      return words[i].data();
    };
    if (words[i] == "--machine")
      a.machine = value();
    else if (words[i] == "--change")
      a.change = value();
    else if (words[i] == "--ranks")
      a.ranks = number_in(value(), "--ranks", 1);
    else if (words[i] == "--workers")
      a.workers = static_cast<unsigned>(number_in(value(), "--workers", 1));
    else if (words[i] == "--nodes")
      a.nodes = numbers_in(value());
    else if (words[i] == "--quick")
      a.quick = true;
    else if (words[i] == "--grid")
      a.grid = true;
    else if (words[i] == "--once")
      a.once = true;
    else if (words[i].starts_with("-"))
      throw std::runtime_error("there is no option " + std::string(words[i]));
    else
      plain.push_back(words[i]);
  }
  if (!plain.empty()) a.program = plain[0];
  if (plain.size() > 1) a.a = static_cast<std::size_t>(number_in(plain[1], a.program, 1));
  if (plain.size() > 2) a.b = static_cast<std::size_t>(number_in(plain[2], a.program, 1));
  if ((a.program != "cholesky" && a.program != "stencil") || plain.size() > 3) throw std::runtime_error(usage);
  if (a.machine == nullptr && !a.nodes.empty()) throw std::runtime_error("--nodes are of a --machine");
  if (a.machine == nullptr && !a.change.empty()) throw std::runtime_error("--change is of a --machine");
  if (const char* const change = std::getenv("WEFT_CHANGE"); change != nullptr && a.change.empty()) a.change = change;
  return a;
}

}  // namespace
}  // namespace weft::programs

int main(int count, char** values) {
  using namespace weft::programs;
  const std::vector<std::string_view> words(values + 1, values + count);
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) return std::puts(usage) < 0;
  try {
    const arguments args = parsed(words);
    if (!args.nodes.empty())
      print_nodes(args);
    else
      args.machine != nullptr ? print(args, on_model(args, "")) : print(on_threads(args), "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
