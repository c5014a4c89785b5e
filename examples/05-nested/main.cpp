// Tasks submit tasks, and wait for them. A wait inside a task sets its stack aside and the worker goes on with
// something else, so a recursion of waits needs no more workers than one: try WEFT_WORKERS=1.
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

void merge_sort(weft::runtime& rt, int* from, int* to) {
  if (to - from <= 16) {
    std::sort(from, to);
    return;
  }
  int* middle = from + (to - from) / 2;
  rt.submit([&rt, from, middle] { merge_sort(rt, from, middle); });
  merge_sort(rt, middle, to);  // this half in this task
  rt.wait();                   // for the children of this task, and nobody else's
  std::inplace_merge(from, middle, to);
}

}  // namespace

int main() {
  weft::runtime rt;
  std::vector<int> numbers(2000);
  unsigned x = 1;
  for (int& v : numbers) v = static_cast<int>((x = x * 1664525u + 1013904223u) >> 22);

  rt.submit([&] { merge_sort(rt, numbers.data(), numbers.data() + numbers.size()); });
  rt.wait();
  std::printf("sorted: %s\n", std::is_sorted(numbers.begin(), numbers.end()) ? "yes" : "no");
  std::printf("smallest %d, median %d, largest %d\n", numbers.front(), numbers[numbers.size() / 2], numbers.back());
  std::printf("%llu tasks\n", static_cast<unsigned long long>(rt.statistics().tasks));
}
