// A task failed, and therefore others can never run. The wait told that nothing can run any more, never the exception;
// and the report named the victims, not those at the root. Right: first the exception, then, by the next wait, the
// stall; and of the tasks that are not done those come first that wait for nobody of them.
// Run: holds
// Run: tokens
// Run: handle
// Creation: inline
#include <weft/weft.hpp>

#include <stdexcept>
#include <vector>

#include "found.hpp"
#include "thrown.hpp"

namespace {

[[nodiscard]] bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// P waits in its body for K, which needs what P holds.
void holds(bool by_handle) {
  weft::handle<int> f(0), x(0), y(0);
  weft::runtime rt;
  rt.submit(weft::write(f), weft::named("B"), [](int&) { throw std::runtime_error("B: disk full"); });
  rt.submit(weft::write(x), weft::write(y), weft::named("P"), [&](int&, int&) {
    rt.submit(weft::add(x), weft::named("K"), [](int&) {});
    rt.wait();
  });
  const auto wait = [&] { by_handle ? rt.wait(y) : rt.wait(); };
  const std::string first = thrown(wait), second = thrown(wait);
  require(first == "B: disk full", "the first wait tells: " + first);
  require(has(second, "no task can run any more") && has(second, "'P'") && has(second, "'K'"),
          "the second wait tells: " + second);
}

// Ten tasks wait for tokens that nobody pushes, since the one that would has been skipped; behind each are two more.
void tokens() {
  weft::runtime rt;
  weft::stream<int> pool("tokens");
  weft::handle<int> f(0);
  std::vector<weft::handle<int>> x(10);
  rt.submit(weft::write(f), weft::named("B"), [](int&) { throw std::runtime_error("B: disk full"); });
  rt.submit(weft::write(f), weft::named("C"), [&](int&) { rt.submit(weft::push(pool, 10), [](std::span<int>) {}); });
  std::vector<int> order{3, 4, 5, 6, 7, 8, 9, 0, 1, 2};
  for (const int i : order) {
    auto& h = x[static_cast<std::size_t>(i)];
    rt.submit(weft::write(h), weft::pop(pool, 1), weft::named("taker"), [](int&, std::span<const int>) {});
    rt.submit(weft::write(h), weft::named("next"), [](int&) {});
    rt.submit(weft::write(h), weft::named("last"), [](int&) {});
  }
  const auto wait = [&] { rt.wait(); };
  const std::string first = thrown(wait), second = thrown(wait);
  require(first == "B: disk full", "the first wait tells: " + first);
  require(has(second, "no task can run any more, but 30 are not done") && has(second, "'taker'") &&
              !has(second, "'next'") && !has(second, "'last'"),
          "the second wait tells: " + second);
  std::fflush(nullptr);
  std::_Exit(0);  // the tokens never come
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = word(argc, argv, 1, "holds");
  if (what == "tokens") tokens();
  holds(what == "handle");
}
