// Where data lie, said through the C interface, and what a modelled machine counts of it.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft.h"

namespace {

constexpr std::uint64_t block = 1 << 20;  // more than a core's own caches hold

struct outcome {
  std::uint64_t local, remote;
  double joules;
};

// A task on each node reads the block of `node`, counted from its own, of one that lies as said.
outcome read_blocks(std::uint32_t how, std::uint64_t value, unsigned node) {
  weft_options o{};
  o.size = sizeof o;
  o.machine = "epyc-7551-32";
  weft_runtime* const rt = weft_runtime_create(&o);
  REQUIRE_MESSAGE(rt != nullptr, weft_last_error());
  std::vector<char> data(4 * block);
  REQUIRE_MESSAGE(weft_place_memory(data.data(), data.size(), how, value) == WEFT_OK, weft_last_error());
  std::vector<weft_handle*> handles;
  for (unsigned n = 0; n < 4; ++n) {
    weft_handle* const h = handles.emplace_back(weft_handle_create(nullptr));
    CHECK(weft_handle_lies_at(h, &data[(n + node) % 4 * block], block) == WEFT_OK);
    const weft_access reads[] = {weft_read(h)};
    weft_task t{};
    t.size = sizeof t;
    t.body = [](void*, void**) {};
    t.accesses = reads;
    t.access_count = 1;
    t.flags = WEFT_PINNED;
    t.worker = 8 * n;
    CHECK(weft_submit(rt, &t) == WEFT_OK);
  }
  CHECK(weft_wait(rt) == WEFT_OK);
  weft_counts c{};
  c.size = sizeof c;
  CHECK(weft_statistics(rt, &c) == WEFT_OK);
  CHECK((c.tasks == 4 && c.transfers > 0 && c.cached_bytes == 0));
  for (weft_handle* h : handles) CHECK(weft_handle_destroy(h) == WEFT_OK);
  CHECK(weft_place_memory(data.data(), data.size(), WEFT_FIRST_TOUCH, 0) == WEFT_OK);
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);
  return {c.local_bytes, c.remote_bytes, c.joules};
}

}  // namespace

TEST_CASE("c: data lie as is said, and local and remote bytes and joules are counted") {
  const outcome own = read_blocks(WEFT_BLOCKED, 0, 0), next = read_blocks(WEFT_BLOCKED, 0, 1);
  CHECK((own.local == 4 * block && own.remote == 0));
  CHECK((next.local == 0 && next.remote == 4 * block));
  CHECK((own.joules > 0 && next.joules > own.joules));
  const outcome dealt = read_blocks(WEFT_BLOCK_CYCLIC, block, 0);
  CHECK((dealt.local == 4 * block && dealt.remote == 0));
  const outcome on_two = read_blocks(WEFT_ON_NODE, 2, 0);
  CHECK((on_two.local == block && on_two.remote == 3 * block));
  const outcome spread = read_blocks(WEFT_INTERLEAVED, 0, 0);
  CHECK((spread.local == block && spread.remote == 3 * block));
}

TEST_CASE("c: an older program's counts are filled as far as it knows them; machines without energy have none") {
  weft_options o{};
  o.size = sizeof o;
  o.machine = "virtual";
  weft_runtime* const rt = weft_runtime_create(&o);
  weft_counts c{};
  c.size = offsetof(weft_counts, pushed);
  c.pushed = 77;
  CHECK((weft_statistics(rt, &c) == WEFT_OK && c.pushed == 77));
  c.size = sizeof c;
  CHECK((weft_statistics(rt, &c) == WEFT_OK && c.pushed == 0 && c.joules == -1));
  CHECK(weft_runtime_destroy(rt) == WEFT_OK);
}

TEST_CASE("c errors: placements that mean nothing") {
  char data[64];
  const auto refused = [&](std::uint32_t how, std::uint64_t value) {
    CHECK(weft_place_memory(data, sizeof data, how, value) == WEFT_MISUSE);
    return std::string(weft_last_error());
  };
  CHECK(refused(9, 0) == "weft: weft_place_memory: placement is 9; see enum weft_placement");
  CHECK(refused(WEFT_BLOCKED, 3) == "weft: weft_place_memory: value is not 0, and only WEFT_ON_NODE and "
                                    "WEFT_BLOCK_CYCLIC have one");
  CHECK(refused(WEFT_ON_NODE, std::uint64_t{1} << 40) == "weft: weft_place_memory: there is no such node");
  CHECK(refused(WEFT_BLOCK_CYCLIC, 0) != "");
  CHECK(weft_place_memory(nullptr, 0, WEFT_BLOCKED, 0) == WEFT_MISUSE);
  CHECK(weft_handle_lies_at(nullptr, data, 1) == WEFT_MISUSE);
}
