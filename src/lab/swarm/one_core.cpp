#include "lab/swarm/one_core.hpp"

#include <cstring>

#include "lab/swarm/waiting_calls.hpp"

namespace weft::swarm {

namespace {

constexpr std::uint64_t entries_of_line = 4;  // two words each

// The core, and what bodies get of it.
class one_core final : public detail::ordered_hooks {
 public:
  explicit one_core(chip& c) : chip_(c), time_(c.events.now()), waiting_(*this) {}

  void run(std::vector<detail::ordered_call> roots) {
    roots_at_ = chip_.all_lines.fresh(static_cast<std::uint32_t>(roots.size() / entries_of_line + 1));
    waiting_.begin(std::move(roots));
    ordered_context x(*this, false);
    while (!waiting_.empty()) {
      const detail::ordered_call call = waiting_.take();
      x.set_timestamp(call.timestamp);
      ++chip_.statistics.tasks.started;
      ++chip_.statistics.tasks.bodies;
      call.run(x, call.timestamp, call.argument);
      ++chip_.statistics.tasks.committed;
    }
  }
  [[nodiscard]] cycle time() const noexcept { return time_; }

  void instructions(std::uint64_t n) noexcept { time_ += n; }
  // The queue grows by blocks of lines, which stay where they are.
  void touch(std::uint64_t entry, bool write) {
    const std::uint64_t number = entry / entries_of_line % (block_lines * blocks_max);
    while (blocks_.size() <= number / block_lines) blocks_.push_back(chip_.all_lines.fresh(block_lines));
    reach(blocks_[number / block_lines] + static_cast<line>(number % block_lines), write);
  }
  void touch_root(std::uint64_t entry, bool write) {
    reach(roots_at_ + static_cast<line>(entry / entries_of_line), write);
  }

  void load(const void* from, void* to, std::size_t bytes) override {
    access(from, bytes, false);
    std::memcpy(to, from, bytes);
  }
  void store(void* to, const void* from, std::size_t bytes) override {
    access(to, bytes, true);
    std::memcpy(to, from, bytes);
  }
  void read_only(const void* at, std::size_t bytes) override { access(at, bytes, false); }
  void work(std::uint64_t n) override { instructions(n); }
  void create(const detail::ordered_call& call) override { waiting_.put(call); }
  void* allocate(std::size_t bytes, std::size_t alignment) override {
    time_ += chip_.options.allocation;
    return chip_.heap.take(0, bytes, alignment);
  }
  void release(void* at, std::size_t bytes, std::size_t alignment) override {
    time_ += chip_.options.allocation;
    if (at != nullptr) chip_.heap.give_back(0, at, bytes, alignment);
  }
  void serialize() override {}

 private:
  static constexpr std::uint32_t block_lines = 1024;
  static constexpr std::uint64_t blocks_max = 1024;  // 64 MiB: then the first are used again

  void access(const void* at, std::size_t bytes, bool write) {
    time_ += (bytes + word_bytes - 1) / word_bytes;
    const auto* from = static_cast<const std::byte*>(at);
    for (std::size_t offset = 0; offset < bytes;) {
      reach(chip_.all_lines.of(from + offset), write);
      offset += line_bytes - reinterpret_cast<std::uintptr_t>(from + offset) % line_bytes;
    }
  }
  void reach(line l, bool write) {
    if (!chip_.caches.hit(0, l, write)) time_ += chip_.caches.access({0, 0, {}, false}, l, write, nullptr);
  }

  chip& chip_;
  cycle time_;
  line roots_at_ = 0;
  std::vector<line> blocks_;
  waiting_calls<one_core> waiting_;
};

}  // namespace

void run_one_core(chip& c, std::vector<detail::ordered_call> roots) {
  one_core core(c);
  try {
    core.run(std::move(roots));
  } catch (...) {
    c.error = std::current_exception();
  }
  const cycle passed = core.time() - c.events.now();
  c.statistics.core_cycles.committed += passed;
  c.statistics.core_cycles.empty += passed * (c.options.cores - 1);
  c.events.advance(core.time());
  c.statistics.cycles = core.time();
}

}  // namespace weft::swarm
