// A body that is pinned to a worker went on elsewhere after its first wait. It goes on where it is pinned, whatever it
// waits for, and so do its children that run on its stack, and those of worker 0.
// Run: 20
// Long: 1000
// Machines: host virtual random pct
// Workers: 3 4
#include <atomic>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

weft::runtime* rt;
std::atomic<long> waits{0};

void stays(unsigned where, const char* what) {
  ++waits;
  const auto here = static_cast<unsigned>(weft::worker_id());
  require(here == where, "pinned to " + std::to_string(where) + ", on " + std::to_string(here) + " behind " + what);
}

void spin() {
  weft::charge(2000);
  for (int i = 0; i < 300; ++i) asm volatile("");
}

// Pinned to `where`; waits for whatever a body can wait for.
void body(unsigned where, weft::handle<int>& h, weft::event& e) {
  stays(where, "its begin");
  rt->wait(h);
  stays(where, "a handle");
  e.wait();
  stays(where, "an event");
  for (int i = 0; i < 8; ++i) rt->submit([] { spin(); });
  rt->wait();
  stays(where, "its children");
  const unsigned next = (where + 1) % rt->workers();
  rt->submit(weft::pin(next), [next] {
    rt->submit(spin);
    rt->wait();
    stays(next, "a pinned child");
  });
  rt->wait();
  stays(where, "a child that is pinned elsewhere");
  weft::finish([] {
    for (int i = 0; i < 4; ++i) weft::async(spin);
  });
  stays(where, "a finish");
  weft::fork_join([] { spin(); }, [] { spin(); });
  stays(where, "a fork");
  weft::yield();
  stays(where, "a yield");
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = amount(argument(argc, argv, 1, 20));
  weft::runtime all;
  rt = &all;
  for (long r = 0; r < rounds; ++r) {
    weft::handle<int> h(0);
    weft::event e;
    for (unsigned w = 0; w < all.workers(); ++w) {
      all.submit(weft::write(h), weft::pin((w + 1) % all.workers()), [](int&) { spin(); });
      all.submit(weft::pin(w), [w, &h, &e] { body(w, h, e); });
      all.submit(weft::pin(w), [] { spin(); });  // keeps the worker while others would go on with the body
    }
    all.submit(weft::completes(e), [&e] { e.fulfil(); });
    all.wait();
  }
  require(waits == rounds * static_cast<long>(all.workers()) * 9, std::to_string(waits) + " looks");
}
