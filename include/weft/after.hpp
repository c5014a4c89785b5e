// Edges without data (TAO §3): a task that runs after others, whatever these touch.
//
//   weft::task_token loaded, checked;
//   rt.submit(weft::as(loaded), load);
//   rt.submit(weft::after(loaded), weft::as(checked), check);
//   rt.submit(weft::after(loaded), weft::after(checked), report);
//
// A token stands for the tasks that are submitted as it: one, or several, which run in any order and together.
// after(t) waits for all tasks that were t until then. A token is a handle without data, so everything that goes for
// handles goes for it: rt.wait(t) waits for its tasks; if one of them fails, those after it are skipped; it has a name
// for reports; it is not copied or moved, and its destructor waits for the tasks that use it. A task that is t and
// comes when others are already after t runs behind these: better a token of its own. Cost: an access.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/clause.hpp"
#include "weft/range.hpp"

namespace weft {

using task_token = handle<void>;

// This task is t.
[[nodiscard]] inline auto as(task_token& t) noexcept { return concurrent(t); }
// This task runs when all that are t until now are done.
[[nodiscard]] inline auto after(task_token& t) noexcept { return read(t); }
// The same of each token of a range (range.hpp).
template <detail::handle_range Tokens> [[nodiscard]] auto after(Tokens&& tokens) {
  static_assert(std::is_void_v<detail::range_datum<std::remove_reference_t<Tokens>>>,
                "weft: after() names tokens; for handles with data say read() or write()");
  return read(static_cast<Tokens&&>(tokens));
}

}  // namespace weft
