// What runs in a computer with several memory nodes, as its first and only process (boot.py): asks the kernel, page by
// page, where arrays lie, against a count of its own, on which node's cores tasks with hints run, and where blocks of
// the memory pools and buffers of streams are. Says "numa: passed" on the console, or what is wrong, and switches the
// computer off.
#include <linux/reboot.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "memory/pools.hpp"
#include "weft/weft.hpp"

namespace {

using where = weft::memory_placement;
constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20;
unsigned nodes = 0;
int wrongs = 0;

void wrong(const std::string& what) {
  if (++wrongs <= 20) std::printf("numa: wrong: %s\n", what.c_str());
}

unsigned node_of_this_core() {
  unsigned cpu = 0, node = 0;
  syscall(SYS_getcpu, &cpu, &node, nullptr);
  return node;
}

// Asked only, nothing moves.
std::vector<int> kernel_says(const char* begin, std::size_t bytes) {
  std::vector<void*> pages;
  for (std::size_t at = 0; at < bytes; at += page) pages.push_back(const_cast<char*>(begin) + at);
  std::vector<int> node(pages.size(), -1000);
  if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, node.data(), 0) != 0) wrong("move_pages");
  return node;
}

// The node that each page is to be on, by dealing out blocks from the first byte on. A unit is where it begins.
std::vector<int> dealt(const where& how, std::size_t bytes, std::size_t unit) {
  std::size_t block = unit;
  if (how.how() == where::kind::blocked || how.how() == where::kind::first_touch) block = (bytes + nodes - 1) / nodes;
  if (how.how() == where::kind::block_cyclic) block = how.block_bytes();
  std::vector<int> node;
  int at_node = 0;
  for (std::size_t at = 0, end = block; at < bytes; at += page) {
    for (; end <= at; end += block) at_node = (at_node + 1) % static_cast<int>(nodes);
    node.push_back(at % unit != 0                      ? node.back()
                   : how.how() == where::kind::on_node ? static_cast<int>(how.node() % nodes)
                                                       : at_node);
  }
  return node;
}

void check_array(const char* name, const where& how, std::size_t bytes, bool huge, bool filled) {
  weft::numa_array<char> a(bytes, how, {.huge_pages = huge});
  if (filled)
    a.fill(1);
  else
    for (std::size_t at = 0; at < bytes; at += page) a[at] = 1;  // all by this thread
  const std::vector<int> is = kernel_says(a.data(), bytes), shall = dealt(how, bytes, huge ? huge_page : page);
  std::size_t elsewhere = 0;
  for (std::size_t i = 0; i < is.size(); ++i) {
    const auto by_layout = a.node_of(i * page), by_system = weft::node_of(&a[i * page]);
    const bool right = is[i] == shall[i] && by_system && static_cast<int>(*by_system) == is[i] && by_layout &&
                       static_cast<int>(*by_layout) == is[i];
    elsewhere += !right;
  }
  std::printf("numa: %-13s %8zu bytes%s%s: %zu of %zu pages elsewhere\n", name, bytes, huge ? ", huge pages" : "",
              filled ? ", filled by tasks" : "", elsewhere, is.size());
  if (elsewhere != 0) wrong(std::string(name) + ": pages lie elsewhere");
}

