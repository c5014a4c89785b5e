// A bounded queue with shutdown: std::queue, a mutex and two condition variables. Which number below three million has
// the longest Collatz sequence? A thread makes jobs, others take them, and all end when there are no more.
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <vector>

namespace {

constexpr long below = 3'000'000, job = 1000;

struct best {
  long steps = 0, from = 0;
};

best longest(long begin) {
  best b;
  for (long from = std::max(begin, 1L); from < begin + job; ++from) {
    long steps = 0;
    for (long x = from; x != 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1) ++steps;
    if (steps > b.steps) b = {steps, from};
  }
  return b;
}

template <class Item> class bounded_queue {
 public:
  explicit bounded_queue(std::size_t room) : room_(room) {}
  void push(Item x) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return items_.size() < room_; });
    items_.push(std::move(x));
    not_empty_.notify_one();
  }
  std::optional<Item> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !items_.empty() || closed_; });
    if (items_.empty()) return std::nullopt;
    Item x = std::move(items_.front());
    items_.pop();
    not_full_.notify_one();
    return x;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::queue<Item> items_;
  const std::size_t room_;
  bool closed_ = false;
};

}  // namespace

int main() {
  bounded_queue<long> jobs(64);
  best all;
  std::mutex all_mutex;
  std::vector<std::thread> takers;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    takers.emplace_back([&] {
      while (const std::optional<long> begin = jobs.pop()) {
        const best b = longest(*begin);
        const std::lock_guard lock(all_mutex);
        if (b.steps > all.steps) all = b;
      }
    });
  for (long begin = 0; begin < below; begin += job) jobs.push(begin);
  jobs.close();
  for (std::thread& t : takers) t.join();
  std::printf("%ld, %ld steps\n", all.from, all.steps);
  return all.from == 2'298'025 && all.steps == 559 ? 0 : 1;
}
