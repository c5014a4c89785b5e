// Weft as a program would be written: a task for each block of each stage, with streams between them.
#include <span>

#include "flow.hpp"
#include "weft/weft.hpp"

namespace weft::bench::flow {
namespace {

using in_span = std::span<const value>;
using out_span = std::span<value>;

class weft_flow {
 public:
  explicit weft_flow(unsigned workers) : rt_({.workers = workers}) {}

  template <std::size_t Batch> void channel(std::uint64_t blocks, std::uint64_t rounds, value* out) {
    for (std::uint64_t b = 0; b < blocks; ++b) {
      const value first = b * Batch;
      rt_.submit(weft::push(raw_, Batch), [first, rounds](out_span to) {
        for (std::size_t i = 0; i < Batch; ++i) to[i] = source(first + i, rounds);
      });
      rt_.submit(weft::pop(raw_, Batch), [at = out + first, rounds](in_span from) {
        for (std::size_t i = 0; i < Batch; ++i) {
          spin(rounds);
          at[i] = from[i];
        }
      });
    }
    rt_.wait();
  }

  template <std::size_t Batch> value pipeline(std::uint64_t blocks, std::uint64_t rounds) {
    weft::handle<value> folded{0};
    const auto step = [rounds](in_span from, out_span to) {
      for (std::size_t i = 0; i < Batch; ++i) to[i] = middle(from[i], rounds);
    };
    for (std::uint64_t b = 0; b < blocks; ++b) {
      rt_.submit(weft::push(raw_, Batch), [first = b * Batch, rounds](out_span to) {
        for (std::size_t i = 0; i < Batch; ++i) to[i] = source(first + i, rounds);
      });
      rt_.submit(weft::pop(raw_, Batch), weft::push(clean_, Batch), step);
      rt_.submit(weft::pop(clean_, Batch), weft::push(coded_, Batch), step);
      // The state first: a task waits for what it names in turn, and so comes to the state's list in order.
      rt_.submit(weft::write(folded), weft::pop(coded_, Batch), [rounds](value& all, in_span from) {
        for (std::size_t i = 0; i < Batch; ++i) all = sink(all, from[i], rounds);
      });
    }
    return rt_.get(folded);
  }

 private:
  weft::runtime rt_;
  weft::stream<value> raw_, clean_, coded_;
};

}  // namespace
}  // namespace weft::bench::flow

int main(int argc, char** argv) { return weft::bench::flow::run<weft::bench::flow::weft_flow>("weft", argc, argv); }
