// Ids of handles have 31 bits. After 2^31 handles two that live could have one id, which was the order of locks and
// the key of open reductions: submit() never returned, two submitters spun for ever, a reduction was not applied.
// Right: the order of two handles is one, whatever their ids.
// Environment: WEFT_WINDOW=1024
#include <string>
#include <weft/weft.hpp>

#include <memory>
#include <thread>
#include <vector>

#include "found.hpp"

namespace {

// The next handle that is made has the id of h.
void repeat_id(const weft::handle_base& h) { weft::detail::set_next_handle_id(h.id()); }

void named_again(weft::runtime& rt) {
  weft::handle<long> a(0L);
  repeat_id(a);
  weft::handle<long> b(0L);
  require(a.id() == b.id(), "the program is wrong: two ids");
  for (int i = 0; i < 100; ++i)
    rt.submit(weft::write(a), weft::write(b), weft::write(a), [](long& x, long& y, long&) { ++x, ++y; });
  for (int i = 0; i < 100; ++i) rt.submit(weft::add(b), weft::add(a), [](long& x, long& y) { ++x, ++y; });
  rt.wait();
  require(a.unguarded() == 200 && b.unguarded() == 200, "tasks with two handles of one id");
}

void wide(weft::runtime& rt) {
  std::vector<std::unique_ptr<weft::handle<long>>> all;
  for (int i = 0; i < 40; ++i) {
    if (i % 2 == 1) repeat_id(*all.back());
    all.push_back(std::make_unique<weft::handle<long>>(0L));
  }
  std::vector<weft::handle<long>*> names;
  for (const auto& h : all) names.push_back(h.get());
  for (int i = 0; i < 40; ++i) names.push_back(all[static_cast<std::size_t>(i * 7 % 40)].get());
  for (int i = 0; i < 20; ++i)
    rt.submit(weft::write(names), [](weft::view<long> x) {
      for (std::size_t k = 0; k < 40; ++k) ++x[k];
    });
  rt.wait();
  for (const auto& h : all) require(h->unguarded() == 20, "a task with forty handles of twenty ids");
}

void reductions(weft::runtime& rt) {
  weft::reduction<long> a;
  repeat_id(a);
  weft::reduction<long> b;
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < 50; ++i) {
      rt.submit(weft::reduce(a), weft::cost(1000), [](long& part) { ++part; });
      rt.submit(weft::reduce(b), weft::cost(1000), [](long& part) { ++part; });
    }
    rt.wait();
    require(a.unguarded() == 50 * round && b.unguarded() == 50 * round, "two reductions with one id");
  }
}

void opposite(weft::runtime& rt) {
  weft::handle<long> a(0L);
  repeat_id(a);
  weft::handle<long> b(0L);
  const long each = amount(20000);
  const auto submit = [&rt, each](weft::handle<long>& x, weft::handle<long>& y) {
    for (long i = 0; i < each; ++i) rt.submit(weft::write(x), weft::write(y), [](long& p, long& q) { ++p, ++q; });
  };
  std::thread other([&] { submit(a, b); });
  submit(b, a);
  other.join();
  rt.wait();
  require(a.unguarded() == 2 * each && b.unguarded() == 2 * each, "two threads name them in opposite orders");
}

// What a graph names was made before its recording began, though its id is the larger one.
void before_a_graph(weft::runtime& rt) {
  weft::detail::set_next_handle_id(0x7fffffff);
  weft::handle<long> h(0L);
  weft::graph g(rt, [&h](weft::recorder& to) { to.submit(weft::write(h), [](long& x) { ++x; }); });
  for (int i = 0; i < 3; ++i) g.run();
  require(h.unguarded() == 3, "a graph with a handle of before");
}

}  // namespace

int main() {
  weft::runtime rt;
  named_again(rt);
  wide(rt);
  reductions(rt);
  if (rt.machine() == std::string("host")) opposite(rt);
  before_a_graph(rt);
}
