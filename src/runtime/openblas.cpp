// The out-of-line half of weft/openblas.hpp: who has OpenBLAS, and what it gets for threads. Its callback says nothing
// about who called it, so the thread that does is compared.
#include "weft/openblas.hpp"

#include <pthread.h>

#include <mutex>
#include <thread>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft::detail {

namespace {

std::mutex turn;
cell<const guest_context*> guest_here;
pthread_t thread_of_guest;  // written before guest_here

}  // namespace

void openblas_begins(const guest_context& g) {
  turn.lock();
  thread_of_guest = pthread_self();
  base::shared(guest_here).store(&g, base::release);
}

void openblas_ends() noexcept {
  base::shared(guest_here).store(nullptr, base::relaxed);
  turn.unlock();
}

// All jobs at once: they wait for each other by spinning. A call of somebody else gets threads for itself.
void openblas_call_back(int, openblas::dojob job, int jobs, std::size_t bytes, void* jobdata, int dojob_data) {
  WEFT_ASSERT(jobs > 0);
  const auto count = static_cast<unsigned>(jobs);
  const auto run = [&](unsigned i) {
    job(static_cast<int>(i), static_cast<std::byte*>(jobdata) + i * bytes, dojob_data);
  };
  const guest_context* const g = base::shared(guest_here).load(base::acquire);
  if (g != nullptr && pthread_equal(thread_of_guest, pthread_self()) != 0 && count <= g->threads())
    return g->at_once([&](unsigned i) {
      if (i < count) run(i);
    });
  std::vector<std::thread> others;
  for (unsigned i = 1; i < count; ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& t : others) t.join();
}

}  // namespace weft::detail
