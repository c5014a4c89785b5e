// A task that pushes was refused when it was submitted, for it read and wrote one handle. submit() threw, as it should;
// and then the end of the stream waited for ever for what was to be pushed. Right: what is refused never comes, and
// nobody waits for it. Workers: 2 4 Times: 20
#include <weft/weft.hpp>

#include "found.hpp"

int main() {
  weft::runtime rt;
  long came = 0;
  bool told = false;
  {
    weft::handle<long> h(0L);
    weft::stream<long> s;
    const auto fill = [&](std::span<long> out) {
      for (long& x : out) x = 1;
    };
    rt.submit(weft::push(s, 4), fill);
    rt.submit(weft::pop(s, 4), [&](std::span<const long> in) { came += static_cast<long>(in.size()); });
    try {
      rt.submit(weft::push(s, 4), weft::read(h), weft::write(h), [](std::span<long>, const long&, long&) {});
      rt.wait();
    } catch (const weft::error&) {
      told = true;
    }
    rt.submit(weft::push(s, 4), fill);
    try {
      rt.wait();
    } catch (const weft::error&) {
      told = true;
    }
  }
  require(told, "that a task which reads and writes one handle is refused");
  require(came == 4, "what was pushed before it");
}
