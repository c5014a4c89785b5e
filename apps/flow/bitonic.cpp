// Bitonic sorting of 64-bit integers (OpenStream §4.3): blocks are sorted, and then a network compares blocks, two at a
// time: both are merged, one keeps the lower half and the other the upper. Both inputs of a task are as large, so at
// most half of what it reads can be near if they lie apart. The network is the one whose comparisons all point the same
// way (a merge begins with a block and its mirror image), so blocks that are not there count as greatest, and any
// number of blocks will do. Check: std::sort gives the same.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "../near/sweep.hpp"
#include "flow.hpp"

namespace weft::apps {
namespace {

using namespace flow;
using value = std::int64_t;

constexpr double cycles_to_merge = 12;  // a value; docs/guide/43-flow-programs.md
constexpr double cycles_to_sort = 11;   // a value and level

struct parameters {
  std::size_t count = 1 << 17, block = 1 << 12;
  std::shared_ptr<setting> how = std::make_shared<setting>();
};

value unsorted(std::size_t i) {
  return std::bit_cast<value>(std::bit_cast<std::uint64_t>(near::noise(i)) * 5 - i % 5 * 0x9e3779b97f4a7c1u);
}

// Of two sorted blocks the lower and the upper half. Outputs are none of the inputs.
void split(std::span<const value> a, std::span<const value> b, std::span<value> low, std::span<value> high) {
  std::size_t i = 0, j = 0;
  const auto take = [&] { return j == b.size() || (i < a.size() && a[i] <= b[j]) ? a[i++] : b[j++]; };
  for (value& x : low) x = take();
  for (value& x : high) x = take();
}

// One stage of the network: the blocks `of` apart are halves of a merge that begins or goes on.
struct comparison {
  std::size_t low, high;
};
class network {
 public:
  explicit network(std::size_t blocks) : blocks_(blocks) {
    for (std::size_t merged = 2; merged / 2 < blocks; merged *= 2) {
      stages_.push_back({merged, true});
      for (std::size_t of = merged / 2; of >= 2; of /= 2) stages_.push_back({of, false});
    }
  }
  [[nodiscard]] std::size_t stages() const { return stages_.size(); }
  // Of a stage, with blocks that are not there: half of the power of two above.
  [[nodiscard]] std::size_t comparisons() const { return std::bit_ceil(blocks_) / 2; }
  // high is at least blocks() if there is no such block, and then nothing happens.
  [[nodiscard]] comparison at(std::size_t stage, std::size_t i) const {
    const auto [of, is_first] = stages_[stage];
    const std::size_t begin = i / (of / 2) * of, low = i % (of / 2);
    return {begin + low, begin + (is_first ? of - 1 - low : low + of / 2)};
  }

 private:
  struct merge {
    std::size_t of;
    bool is_first;
  };
  std::size_t blocks_;
  std::vector<merge> stages_;
};

class bitonic final : public program {
 public:
  explicit bitonic(const parameters& p)
      : program(*p.how, (p.count + p.block - 1) / p.block), p_(p), blocks_((p.count + p.block - 1) / p.block),
        network_(blocks_), cycles_(p.how->cycles_or(cycles_to_merge)), a_(room(), p.how->placement(), is_model_only),
        b_(is_streams() ? 0 : room(), p.how->placement(), is_model_only), tokens_(is_streams() ? 0 : 2 * blocks_),
        streams_(is_streams() ? blocks_ : 0), now_(blocks_ * (network_.stages() + 2)) {
    allocate(*p.how, streams_);
    // Which of the two arrays a block is in before a stage: comparisons move it to the other.
    for (std::size_t s = 0; s < network_.stages(); ++s) {
      for (std::size_t b = 0; b < blocks_; ++b) now_[(s + 1) * blocks_ + b] = now_[s * blocks_ + b];
      for (std::size_t i = 0; i < network_.comparisons(); ++i)
        if (const comparison c = network_.at(s, i); c.high < blocks_) {
          ++compared_;
          if (is_streams()) continue;
          now_[(s + 1) * blocks_ + c.low] ^= 1, now_[(s + 1) * blocks_ + c.high] ^= 1;
        }
    }
  }

  void fill(runtime& rt) {
    fill_blocks(rt, blocks_, [this](std::size_t b) {
      if (!is_model_only)
        for (std::size_t i = first(b); i < first(b) + p_.block; ++i) *a_.at(i) = initial(i);
      charge(0, a_.stores(first(b), p_.block));
      if (!is_streams()) b_.touch(first(b), p_.block);
    });
  }

  // Blocks, the stages of the network, and with streams blocks once more, to be stored.
  [[nodiscard]] std::size_t stages() const override { return 1 + network_.stages() + (is_streams() ? 1 : 0); }
  [[nodiscard]] std::size_t items(std::size_t stage) const override {
    return stage == 0 || stage > network_.stages() ? blocks_ : network_.comparisons();
  }
  [[nodiscard]] std::size_t bodies() const override { return blocks_ + compared_ + (is_streams() ? blocks_ : 0); }
  void go(runtime& rt, std::size_t stage, std::size_t item) override {
    if (stage == 0) return is_streams() ? sort_streams(rt, item) : sort_shared(rt, item);
    if (stage > network_.stages()) return store(rt, item);
    const comparison c = network_.at(stage - 1, item);
    if (c.high < blocks_) is_streams() ? compare_streams(rt, c) : compare_shared(rt, stage - 1, c);
  }

  [[nodiscard]] check compare() const;

