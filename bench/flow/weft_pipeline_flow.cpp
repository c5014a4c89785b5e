// weft::pipeline: an item is a block. The channel is a pipeline of two serial stages.
#include <optional>

#include "flow.hpp"
#include "weft/weft.hpp"

namespace weft::bench::flow {
namespace {

class weft_pipeline_flow {
 public:
  explicit weft_pipeline_flow(unsigned workers) : rt_({.workers = workers}) {}

  template <std::size_t Batch> static void channel(std::uint64_t blocks, std::uint64_t rounds, value* out) {
    std::uint64_t b = 0;
    weft::pipeline(weft::serial([&b, blocks, rounds] { return made<Batch>(b, blocks, rounds); }),
                   weft::serial([at = out, rounds](const block<Batch>& m) mutable {
                     for (const value x : m) {
                       spin(rounds);
                       *at++ = x;
                     }
                   }));
  }

  template <std::size_t Batch> static value pipeline(std::uint64_t blocks, std::uint64_t rounds) {
    value all = 0;
    std::uint64_t b = 0;
    const auto step = [rounds](block<Batch>& m) {
      for (value& x : m) x = middle(x, rounds);
    };
    weft::pipeline(weft::serial([&b, blocks, rounds] { return made<Batch>(b, blocks, rounds); }), weft::parallel(step),
                   weft::parallel(step), weft::serial([&all, rounds](const block<Batch>& m) {
                     for (const value x : m) all = sink(all, x, rounds);
                   }));
    return all;
  }

 private:
  template <std::size_t Batch>
  static std::optional<block<Batch>> made(std::uint64_t& b, std::uint64_t blocks, std::uint64_t rounds) {
    if (b == blocks) return std::nullopt;
    block<Batch> m;
    for (std::size_t i = 0; i < Batch; ++i) m[i] = source(b * Batch + i, rounds);
    ++b;
    return m;
  }

  weft::runtime rt_;
};

}  // namespace
}  // namespace weft::bench::flow

int main(int argc, char** argv) {
  return weft::bench::flow::run<weft::bench::flow::weft_pipeline_flow>("weft_pipeline", argc, argv);
}
