// A pipeline of five stages over streams. Blocks pass through all of them; the fourth keeps a state from block to
// block, so it takes one block at a time, while the others run side by side on as many blocks as there are workers.
#include <weft/weft.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>

using block = std::span<std::uint32_t>;
using view_of = std::span<const std::uint32_t>;

int main() {
  constexpr std::size_t n = 4096;  // elements of a block
  weft::runtime rt({.workers = 4, .machine = "virtual"});
  weft::stream<std::uint32_t> raw("raw"), clean("clean"), coded("coded"), signed_("signed");
  weft::handle<std::uint32_t> state{1};
  weft::handle<std::uint64_t> sum{0};
  for (std::uint32_t b = 0; b < 32; ++b) {
    rt.submit(weft::named("read"), weft::push(raw, n), weft::cost(20'000),
              [b](block out) { std::iota(out.begin(), out.end(), b * n); });
    rt.submit(weft::named("clean"), weft::pop(raw, n), weft::push(clean, n), weft::cost(40'000),
              [](view_of in, block out) {
                for (std::size_t i = 0; i < n; ++i) out[i] = in[i] ^ 0x5555;
              });
    rt.submit(weft::named("code"), weft::pop(clean, n), weft::push(coded, n), weft::cost(80'000),
              [](view_of in, block out) {
                for (std::size_t i = 0; i < n; ++i) out[i] = in[i] * 2654435761u;
              });
    rt.submit(weft::named("sign"), weft::reuse(coded, signed_, n), weft::write(state), weft::cost(30'000),
              [](block x, std::uint32_t& s) {
                for (std::uint32_t& v : x) v ^= s, s = v;
              });
    rt.submit(weft::named("write"), weft::pop(signed_, n), weft::add(sum), weft::cost(10'000),
              [](view_of in, std::uint64_t& s) { s = std::accumulate(in.begin(), in.end(), s); });
  }
  std::printf("sum %llu", static_cast<unsigned long long>(rt.get(sum)));
  std::printf(" after %.2f ms; one worker would take %.2f\n", rt.now_ns() / 1e6, 32 * 0.18);
}
