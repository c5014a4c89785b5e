// Bodies in order, one after the other, and of each: what it costs, what it touches, and when it could have begun.
// Nothing is kept of a body that has ended but the moments of the words it stored, so memory grows with data and with
// what waits, not with bodies.
#include "weft/lab/oracle.hpp"

#include <cstring>
#include <queue>
#include <vector>

#include "base/assert.hpp"
#include "lab/makers.hpp"
#include "lab/oracle/footprint.hpp"
#include "lab/oracle/moments.hpp"
#include "lab/oracle/sequential.hpp"
#include "lab/oracle/spread.hpp"
#include "lab/oracle/windows.hpp"
#include "lab/oracle/writers.hpp"
#include "ordered/one_by_one.hpp"
#include "ordered/section_task.hpp"
#include "weft/error.hpp"

namespace weft {

namespace ordered_run {

namespace {

class oracle final : public executor, one_by_one {
 public:
  explicit oracle(runtime& rt) : runtime_(rt) {}

  void create(const detail::ordered_call& call) override {
    if (is_running_)
      create_from_body(call);
    else
      put({call, all_ended_, ++roots_, true});
  }

  void run() override {
    is_running_ = true;
    try {
      run_section(runtime_, counts_, [this] { run_all(); });
    } catch (...) {
      is_running_ = false;
      heap_ = {};
      calls_.clear();
      free_.clear();
      throw;
    }
    is_running_ = false;
  }

  [[nodiscard]] ordered_counts counts() const override { return counts_; }
  [[nodiscard]] oracle_statistics statistics() const;

 private:
  struct waiting {
    detail::ordered_call call;
    moments born;  // when it can begin at the earliest
    std::uint64_t root;
    bool is_root;
  };
  struct entry {
    std::uint64_t timestamp;
    std::uint64_t number;
    std::uint32_t slot;
    friend bool operator<(const entry& a, const entry& b) noexcept {
      return a.timestamp != b.timestamp ? a.timestamp > b.timestamp : a.number > b.number;
    }
  };

  void put(const waiting& w) {
    std::uint32_t slot;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(calls_.size());
      calls_.push_back(w);
    } else {
      slot = free_.back();
      free_.pop_back();
      calls_[slot] = w;
    }
    heap_.push({w.call.timestamp, created_++, slot});
    WEFT_ASSERT(heap_.size() + free_.size() == calls_.size());  // each slot has one call, or none
  }

  void create_from_body(const detail::ordered_call& call) {
    children_.push_back(call);
    puts_.push_back(instructions_);
  }

  void run_all() {
    ordered_context x(*this, false);
    std::uint64_t now = 0;
    while (!heap_.empty()) {
      const entry next = heap_.top();
      const std::size_t waiting_now = heap_.size();
      heap_.pop();
      WEFT_ASSERT(next.timestamp >= now && next.slot < calls_.size());
      now = next.timestamp;
      const waiting w = calls_[next.slot];
      free_.push_back(next.slot);
      x.set_timestamp(next.timestamp);
      instructions_ = 0;
      touched_.clear();
      children_.clear();
      puts_.clear();
      ready_ = w.born;
      ++counts_.started;
      loop_.enter(w.root, w.is_root);
      w.call.run(x, next.timestamp, w.call.argument);
      ended(w, waiting_now);
      ++counts_.committed;
    }
    loop_.run_ended();
    run_ended_ = all_ended_;
  }

  // The body has run. When it would have ended under each limit, and what follows from that.
  void ended(const waiting& w, std::size_t waiting_now) {
    moments end = ready_;
    const auto no_earlier = [&end](moments::limit l, std::uint64_t when) { end.at[l] = std::max(end.at[l], when); };
    no_earlier(moments::window_1024, window_1024_.opens());
    no_earlier(moments::window_64, window_64_.opens());
    no_earlier(moments::in_flight_1024, in_flight_1024_.opens());
    no_earlier(moments::in_flight_64, in_flight_64_.opens());
    const std::uint64_t taken = queue_.take(waiting_now);
    for (std::size_t l = 0; l < moments::limits; ++l)
      if (l != moments::queue) end.at[l] += instructions_;
    end.at[moments::queue] = end_in_queue_program(std::max(taken, end.at[moments::queue]));
    window_1024_.ended(end.at[moments::window_1024]);
    window_64_.ended(end.at[moments::window_64]);
    in_flight_1024_.ended(end.at[moments::in_flight_1024]);
    in_flight_64_.ended(end.at[moments::in_flight_64]);
    loop_.ran(instructions_);
    end.round = loop_.round();
    WEFT_ASSERT(end.grows_with_limits());
    all_ended_.not_before(end);
    note(end);
    end.at[moments::queue] = run_ended_.at[moments::queue];  // the queue alone says when a child can be taken
    for (const detail::ordered_call& child : children_) put({child, end, w.root, false});
  }

