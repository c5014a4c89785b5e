// One check with crews of several sizes on both machines, and what a call throws, in words.
#pragma once
#include <doctest/doctest.h>

#include <exception>
#include <span>
#include <string>

#include "replay.hpp"
#include "weft/runtime.hpp"

// "": nothing.
template <class Call> [[nodiscard]] std::string thrown_by(Call call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// Calls check(runtime) on each; on modelled machines also in random order, if `orders` has it. Real crews have at most
// 16 workers.
template <class Check>
void on_each_crew(std::span<const unsigned> crews, std::span<const char* const> orders, Check check) {
  for (const char* machine : both_machines)
    for (const char* order : orders)
      for (const unsigned workers : crews) {
        if (machine[0] == 'h' && (workers > 16 || order != orders[0])) continue;
        const std::string line = "WEFT_MACHINE=" + std::string(machine) + " WEFT_WORKERS=" + std::to_string(workers) +
                                 " WEFT_SCHEDULE=" + order;
        INFO(line);
        const deadline limit("the test case with " + line);
        weft::runtime rt({.workers = workers, .machine = machine, .model = {.schedule = order}});
        check(rt);
      }
}
template <class Check> void on_each_crew(std::span<const unsigned> crews, Check check) {
  constexpr const char* in_time[] = {"time"};
  on_each_crew(crews, in_time, check);
}
