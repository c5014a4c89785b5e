// The reference: a heap by (timestamp, number of creation), one body after the other.
#include <cstring>
#include <queue>
#include <vector>

#include "base/assert.hpp"
#include "ordered/executors.hpp"
#include "ordered/one_by_one.hpp"
#include "ordered/section_task.hpp"

namespace weft::ordered_run {

namespace {

class serial final : public executor, one_by_one {
 public:
  explicit serial(runtime& rt) : runtime_(rt) {}

  void create(const detail::ordered_call& call) override {
    std::uint32_t slot;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(calls_.size());
      calls_.push_back(call);
    } else {
      slot = free_.back();
      free_.pop_back();
      calls_[slot] = call;
    }
    heap_.push({call.timestamp, created_++, slot});
    WEFT_ASSERT(heap_.size() + free_.size() == calls_.size());  // each slot has one call, or none
  }

  void run() override {
    try {
      run_section(runtime_, counts_, [this] { run_all(); });
    } catch (...) {
      heap_ = {};
      calls_.clear();
      free_.clear();
      throw;
    }
  }

  [[nodiscard]] ordered_counts counts() const override { return counts_; }

 private:
  struct entry {
    std::uint64_t timestamp;
    std::uint64_t number;
    std::uint32_t slot;
    friend bool operator<(const entry& a, const entry& b) noexcept {
      return a.timestamp != b.timestamp ? a.timestamp > b.timestamp : a.number > b.number;
    }
  };

  void run_all() {
    ordered_context x(*this, true);
    std::uint64_t now = 0;
    while (!heap_.empty()) {
      const entry next = heap_.top();
      heap_.pop();
      WEFT_ASSERT(next.timestamp >= now && next.slot < calls_.size());
      now = next.timestamp;
      const detail::ordered_call call = calls_[next.slot];
      free_.push_back(next.slot);
      x.set_timestamp(next.timestamp);
      ++counts_.started;
      call.run(x, next.timestamp, call.argument);
      ++counts_.committed;
    }
  }

  void load(const void* from, void* to, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void store(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void read_only(const void*, std::size_t) override {}
  void work(std::uint64_t) override {}

  runtime& runtime_;
  std::priority_queue<entry> heap_;
  std::vector<detail::ordered_call> calls_;
  std::vector<std::uint32_t> free_;
  std::uint64_t created_ = 0;
  ordered_counts counts_;
};

}  // namespace

std::unique_ptr<executor> make_serial(runtime& rt, const ordered_options&) { return std::make_unique<serial>(rt); }

}  // namespace weft::ordered_run
