// Coarse mode against fine mode: the same programs give the same results, and where bodies are long beside what the
// scheduler does, the same times but for a few per cent. Which of the two is right is always fine.
#include <cmath>
#include <string>
#include <vector>

#include "programs.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

double makespan_ns(const weft::options& o, const reference::program& p, double body_ns) {
  weft::runtime rt(o);
  std::vector<weft::handle<int>> data(p.handles);
  const double start = rt.now_ns();
  for (const reference::task& t : p.tasks) {
    std::vector<weft::handle<int>*> reads, writes;
    for (const reference::use& u : t) (u.how == reference::kind::read ? reads : writes).push_back(&data[u.handle]);
    rt.submit(weft::read(reads), weft::write(writes), weft::cost(body_ns),
              [](weft::view<const int>, weft::view<int>) {});
  }
  rt.wait();
  return rt.now_ns() - start;
}

struct pattern {
  const char* name;
  reference::program p;
};

}  // namespace

TEST_CASE("coarse: the times of fine mode, where bodies are long") {
  const pattern patterns[] = {{"independent", {1, std::vector<reference::task>(2000)}},
                              {"stencil", reference::stencil(64, 30)},
                              {"cholesky", reference::cholesky(16)}};
  for (const pattern& one : patterns)
    for (const unsigned workers : {1u, 2u, 7u, 16u})
      for (const double body_ns : {20'000.0, 200'000.0}) {
        const double fine =
            makespan_ns({.workers = workers, .machine = "virtual", .model = {.mode = "fine"}}, one.p, body_ns);
        const double coarse =
            makespan_ns({.workers = workers, .machine = "virtual", .model = {.mode = "coarse"}}, one.p, body_ns);
        INFO(one.name << ", " << workers << " workers, bodies of " << body_ns << " ns: fine " << fine << " ns, coarse "
                      << coarse);
        CHECK(std::abs(coarse / fine - 1) < 0.10);
      }
}

TEST_CASE("coarse: random programs on up to 512 workers do what they say, and the same again") {
  for_each_seed("coarse: random programs*", 0, 100, [](std::uint64_t seed) {
    static constexpr unsigned workers[] = {1, 2, 3, 8, 64, 512};
    const weft::options o{.workers = workers[seed % 6],
                          .machine = seed % 2 == 0 ? "virtual" : "tasksim-512",
                          .seed = seed + 1,
                          .model = {.mode = "coarse"},
                          .creation = seed % 6 != 0 && seed % 5 == 0 ? "decoupled" : "inline"};
    double ns[2];
    for (double& time : ns) {
      weft::base::random rng(seed + 1);
      weft::runtime rt(o);
      const std::string wrong =
          reference::run_and_judge(rt, reference::draw(rng, 1 + rng.below(6), 10 + rng.below(200)));
      if (!wrong.empty()) return wrong;
      time = rt.now_ns();
    }
    return ns[0] == ns[1] ? std::string() : "another time when run again";
  });
}
