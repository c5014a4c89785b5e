// The stages of a pipeline (weft/pipeline.hpp) as types: what each takes and returns, and an item's way through all of
// them as one call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft::detail {

template <class F, bool Serial> struct stage {
  F body;
};
template <class T> inline constexpr bool is_stage = false;
template <class F, bool Serial> inline constexpr bool is_stage<stage<F, Serial>> = true;

// What a stage does with an item of type In: it gets it for good if it can, else as an In&. One that could do with an
// In& and returns nothing hands it on.
template <class F, class In> struct stage_traits {
  static constexpr bool takes_value = std::is_invocable_v<F&, In&&>;
  static constexpr bool takes_place = std::is_invocable_v<F&, In&>;
  static_assert(takes_value || takes_place, "weft: a stage of a pipeline takes what the one before it returns");
  using given = std::conditional_t<takes_value, In&&, In&>;
  using result = std::remove_cvref_t<std::invoke_result_t<F&, given>>;
  static constexpr bool hands_on = takes_place && std::is_void_v<result>;
  using out = std::conditional_t<hands_on, In, result>;

  [[gnu::always_inline]] static decltype(auto) call(F& f, In& x) { return f(static_cast<given>(x)); }
};

// The stages from number K on, the first of which takes an In. bytes, alignment: room for an item before any of them.
template <std::uint32_t K, class In, class... Stages> struct chain {
  static_assert(K == 1, "no stage at all behind the first");
  static constexpr std::size_t bytes = 1, alignment = 1;
  [[gnu::always_inline]] void through(In&) noexcept {}
};

template <std::uint32_t K, class In, class F, bool Serial> struct chain<K, In, stage<F, Serial>> {
  using traits = stage_traits<F, In>;
  static constexpr bool is_serial = Serial, is_last = true;
  static constexpr std::size_t bytes = sizeof(In), alignment = alignof(In);
  explicit chain(stage<F, Serial>& s) noexcept : body(s.body) {}

  [[gnu::always_inline]] void through(In& x) { static_cast<void>(traits::call(body, x)); }

  F& body;
};

template <std::uint32_t K, class In, class F, bool Serial, class Next, class... Rest>
struct chain<K, In, stage<F, Serial>, Next, Rest...> {
  using traits = stage_traits<F, In>;
  using out = typename traits::out;
  static_assert(!std::is_void_v<out>, "weft: a stage that is not the last returns the next item, or it takes a T& and "
                                      "returns nothing, and then that item goes on");
  using rest_type = chain<K + 1, out, Next, Rest...>;
  static constexpr bool is_serial = Serial, is_last = false;
  static constexpr std::size_t bytes = sizeof(In) > rest_type::bytes ? sizeof(In) : rest_type::bytes;
  static constexpr std::size_t alignment = alignof(In) > rest_type::alignment ? alignof(In) : rest_type::alignment;
  explicit chain(stage<F, Serial>& s, Next& next, Rest&... others) noexcept : body(s.body), rest(next, others...) {}

  [[gnu::always_inline]] void through(In& x) {
    if constexpr (traits::hands_on) {
      body(x);
      rest.through(x);
    } else {
      out y = traits::call(body, x);
      rest.through(y);
    }
  }

  F& body;
  rest_type rest;
};

}  // namespace weft::detail
