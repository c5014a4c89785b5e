// The makers of the policies, one per file of this folder. registry.cpp lists them.
#pragma once
#include <memory>

#include "sched/policies/policy.hpp"

namespace weft::sched {

[[nodiscard]] std::unique_ptr<policy> make_local(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_random(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_work_first(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_central(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_near(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_pufferfish(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_hpt(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_shepherd(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_tao(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_push_input(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_push_output(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_push_weighted(const place::tree& places);
[[nodiscard]] std::unique_ptr<policy> make_push_random(const place::tree& places);

}  // namespace weft::sched