 private:
  [[nodiscard]] bool is_streams() const { return made == form::dsa; }
  [[nodiscard]] std::size_t room() const { return blocks_ * p_.block; }
  [[nodiscard]] std::size_t first(std::size_t b) const { return b * p_.block; }
  // The last block is filled up.
  [[nodiscard]] value initial(std::size_t i) const {
    return i < p_.count ? unsorted(i) : std::numeric_limits<value>::max();
  }
  [[nodiscard]] double sort_cycles() const {
    const auto n = static_cast<double>(p_.block);
    return cycles_to_sort * n * std::log2(std::max(n, 2.0));
  }
  [[nodiscard]] double compare_cycles() const { return cycles_ * 2 * static_cast<double>(p_.block); }

  [[nodiscard]] const area<value>& array(std::size_t stage, std::size_t b) const {
    return now_[stage * blocks_ + b] == 0 ? a_ : b_;
  }
  [[nodiscard]] std::span<value> values(std::size_t stage, std::size_t b) const {
    return {array(stage, b).at(first(b)), p_.block};
  }
  [[nodiscard]] handle<void>* token(std::size_t stage, std::size_t b) {
    return &tokens_[now_[stage * blocks_ + b] == 0 ? b : blocks_ + b];
  }
  void sort_shared(runtime& rt, std::size_t b) {
    tokens reads, writes;
    writes.add(token(0, b));
    submit_shared(rt, *this, "sort", reads, writes, [this, b] {
      if (!is_model_only) std::ranges::sort(values(0, b));
      data_uses uses;
      uses.add(a_.updates(first(b), p_.block));
      spend(b, sort_cycles(), uses);
    });
  }
  void compare_shared(runtime& rt, std::size_t stage, const comparison& c) {
    tokens reads, writes;
    for (const std::size_t b : {c.low, c.high}) reads.add(token(stage, b)), writes.add(token(stage + 1, b));
    submit_shared(rt, *this, "compare", reads, writes, [this, stage, c] {
      if (!is_model_only)
        split(values(stage, c.low), values(stage, c.high), values(stage + 1, c.low), values(stage + 1, c.high));
      data_uses uses;
      for (const std::size_t b : {c.low, c.high}) uses.add(array(stage, b).loads(first(b), p_.block));
      for (const std::size_t b : {c.low, c.high}) uses.add(array(stage + 1, b).stores(first(b), p_.block));
      spend(c.low, compare_cycles(), uses);
    });
  }

  // Streams: of each place in the network one, from stage to stage.
  void sort_streams(runtime& rt, std::size_t b) {
    rt.submit(named("sort"), computing(sort_cycles()), push(streams_[b], p_.block), [this, b](std::span<value> out) {
      if (!is_model_only) std::copy_n(a_.at(first(b)), out.size(), out.begin()), std::ranges::sort(out);
      data_uses uses;
      uses.add(a_.loads(first(b), out.size()));
      spend(b, 0, uses);
    });
  }
  void compare_streams(runtime& rt, const comparison& c) {
    const std::size_t n = p_.block;
    rt.submit(
        named("compare"), computing(compare_cycles()), pop(streams_[c.low], n), pop(streams_[c.high], n),
        push(streams_[c.low], n), push(streams_[c.high], n),
        [this, c](std::span<const value> a, std::span<const value> b, std::span<value> low, std::span<value> high) {
          count_body(c.low);
          if (!is_model_only) split(a, b, low, high);
        });
  }
  void store(runtime& rt, std::size_t b) {
    rt.submit(named("store"), computing(0), pop(streams_[b], p_.block), [this, b](std::span<const value> in) {
      if (!is_model_only) std::ranges::copy(in, a_.at(first(b)));
      data_uses uses;
      uses.add(a_.stores(first(b), in.size()));
      spend(b, 0, uses);
    });
  }

  const parameters& p_;
  const std::size_t blocks_;
  const network network_;
  const double cycles_;
  area<value> a_, b_;
  std::vector<handle<void>> tokens_;
  std::vector<stream<value>> streams_;
  std::vector<std::uint8_t> now_;
  std::size_t compared_ = 0;
};

check bitonic::compare() const {
  std::vector<value> expected(p_.count);
  for (std::size_t i = 0; i < p_.count; ++i) expected[i] = unsorted(i);
  std::ranges::sort(expected);
  std::size_t different = 0;
  for (std::size_t i = 0; i < room(); ++i) {
    const value wanted = i < p_.count ? expected[i] : std::numeric_limits<value>::max();
    different += values(network_.stages(), i / p_.block)[i % p_.block] != wanted;
  }
  return {"sorted_as_by_std_sort", different == 0,
          std::to_string(different) + " of " + std::to_string(p_.count) + " values differ"};
}

result run(parameters p, const weft::options& opt, progress& bar) {
  p.block = std::min(p.block, p.count);
  if (!p.how->model_only) require_memory("bitonic", 4.0 * sizeof(value) * static_cast<double>(p.count + p.block));
  runtime rt(with_pages(opt, p.how->pages, p.how->migrate));
  bitonic work(p);
  work.fill(rt);
  result r;
  r.seconds = drive(rt, *p.how, work, bar);
  r.describe(rt);
  r.add("count", std::uint64_t{p.count});
  r.add("block", std::uint64_t{p.block});
  r.add("stages", std::uint64_t{work.stages()});
  p.how->describe(r);
  r.add("ns_per_value", r.seconds * 1e9 / static_cast<double>(p.count));
  if (!p.how->model_only) r.checks.push_back(work.compare());
  r.checks.push_back(all_ran(work));
  return r;
}

}  // namespace

app bitonic_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = {{"count", "integers to sort", &p->count, 1, 1u << 30},
                                 {"block", "of them in a block", &p->block, 1, 1u << 30}};
  std::ranges::copy(setting::options(p->how), std::back_inserter(options));
  return {.name = "bitonic",
          .summary = "bitonic sorting network of blocks of 64-bit integers",
          .example = "bitonic --form dsa --machine opteron-6282-64",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
