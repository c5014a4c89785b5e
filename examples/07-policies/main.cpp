// A policy decides where a ready task waits and whom an idle worker robs. The same program under each of them, in
// virtual time: a wavefront, where every task makes up to two others ready.
#include <weft/weft.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t side = 40;

void submit_wavefront(weft::runtime& rt, std::vector<weft::handle<void>>& cells) {
  for (std::size_t i = 1; i < side; ++i)
    for (std::size_t j = 1; j < side; ++j)
      rt.submit(weft::read(cells[(i - 1) * side + j]), weft::read(cells[i * side + j - 1]),
                weft::write(cells[i * side + j]), weft::cost(20'000 + 5'000 * static_cast<double>((i * 7 + j * 3) % 5)),
                [] {});
}

}  // namespace

int main() {
  std::printf("policy         time/us  steals\n");
  for (const weft::choice& policy : weft::policies()) {
    weft::runtime rt({.workers = 8, .machine = "virtual", .policy = policy.name});
    std::vector<weft::handle<void>> cells(side * side);
    submit_wavefront(rt, cells);
    rt.wait();
    std::printf("%-13s %8.1f %7llu\n", policy.name, rt.now_ns() / 1000,
                static_cast<unsigned long long>(rt.statistics().steals));
  }
}