  [[nodiscard]] std::uint64_t end_in_queue_program(std::uint64_t begin) noexcept {
    std::uint64_t now = begin, done = 0;
    for (const std::uint64_t at : puts_) {
      WEFT_ASSERT(at >= done);
      now = queue_.put(now + at - done);
      done = at;
    }
    WEFT_ASSERT(instructions_ >= done);
    return now + instructions_ - done;
  }

  void note(const moments& end) {
    std::uint64_t reads = 0, writes = 0;
    for (const footprint::entry& e : touched_.entries()) {
      reads += e.read;
      if (e.written == 0) continue;
      ++writes;
      writers_.stored(e.word, end, e.written == 0xff);
    }
    sizes_.add(instructions_);
    reads_.add(reads);
    writes_.add(writes);
  }

  // Calls do(word, which of its bytes) for each word of an object.
  template <class Do> void each_word(const void* at, std::size_t bytes, const Do& word) {
    const auto from = reinterpret_cast<std::uintptr_t>(at), to = from + bytes;
    for (std::uint64_t w = from / 8; w * 8 < to; ++w) {
      const std::uint64_t first = std::max<std::uint64_t>(from, w * 8) - w * 8;
      const std::uint64_t last = std::min<std::uint64_t>(to, w * 8 + 8) - w * 8;
      ++instructions_;
      word(w, static_cast<std::uint8_t>((0xffu >> (8 - (last - first))) << first));
    }
  }

  void load(const void* from, void* to, std::size_t bytes) override {
    each_word(from, bytes, [this](std::uint64_t word, std::uint8_t which) {
      footprint::entry& e = touched_.of(word);
      const bool all_mine = (e.written & which) == which;
      if (e.read == 0 && !all_mine)
        if (const moments* const there = writers_.find(word)) {
          ready_.not_before(*there);
          loop_.reads_from(there->round);
        }
      e.read = 1;
    });
    std::memcpy(to, from, bytes);
  }
  void store(void* to, const void* from, std::size_t bytes) override {
    each_word(to, bytes, [this](std::uint64_t word, std::uint8_t which) { touched_.of(word).written |= which; });
    std::memcpy(to, from, bytes);
  }
  void read_only(const void* at, std::size_t bytes) override {
    each_word(at, bytes, [this](std::uint64_t word, std::uint8_t) { touched_.of(word).read = 1; });
  }
  void work(std::uint64_t instructions) override { instructions_ += instructions; }

  // What waits for its turn.
  runtime& runtime_;
  std::priority_queue<entry> heap_;
  std::vector<waiting> calls_;
  std::vector<std::uint32_t> free_;
  std::uint64_t created_ = 0;
  std::uint64_t roots_ = 0;
  bool is_running_ = false;
  // The body that runs.
  std::uint64_t instructions_ = 0;
  footprint touched_;
  moments ready_;
  std::vector<detail::ordered_call> children_;
  std::vector<std::uint64_t> puts_;  // instructions before each of them
  // What is known so far.
  writers writers_;
  prefix_window window_1024_{1024}, window_64_{64};
  places_window in_flight_1024_{1024}, in_flight_64_{64};
  queue_program queue_;
  loop_program loop_;
  moments all_ended_;
  moments run_ended_;  // before the last run(): what it was given could not begin earlier
  spread sizes_, reads_, writes_;
  ordered_counts counts_;
};

oracle_statistics oracle::statistics() const {
  WEFT_ASSERT(sizes_.count() == counts_.committed && reads_.count() == writes_.count());
  oracle_statistics s;
  s.tasks = sizes_.count();
  s.instructions = sizes_.sum();
  s.critical_path = all_ended_.at[moments::unlimited];
  s.size = sizes_.get();
  s.reads = reads_.get();
  s.writes = writes_.get();
  s.is_loop = loop_.is_program() && roots_ > 1;
  const auto over = [](std::uint64_t all, std::uint64_t longest) {
    return longest == 0 ? 0 : static_cast<double>(all) / static_cast<double>(longest);
  };
  const auto parallelism = [&](moments::limit l) { return over(s.instructions, all_ended_.at[l]); };
  s.parallelism = {.unlimited = parallelism(moments::unlimited),
                   .window_1024 = parallelism(moments::window_1024),
                   .window_64 = parallelism(moments::window_64),
                   .in_flight_1024 = parallelism(moments::in_flight_1024),
                   .in_flight_64 = parallelism(moments::in_flight_64),
                   .sequential = over(s.instructions + queue_.spent(), all_ended_.at[moments::queue])};
  if (s.is_loop) s.parallelism.sequential = std::max(s.parallelism.sequential, over(s.instructions, loop_.longest()));
  return s;
}

}  // namespace

std::unique_ptr<executor> make_oracle(runtime& rt, const ordered_options&) { return std::make_unique<oracle>(rt); }

}  // namespace ordered_run

oracle_statistics oracle_of(ordered& q) {
  const auto* const is = dynamic_cast<const ordered_run::oracle*>(&q.executor());
  if (is == nullptr)
    throw error("weft: oracle_of() is asked about an ordered section with another executor. Make the section with "
                "{.executor = \"oracle\"}");
  return is->statistics();
}

}  // namespace weft
