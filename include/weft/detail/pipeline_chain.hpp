// The stages of a pipeline (weft/pipeline.hpp) as types: what each takes and returns, and an item's way through all of
// them as one call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft::detail {

template <class F, bool Serial> struct stage {
  F body;
  [[nodiscard]] static constexpr bool is_serial() noexcept { return Serial; }
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

// Nobody looks at what stages take.
struct unwatched {
  [[gnu::always_inline]] unwatched operator()(std::uint32_t) const noexcept { return {}; }
};

[[nodiscard]] constexpr std::uint64_t bit_of_stage(std::uint32_t k) noexcept {
  return k < 64 ? std::uint64_t{1} << k : 0;
}

// The stages from number K on, the first of which takes an In. bytes, alignment: room for an item before any of them.
// A stage is any that has a body and says whether it is serial. Around: around(k) is there while stage k is called.
template <std::uint32_t K, class In, class... Stages> struct chain {
  static_assert(K == 1, "no stage at all behind the first");
  static constexpr std::size_t bytes = 1, alignment = 1;
  template <class Around> [[gnu::always_inline]] void through(In&, const Around&) noexcept {}
  [[nodiscard]] std::uint64_t serial() const noexcept { return 0; }
};

template <std::uint32_t K, class In, class Stage> struct chain<K, In, Stage> {
  using traits = stage_traits<decltype(Stage::body), In>;
  static constexpr bool is_last = true;
  static constexpr std::size_t bytes = sizeof(In), alignment = alignof(In);
  explicit chain(Stage& s) noexcept : here(s) {}

  template <class Around> [[gnu::always_inline]] void call(In& x, const Around& around) {
    [[maybe_unused]] const auto inside = around(K);
    static_cast<void>(traits::call(here.body, x));
  }
  template <class Around> [[gnu::always_inline]] void through(In& x, const Around& around) { call(x, around); }

  // Bit k of stage k, if it is serial.
  [[nodiscard]] std::uint64_t serial() const noexcept { return here.is_serial() ? bit_of_stage(K) : 0; }

  Stage& here;
};

template <std::uint32_t K, class In, class Stage, class Next, class... Rest> struct chain<K, In, Stage, Next, Rest...> {
  using traits = stage_traits<decltype(Stage::body), In>;
  using out = typename traits::out;
  static_assert(!std::is_void_v<out>, "weft: a stage that is not the last returns the next item, or it takes a T& and "
                                      "returns nothing, and then that item goes on");
  using rest_type = chain<K + 1, out, Next, Rest...>;
  static constexpr bool is_last = false;
  static constexpr std::size_t bytes = sizeof(In) > rest_type::bytes ? sizeof(In) : rest_type::bytes;
  static constexpr std::size_t alignment = alignof(In) > rest_type::alignment ? alignof(In) : rest_type::alignment;
  explicit chain(Stage& s, Next& next, Rest&... others) noexcept : here(s), rest(next, others...) {}

  // Where the stage hands x on: it is the next item.
  template <class Around> [[gnu::always_inline]] void hand_on(In& x, const Around& around) {
    [[maybe_unused]] const auto inside = around(K);
    here.body(x);
  }
  template <class Around> [[gnu::always_inline]] out call(In& x, const Around& around) {
    [[maybe_unused]] const auto inside = around(K);
    return traits::call(here.body, x);
  }
  template <class Around> [[gnu::always_inline]] void through(In& x, const Around& around) {
    if constexpr (traits::hands_on) {
      hand_on(x, around);
      rest.through(x, around);
    } else {
      out y = call(x, around);
      rest.through(y, around);
    }
  }

  [[nodiscard]] std::uint64_t serial() const noexcept {
    return (here.is_serial() ? bit_of_stage(K) : 0) | rest.serial();
  }

  Stage& here;
  rest_type rest;
};

}  // namespace weft::detail
