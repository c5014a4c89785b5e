// oneTBB: a queue between two nodes of a flow graph, each message a block; and parallel_pipeline.
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "flow.hpp"

namespace weft::bench::flow {
namespace {

class tbb_flow {
 public:
  explicit tbb_flow(unsigned workers)
      : tokens_(std::size_t{16} * workers), threads_(tbb::global_control::max_allowed_parallelism, workers),
        arena_(static_cast<int>(workers)) {}

  template <std::size_t Batch> void channel(std::uint64_t blocks, std::uint64_t rounds, value* out) {
    arena_.execute([=] {
      using message = block<Batch>;
      tbb::flow::graph g;
      tbb::flow::input_node<message> from(g, [b = std::uint64_t{0}, blocks, rounds](tbb::flow_control& end) mutable {
        message m{};
        if (b == blocks) return end.stop(), m;
        for (std::size_t i = 0; i < Batch; ++i) m[i] = source(b * Batch + i, rounds);
        ++b;
        return m;
      });
      tbb::flow::queue_node<message> between(g);
      tbb::flow::function_node<message, tbb::flow::continue_msg, tbb::flow::rejecting> to(
          g, tbb::flow::serial, [at = out, rounds](const message& m) mutable {
            for (const value x : m) {
              spin(rounds);
              *at++ = x;
            }
            return tbb::flow::continue_msg{};
          });
      tbb::flow::make_edge(from, between);
      tbb::flow::make_edge(between, to);
      from.activate();
      g.wait_for_all();
    });
  }

  template <std::size_t Batch> value pipeline(std::uint64_t blocks, std::uint64_t rounds) {
    using message = block<Batch>;
    value all = 0;
    std::uint64_t b = 0;
    const auto step = [rounds](message m) {
      for (value& x : m) x = middle(x, rounds);
      return m;
    };
    const auto first = [&b, blocks, rounds](tbb::flow_control& end) {
      message m{};
      if (b == blocks) return end.stop(), m;
      for (std::size_t i = 0; i < Batch; ++i) m[i] = source(b * Batch + i, rounds);
      ++b;
      return m;
    };
    const auto last = [&all, rounds](const message& m) {
      for (const value x : m) all = sink(all, x, rounds);
    };
    using tbb::filter_mode;
    arena_.execute([&] {
      tbb::parallel_pipeline(tokens_, tbb::make_filter<void, message>(filter_mode::serial_in_order, first) &
                                          tbb::make_filter<message, message>(filter_mode::parallel, step) &
                                          tbb::make_filter<message, message>(filter_mode::parallel, step) &
                                          tbb::make_filter<message, void>(filter_mode::serial_in_order, last));
    });
    return all;
  }

 private:
  std::size_t tokens_;
  tbb::global_control threads_;
  tbb::task_arena arena_;
};

}  // namespace
}  // namespace weft::bench::flow

int main(int argc, char** argv) { return weft::bench::flow::run<weft::bench::flow::tbb_flow>("tbb", argc, argv); }