void check_arrays(bool filled) {
  for (const std::size_t bytes : {std::size_t{5'000'001}, 64 * page * nodes})
    for (const bool huge : {false, true}) {
      check_array("blocked", where::blocked(), bytes, huge, filled);
      check_array("interleaved", where::interleaved(), bytes, huge, filled);
      check_array("block_cyclic", where::block_cyclic(3 * page), bytes, huge, filled);
      check_array("block_cyclic", where::block_cyclic(100'000), bytes, huge, filled);
      check_array("block_cyclic", where::block_cyclic(page), bytes, huge, filled);
      check_array("on_node", where::on_node(nodes - 1), bytes, huge, filled);
      check_array("on_node", where::on_node(nodes + 1), bytes, huge, filled);
      check_array("local", where::local(), bytes, huge, filled);
    }
}

// Filled by tasks, a first-touch array lies in equal blocks, but at their edges, where a huge page goes to whoever
// comes first, and 64 KiB to one task.
void check_first_touch() {
  const std::size_t block = std::size_t{8} << 20, edge = huge_page + 65'536;
  weft::numa_array<char> a(block * nodes, where::first_touch());
  a.fill(1);
  const std::vector<int> is = kernel_says(a.data(), a.size()), shall = dealt(where::blocked(), a.size(), page);
  std::size_t elsewhere = 0, at_edges = 0;
  for (std::size_t i = 0; i < is.size(); ++i) {
    const std::size_t in_block = i * page % block;
    if (is[i] != shall[i]) ++(in_block < edge || block - in_block <= edge ? at_edges : elsewhere);
    if (a.node_of(i * page)) wrong("first_touch: the layout knows what it cannot know");
  }
  std::printf("numa: first_touch   %8zu bytes, filled by tasks: %zu of %zu pages elsewhere, and %zu at edges\n",
              a.size(), elsewhere, is.size(), at_edges);
  if (elsewhere != 0) wrong("first_touch: the tasks of the fill did not run at the nodes of their blocks");
}

// That this program would find pages on wrong nodes: all of these are on node 0, beside the thread that wrote them.
void check_that_it_finds() {
  weft::numa_array<char> a(64 * page * nodes, where::first_touch());
  for (char& c : a) c = 1;
  const std::vector<int> is = kernel_says(a.data(), a.size()), shall = dealt(where::blocked(), a.size(), page);
  std::size_t elsewhere = 0;
  for (std::size_t i = 0; i < is.size(); ++i) elsewhere += is[i] != shall[i];
  std::printf("numa: planted: %zu of %zu pages elsewhere\n", elsewhere, is.size());
  if (elsewhere != 64 * (nodes - 1)) wrong("what is planted is not found");
}

// Where the tasks of 64 parts of each block ran. Workers are on the first node only, or on all.
void check_tasks(const char* policy, unsigned workers) {
  weft::runtime rt({.workers = workers, .policy = policy});
  weft::numa_array<double> a(nodes * 64 * page / sizeof(double), where::blocked());
  a.fill(1);
  const std::size_t tasks = 64 * nodes, part = a.size() / tasks;
  std::vector<int> ran_on(tasks, -1);
  for (std::size_t n = 0; n < tasks; ++n) {
    const std::size_t i = n * 101 % tasks;
    rt.submit(weft::near(a, i * part, (i + 1) * part), [&ran_on, &a, i, part] {
      for (std::size_t k = i * part; k < (i + 1) * part; ++k) a[k] += 1;
      ran_on[i] = static_cast<int>(node_of_this_core());
    });
  }
  rt.wait();
  std::size_t elsewhere = 0;
  for (std::size_t i = 0; i < tasks; ++i) {
    if (ran_on[i] < 0 || a[i * part] != 2) wrong("a task with hints did not run once");
    elsewhere += ran_on[i] != (workers == 1 ? 0 : static_cast<int>(i / 64));
  }
  std::printf("numa: policy %s, %u workers, %zu tasks with hints: %zu ran elsewhere\n", policy, rt.workers(), tasks,
              elsewhere);
  if (elsewhere != 0) wrong("tasks with hints ran on cores of other nodes");
}

void check_fills() {
  const weft::runtime rt({.policy = "pufferfish"});
  std::printf("numa: %u workers, policy %s\n", rt.workers(), rt.policy());
  check_arrays(true);
  check_first_touch();
}

// Of every size, from every node, written by this thread.
void check_pools() {
  weft::memory::host_pages source(weft::memory::host::here(), true);
  weft::memory::pools p(nodes, source);
  std::size_t pages = 0, elsewhere = 0;
  for (const std::size_t bytes :
       {std::size_t{64}, std::size_t{3000}, 2 * page, 16 * page, huge_page / 2, huge_page, 2 * huge_page + 1})
    for (int i = 0; i < 3; ++i)
      for (unsigned n = 0; n < nodes; ++n) {
        auto* const b = static_cast<char*>(p.take(bytes, n));
        if (bytes >= page && p.node_of(b, bytes) != n) wrong("pools: an untouched block is not at its node");
        for (std::size_t at = 0; at < bytes; at += 64) b[at] = 1;
        const char* const first = b - reinterpret_cast<std::uintptr_t>(b) % page;
        for (const int is : kernel_says(first, static_cast<std::size_t>(b + bytes - first)))
          ++pages, elsewhere += is != static_cast<int>(n);
        if (p.node_of(b, bytes) != n) wrong("pools: a block is said to lie elsewhere");
        if (i != 0) p.give_back(b, bytes);
      }
  std::printf("numa: pools: %zu of %zu pages of blocks elsewhere\n", elsewhere, pages);
  if (elsewhere != 0 || p.counts().strays != 0) wrong("pools: blocks lie on other nodes than they were taken for");
}

// More than a node has. What does not fit lies elsewhere; the pools find that out, and from then on what is taken for a
// node is there or was never touched.
void check_full_node(unsigned full) {
  constexpr std::size_t bytes = std::size_t{1} << 20, blocks = 220;
  weft::memory::host_pages source(weft::memory::host::here(), true);
  weft::memory::pools p(nodes, source, {.whole_bytes_max = 1000 * bytes, .whole_ms_max = 1'000'000});
  std::vector<char*> all;
  std::size_t outside = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    char* const b = all.emplace_back(static_cast<char*>(p.take(bytes, full)));
    for (std::size_t at = 0; at < bytes; at += page) b[at] = 1;
  }
  for (char* b : all) {
    outside += kernel_says(b, 1)[0] != static_cast<int>(full);
    p.give_back(b, bytes);
  }
  const std::size_t strays = p.counts().strays;
  std::size_t again = 0, elsewhere = 0;
  for (unsigned n = 0; n < nodes; ++n)
    for (std::size_t i = 0; i < blocks; ++i) {
      const auto* const b = static_cast<char*>(p.take(bytes, n));
      const int is = kernel_says(b, 1)[0];  // -ENOENT: nobody touched it
      again += is >= 0;
      elsewhere += is >= 0 && is != static_cast<int>(n);
    }
  std::printf("numa: pools: of %zu MiB for node %u %zu lie outside, %zu are found; %zu taken again, %zu elsewhere\n",
              blocks, full, outside, strays, again, elsewhere);
  if (outside == 0 || strays != outside || again != blocks || elsewhere != 0) wrong("pools: a full node");
}

struct line {
  weft::stream<char> elements;
  std::size_t pages = 0, elsewhere = 0, steps = 0, near = 0;
};

// Writes what lies behind the last step's. Memory for it was taken when this body began, so it is on this core's node.
void step(line& l, std::span<const char> in, std::span<char> out) {
  const int here = static_cast<int>(node_of_this_core());
  if (!in.empty()) {
    l.near += kernel_says(in.data() + in.size() / 2, 1)[0] == here;
    ++l.steps;
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(in.empty() ? i % 100 : in[i] + 1);
  if (out.empty()) return;
  const char* const first = out.data() + (page - reinterpret_cast<std::uintptr_t>(out.data()) % page) % page;
  for (const int is : kernel_says(first, out.size() - page)) ++l.pages, l.elsewhere += is != here;
}

// Streams through tasks that are pushed to where their input lies.
void check_streams(const char* policy) {
  constexpr std::size_t n = 17 * page;
  constexpr int steps = 12;
  weft::runtime rt({.policy = policy});
  std::vector<line> lines(3 * nodes);
  for (int at = 0; at < steps; ++at)
    for (std::size_t i = 0; i < lines.size(); ++i) {
      line& l = lines[i];
      if (at == 0)
        rt.submit(weft::push(l.elements, n), weft::pin(static_cast<std::uint16_t>(i % rt.workers())),
                  [&l](std::span<char> out) { step(l, {}, out); });
      else if (at + 1 < steps)
        rt.submit(weft::pop(l.elements, n), weft::push(l.elements, n),
                  [&l](std::span<const char> in, std::span<char> out) { step(l, in, out); });
      else
        rt.submit(weft::pop(l.elements, n), [&l](std::span<const char> in) {
          step(l, in, {});
          for (std::size_t e = 0; e < in.size(); ++e)
            if (in[e] != static_cast<char>(e % 100 + steps - 2)) return wrong("streams: an element has another value");
        });
    }
  rt.wait();
  line all;
  for (const line& l : lines)
    all.pages += l.pages, all.elsewhere += l.elsewhere, all.steps += l.steps, all.near += l.near;
  std::printf("numa: streams, policy %s: %zu of %zu pages not at their producer; %zu of %zu consumers at their input\n",
              policy, all.elsewhere, all.pages, all.near, all.steps);
  if (all.elsewhere != 0 || all.pages != lines.size() * (steps - 1) * (n / page - 1))
    wrong("streams: buffers lie on other nodes than their producers'");
  if (all.steps != lines.size() * (steps - 1)) wrong("streams: a task did not run once");
  if (2 * all.near < all.steps) wrong("streams: tasks ran far from their input");
}

// Worker 0 is this thread and not bound by the runtime; here it stays on core 0. A second thread keeps the whole mask,
// so that the process may use all cores.
void check_all() {
  if (weft::memory_nodes() != nodes) wrong("weft counts " + std::to_string(weft::memory_nodes()) + " nodes");
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  std::jthread keeps_mask([](const std::stop_token& end) {
    while (!end.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  sched_setaffinity(0, sizeof first, &first);
  check_that_it_finds();
  check_arrays(false);
  check_pools();
  check_full_node(1);
  check_fills();
  for (const char* policy : {"pufferfish", "hpt"})
    for (const unsigned workers : {0u, 1u}) check_tasks(policy, workers);
  for (const char* policy : {"push_input", "push_output", "push_weighted"}) check_streams(policy);
}

}  // namespace

int main() {
  if (getpid() != 1) {
    std::printf("numa: this runs as the first process of a machine that tests/numa/boot.py makes\n");
    return 1;
  }
  mount("proc", "/proc", "proc", 0, nullptr);
  mount("sysfs", "/sys", "sysfs", 0, nullptr);
  const char* told = std::getenv("numa_nodes");  // what the kernel does not know of its command line it tells us
  nodes = told != nullptr ? static_cast<unsigned>(std::atoi(told)) : 0;
  try {
    if (nodes == 0) throw weft::error("no number of nodes is told");
    check_all();
  } catch (const std::exception& e) {
    wrong(e.what());
  }
  if (wrongs == 0) std::printf("numa: passed\n");
  std::fflush(stdout);
  sync();
  reboot(LINUX_REBOOT_CMD_POWER_OFF);
}
