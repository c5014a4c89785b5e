// Numbers of elements whose size in bytes is beyond 64 bits: push(s, 2^61 + 2) of longs ran its body on that span over
// a few bytes, pop(s, 1, 2^64 - 1) made buffers without an end. After a bad_alloc that was caught workspace() gave less
// than it was asked for, or nothing, and workspace(2^64 - 1) gave 24 bytes. Right: std::bad_alloc or a weft::error each
// time, and whoever goes on has what was there before.
#include <string>
#include <weft/weft.hpp>

#include <cstdint>
#include <cstring>
#include <new>

#include "found.hpp"

namespace {

template <class Call> bool is_refused(Call call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const weft::error&) {
    return true;
  }
  return false;
}

void streams(weft::runtime& rt) {
  weft::stream<long> s("s");
  bool ran = false;
  const auto refuses = [&](auto clause, auto body) {
    return is_refused([&] {
      rt.submit(clause, body);
      rt.wait();
    });
  };
  const auto gets = [&ran](std::span<long>) { ran = true; };
  const auto sees = [&ran](std::span<const long>) { ran = true; };
  for (const std::size_t n : {(std::size_t{1} << 61) + 2, std::size_t{1} << 60, SIZE_MAX, SIZE_MAX / 8}) {
    require(refuses(weft::push(s, n), gets), "a push of " + std::to_string(n) + " elements");
    require(refuses(weft::pop(s, n), sees), "a pop of " + std::to_string(n) + " elements");
    require(refuses(weft::pop(s, 1, n), sees), "a look at " + std::to_string(n) + " elements");
    require(refuses(weft::peek(s, n), sees), "a peek at " + std::to_string(n) + " elements");
    require(is_refused([&] { s.discard(n); }), "elements discarded");
  }
  require(refuses(weft::pop(s, 1, std::size_t{1} << 40), sees), "a window of 2^40 elements");
  require(!ran && s.pushed() == 0 && s.popped() == 0, "something of what was refused has happened");
  long seen = 0;
  rt.submit(weft::push(s, 3), [](std::span<long> out) { out[0] = out[1] = out[2] = 5; });
  rt.submit(weft::pop(s, 3), [&seen](std::span<const long> in) { seen = in[0] + in[1] + in[2]; });
  rt.wait();
  require(seen == 15, "the stream does not go on");
}

void deferred_data(weft::runtime& rt) {
  for (const std::size_t n : {SIZE_MAX, SIZE_MAX / 8, (std::size_t{1} << 61) - 2, std::size_t{1} << 61}) {
    weft::handle<weft::deferred<long>> h{n};
    require(is_refused([&] {
              rt.submit(weft::write(h), [](weft::deferred<long>& d) { d.get()[0] = 1; });
              rt.wait();
            }),
            "deferred data of " + std::to_string(n) + " elements");
  }
}

void workspaces(weft::runtime& rt) {
  rt.submit([] {
    for (const std::size_t first : {std::size_t{0}, std::size_t{100}, std::size_t{20000}}) {
      if (first != 0) std::memset(weft::workspace(first), 1, first);
      for (const std::size_t n : {std::size_t{1} << 60, SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2})
        require(is_refused([n] { static_cast<void>(weft::workspace(n)); }), "workspace(" + std::to_string(n) + ")");
      void* const again = weft::workspace(first + 100'000);
      require(again != nullptr, "nothing after a bad_alloc");
      std::memset(again, 2, first + 100'000);
    }
  });
  rt.wait();
}

}  // namespace

int main() {
  weft::runtime rt;
  streams(rt);
  deferred_data(rt);
  workspaces(rt);
}
