// How long tasks waited between being ready and beginning, by name: a listener that a program brings along. With too
// few workers, or the wrong order, that is the time to look at; what a task waited for data is not in it.
#include <weft/listener.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

namespace {

struct waited {
  std::mutex lock;  // callbacks come from all workers
  std::unordered_map<std::uint32_t, std::uint64_t> ready_ns;
  struct sum {
    std::uint64_t tasks = 0, ns = 0, longest_ns = 0;
  };
  std::map<std::string, sum> by_name;

  void ready(const weft::heard& at, const weft::heard_task& t) {
    const std::scoped_lock hold(lock);
    ready_ns[t.id] = at.ns;
  }
  void begins(const weft::heard& at, const weft::heard_task& t) {
    const std::scoped_lock hold(lock);
    const std::uint64_t ns = at.ns - ready_ns[t.id];
    ready_ns.erase(t.id);
    sum& s = by_name[t.name != nullptr ? t.name : "without a name"];
    ++s.tasks;
    s.ns += ns;
    s.longest_ns = std::max(s.longest_ns, ns);
  }
  [[nodiscard]] weft::listener listener() {
    return {.data = this,
            .ready = [](void* self, const weft::heard& at,
                        const weft::heard_task& t) noexcept { static_cast<waited*>(self)->ready(at, t); },
            .begins = [](void* self, const weft::heard& at,
                         const weft::heard_task& t) noexcept { static_cast<waited*>(self)->begins(at, t); }};
  }
};

}  // namespace

int main() {
  waited times;
  weft::add_listener(times.listener());
  {
    weft::runtime rt;
    weft::handle<int> panel(0);
    weft::handle<int> tiles[6];
    for (int step = 0; step < 3; ++step) {
      rt.submit(weft::write(panel), weft::named("panel"), weft::cost(5000), [](int& p) { ++p; });
      for (auto& tile : tiles)
        rt.submit(weft::read(panel), weft::write(tile), weft::named("update"), weft::cost(2000),
                  [](const int& p, int& t) { t += p; });
    }
    rt.wait();
    if (rt.get(tiles[5]) != 6) return 1;
  }
  std::puts("name    tasks  mean us  longest us   from ready to begin");
  for (const auto& [name, s] : times.by_name)
    std::printf("%-8s%5llu%9.2f%12.2f\n", name.c_str(), static_cast<unsigned long long>(s.tasks),
                static_cast<double>(s.ns) / static_cast<double>(s.tasks) / 1e3,
                static_cast<double>(s.longest_ns) / 1e3);
}
