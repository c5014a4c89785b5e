// Levels: all calls of the earliest timestamp run at the same time, as a parallel loop; those that they create for the
// same timestamp form the next wave, and only then comes the next timestamp. Nothing is logged, copied or run twice.
// The calls of a wave stand in the order in which a serial run creates them, whoever ran their parents: each block of
// 32 calls keeps what it creates, and the blocks are put together in order.
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "ordered/executors.hpp"
#include "ordered/section_task.hpp"
#include "ordered/side_by_side.hpp"
#include "weft/for_each.hpp"
#include "weft/runtime.hpp"

namespace weft::ordered_run {

namespace {

constexpr std::size_t block_calls = 32;

// Some calls of a wave, which one worker runs, and what they leave.
class block final : public side_by_side {
 public:
  std::vector<detail::ordered_call> created;
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
  void create(const detail::ordered_call& call) override { created.push_back(call); }
  [[nodiscard]] const char* executor() const noexcept override { return "levels"; }
};

class levels final : public executor {
 public:
  explicit levels(runtime& rt) : runtime_(rt) {}

  void create(const detail::ordered_call& call) override { later_[call.timestamp].push_back(call); }

  void run() override {
    try {
      run_section(runtime_, counts_, [this] {
        while (!later_.empty()) run_wave();
      });
    } catch (...) {
      later_.clear();
      throw;
    }
  }

  [[nodiscard]] ordered_counts counts() const override { return counts_; }

 private:
  void run_wave() {
    const auto first = later_.begin();
    const std::uint64_t now = first->first;
    const std::vector<detail::ordered_call> calls = std::move(first->second);
    later_.erase(first);
    std::vector<block> blocks((calls.size() + block_calls - 1) / block_calls);
    weft::for_each(std::size_t{0}, blocks.size(), [&](std::size_t i) {
      const std::size_t from = i * block_calls;
      blocks[i].run(&calls[from], calls.size() - from < block_calls ? calls.size() - from : block_calls);
    });
    std::exception_ptr thrown;
    std::uint64_t done = 0;
    for (block& b : blocks) {
      done += b.done;
      counts_.committed += b.done;
      counts_.started += b.done + (b.thrown != nullptr ? 1 : 0);
      b.free_released();  // nobody of this wave looks there any more
      if (thrown == nullptr) thrown = b.thrown;
      for (const detail::ordered_call& c : b.created) {
        WEFT_ASSERT(c.timestamp >= now);  // no wave comes before one that has been
        later_[c.timestamp].push_back(c);
      }
    }
    WEFT_ASSERT(thrown != nullptr || done == calls.size());
    if (thrown != nullptr) std::rethrow_exception(thrown);
  }

  runtime& runtime_;
  std::map<std::uint64_t, std::vector<detail::ordered_call>> later_;
  ordered_counts counts_;
};

}  // namespace

std::unique_ptr<executor> make_levels(runtime& rt, const ordered_options&) { return std::make_unique<levels>(rt); }

}  // namespace weft::ordered_run
