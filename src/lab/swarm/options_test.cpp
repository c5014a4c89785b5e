#include "lab/swarm/options.hpp"

#include <doctest/doctest.h>

#include "weft/error.hpp"

TEST_CASE("swarm options: a text names what differs from the paper") {
  const weft::swarm_options o = weft::swarm_options_from("cores=16,gvt_period=50,precise=1");
  CHECK((o.cores == 16 && o.gvt_period == 50 && o.precise == 1 && o.commit_queue == 16));
  CHECK(weft::swarm_options_from("").cores == 64);
  const weft::swarm_options instant = weft::swarm::as_run(weft::swarm_options_from("cores=16,instant_memory=1"));
  CHECK((instant.cores == 16 && instant.memory_latency == 0 && instant.hop_latency == 0 && instant.l1_latency == 0));
}

TEST_CASE("swarm options: what cannot be is refused in words") {
  struct wrong {
    const char* text;
    const char* why;
  };
  for (const wrong w : {wrong{"core=3", "no option 'core'"},
                        {"core=3", "did you mean cores?"},
                        {"cores", "write name=value"},
                        {"cores=many", "whole number from 1 to 256, not 'many'"},
                        {"cores=4x", "not '4x'"},
                        {"cores=", "not ''"},
                        {"cores=99999999999", "not '99999999999'"},
                        {"cores=0", "it may be 1 to 256"},
                        {"cores=10", "do not make whole tiles of 4"},
                        {"cores=256,tile_cores=1", "more than 64 tiles"},
                        {"bloom_bits=2000", "no power of two a way"},
                        {"bloom_ways=3", "no power of two a way"}}) {
    CAPTURE(w.text);
    CHECK_THROWS_WITH_AS(static_cast<void>(weft::swarm_options_from(w.text)), doctest::Contains(w.why), weft::error);
  }
}
