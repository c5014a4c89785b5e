// Levels: all calls of the earliest timestamp run at the same time, as a parallel loop; those that they create for the
// same timestamp form the next wave, and only then comes the next timestamp. Nothing is logged, copied or run twice.
// The calls of a wave stand in the order in which a serial run creates them, whoever ran their parents: each block of
// 32 calls keeps what it creates, and the blocks are put together in order.
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "ordered/executors.hpp"
#include "ordered/word.hpp"
#include "weft/error.hpp"
#include "weft/for_each.hpp"
#include "weft/runtime.hpp"

namespace weft::ordered_run {

namespace {

constexpr std::size_t block_calls = 32;

struct allocation {
  void* at;
  std::size_t bytes, alignment;
};
void free_memory(const allocation& a) noexcept { ::operator delete(a.at, a.bytes, std::align_val_t(a.alignment)); }

// Some calls of a wave, which one worker runs, and what they leave. Loads and stores are relaxed atomics, as others run
// at the same time.
class block final : public detail::ordered_hooks {
 public:
  std::vector<detail::ordered_call> created;
  std::vector<allocation> released;
  std::exception_ptr thrown;
  std::uint64_t done = 0;

  // Stops at the first that throws.
  void run(const detail::ordered_call* calls, std::size_t n) noexcept {
    ordered_context x(*this, false);
    try {
      for (; done < n; ++done) {
        x.set_timestamp(calls[done].timestamp);
        calls[done].run(x, calls[done].timestamp, calls[done].argument);
      }
    } catch (...) {
      thrown = std::current_exception();
    }
  }

 private:
  void load(const void* from, void* to, std::size_t bytes) override {
    using namespace speculative;
    for_each_word(from, bytes, [&](std::uintptr_t word, byte_mask mask, unsigned first, unsigned here, std::size_t at) {
      const std::uint64_t value = read_memory(word, mask) >> (8 * first);
      std::memcpy(static_cast<std::byte*>(to) + at, &value, here);
    });
  }
  void store(void* to, const void* from, std::size_t bytes) override {
    using namespace speculative;
    for_each_word(to, bytes, [&](std::uintptr_t word, byte_mask mask, unsigned first, unsigned here, std::size_t at) {
      std::uint64_t value = 0;
      std::memcpy(&value, static_cast<const std::byte*>(from) + at, here);
      write_memory(word, value << (8 * first), mask);
    });
  }
  [[nodiscard]] bool exchange_if(void* at, const void* expected, const void* value, std::size_t bytes) override {
    switch (bytes) {
    case 1: return exchange<std::uint8_t>(at, expected, value);
    case 2: return exchange<std::uint16_t>(at, expected, value);
    case 4: return exchange<std::uint32_t>(at, expected, value);
    default: return exchange<std::uint64_t>(at, expected, value);
    }
  }
  template <class T> [[nodiscard]] static bool exchange(void* at, const void* expected, const void* value) noexcept {
    T was, becomes;
    std::memcpy(&was, expected, sizeof was);
    std::memcpy(&becomes, value, sizeof becomes);
    return base::atomic_ref<T>(*static_cast<T*>(at))
        .compare_exchange_strong(was, becomes, base::relaxed, base::relaxed);
  }
  void read_only(const void*, std::size_t) override {}
  void work(std::uint64_t) override {}
  void create(const detail::ordered_call& call) override { created.push_back(call); }
  void* allocate(std::size_t bytes, std::size_t alignment) override {
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void release(void* at, std::size_t bytes, std::size_t alignment) override {
    if (at != nullptr) released.push_back({at, bytes, alignment});
  }
  void serialize() override {
    throw error(
        "weft: executor 'levels' runs bodies of one timestamp at the same time, and this one wants to be the oldest "
        "(serialize). Use the executor 'speculative' or 'serial'");
  }
};

class levels final : public detail::ordered_executor {
 public:
  explicit levels(runtime& rt) : runtime_(rt) {}

  void create(const detail::ordered_call& call) override { later_[call.timestamp].push_back(call); }

  void run() override {
    const double began = runtime_.now_ns();
    try {
      while (!later_.empty()) run_wave();
    } catch (...) {
      later_.clear();
      throw;
    }
    counts_.seconds += (runtime_.now_ns() - began) * 1e-9;
  }

  [[nodiscard]] ordered_counts counts() const override { return counts_; }

 private:
  void run_wave() {
    const auto first = later_.begin();
    const std::vector<detail::ordered_call> calls = std::move(first->second);
    later_.erase(first);
    std::vector<block> blocks((calls.size() + block_calls - 1) / block_calls);
    weft::for_each(std::size_t{0}, blocks.size(), [&](std::size_t i) {
      const std::size_t from = i * block_calls;
      blocks[i].run(&calls[from], calls.size() - from < block_calls ? calls.size() - from : block_calls);
    });
    std::exception_ptr thrown;
    for (block& b : blocks) {
      counts_.committed += b.done;
      counts_.started += b.done + (b.thrown != nullptr ? 1 : 0);
      for (const allocation& a : b.released) free_memory(a);  // nobody of this wave looks there any more
      if (thrown == nullptr) thrown = b.thrown;
      for (const detail::ordered_call& c : b.created) later_[c.timestamp].push_back(c);
    }
    if (thrown != nullptr) std::rethrow_exception(thrown);
  }

  runtime& runtime_;
  std::map<std::uint64_t, std::vector<detail::ordered_call>> later_;
  ordered_counts counts_;
};

}  // namespace

std::unique_ptr<detail::ordered_executor> make_levels(runtime& rt, const ordered_options&) {
  return std::make_unique<levels>(rt);
}

}  // namespace weft::ordered_run
