// The words of weft/detail/cell.hpp on a machine with weak memory: what the public headers do by compiler builtins is
// here an access like others, at the place where it is written. Included by cell.hpp where WEFT_CELL_WORDS names this
// file, which holds for every source of a program, or for none. Outside of a run of cores they are plain.
#pragma once
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

namespace weft::weak {

// Orders are the numbers of __ATOMIC_RELAXED and the others.
std::uint64_t load_word(const void* word, unsigned bytes, int order, const std::source_location& at) noexcept;
void store_word(void* word, unsigned bytes, std::uint64_t value, int order, const std::source_location& at) noexcept;
std::uint64_t add_to_word(void* word, unsigned bytes, std::uint64_t value, int order,
                          const std::source_location& at) noexcept;
// Whether the word was `expected`; if not, that is what it was.
bool exchange_word(void* word, unsigned bytes, std::uint64_t& expected, std::uint64_t value, int order,
                   const std::source_location& at) noexcept;

// One read-modify-write, from what it was, which `old` becomes, to changed(that, with).
void modify_word(void* word, unsigned bytes, std::uint64_t* old, int order, const std::source_location& at,
                 std::uint64_t (*changed)(std::uint64_t old, void* with), void* with) noexcept;

// Data that is no shared word.
void touch_plain(const void* data, bool writes, const std::source_location& at) noexcept;

template <class T> [[nodiscard]] std::uint64_t bits_of(T value) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T> [[nodiscard]] T from_bits(std::uint64_t bits) noexcept {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// What base::shared() gives for a word: what std::atomic_ref has of operations, with the place that asks, or another
// that it asks for.
template <class T> class shared_word {
  using place = std::source_location;

 public:
  explicit shared_word(T& word, const place* asked_by = nullptr) noexcept : word_(&word), asked_by_(asked_by) {}
  template <class Order> T load(Order o, const place& at = place::current()) const noexcept {
    return from_bits<T>(load_word(word_, sizeof(T), static_cast<int>(o), who(at)));
  }
  template <class Order>
  void store(std::type_identity_t<T> value, Order o, const place& at = place::current()) const noexcept {
    store_word(word_, sizeof(T), bits_of<T>(value), static_cast<int>(o), who(at));
  }
  template <class Order>
  T exchange(std::type_identity_t<T> value, Order o, const place& at = place::current()) const noexcept {
    return change(o, at, [&](T) { return value; });
  }
  template <class Order, class Failed> bool compare_exchange_strong(T& expected, std::type_identity_t<T> value, Order o,
                                                                    Failed,
                                                                    const place& at = place::current()) const noexcept {
    std::uint64_t before = bits_of<T>(expected);
    const bool met = exchange_word(word_, sizeof(T), before, bits_of<T>(value), static_cast<int>(o), who(at));
    expected = from_bits<T>(before);
    return met;
  }
  template <class Order, class Failed> bool compare_exchange_weak(T& expected, std::type_identity_t<T> value, Order o,
                                                                  Failed f,
                                                                  const place& at = place::current()) const noexcept {
    return compare_exchange_strong(expected, value, o, f, at);
  }
  template <class N, class Order> T fetch_add(N n, Order o, const place& at = place::current()) const noexcept {
    return change(o, at, [&](T old) { return static_cast<T>(old + n); });
  }
  template <class N, class Order> T fetch_sub(N n, Order o, const place& at = place::current()) const noexcept {
    return change(o, at, [&](T old) { return static_cast<T>(old - n); });
  }
  template <class Order>
  T fetch_or(std::type_identity_t<T> bits, Order o, const place& at = place::current()) const noexcept {
    return change(o, at, [&](T old) { return static_cast<T>(old | bits); });
  }
  template <class Order>
  T fetch_and(std::type_identity_t<T> bits, Order o, const place& at = place::current()) const noexcept {
    return change(o, at, [&](T old) { return static_cast<T>(old & bits); });
  }

 private:
  const place& who(const place& at) const noexcept { return asked_by_ != nullptr ? *asked_by_ : at; }
  template <class Order, class Change> T change(Order o, const place& at, Change to) const noexcept {
    std::uint64_t old = 0;
    modify_word(
        word_, sizeof(T), &old, static_cast<int>(o), who(at),
        [](std::uint64_t bits, void* with) { return bits_of<T>((*static_cast<Change*>(with))(from_bits<T>(bits))); },
        &to);
    return from_bits<T>(old);
  }
  T* word_;
  const place* asked_by_;
};

}  // namespace weft::weak

namespace weft::detail {

using place_in_code = std::source_location;

template <class T> [[nodiscard]] T peek(const cell<T>& c, const place_in_code& at = place_in_code::current()) noexcept {
  return weak::from_bits<T>(weak::load_word(&c.raw, sizeof(T), __ATOMIC_RELAXED, at));
}
template <class T>
void poke(cell<T>& c, std::type_identity_t<T> value, const place_in_code& at = place_in_code::current()) noexcept {
  weak::store_word(&c.raw, sizeof(T), weak::bits_of<T>(value), __ATOMIC_RELAXED, at);
}
template <class T>
[[nodiscard]] T peek_acquire(const cell<T>& c, const place_in_code& at = place_in_code::current()) noexcept {
  return weak::from_bits<T>(weak::load_word(&c.raw, sizeof(T), __ATOMIC_ACQUIRE, at));
}
template <class T> void poke_release(cell<T>& c, std::type_identity_t<T> value,
                                     const place_in_code& at = place_in_code::current()) noexcept {
  weak::store_word(&c.raw, sizeof(T), weak::bits_of<T>(value), __ATOMIC_RELEASE, at);
}
template <class T> [[nodiscard]] bool is_other(const cell<T*>& c, const T* value,
                                               const place_in_code& at = place_in_code::current()) noexcept {
  return peek(c, at) != value;
}
[[nodiscard]] inline bool lies_before(unsigned index, const cell<unsigned>& c,
                                      const place_in_code& at = place_in_code::current()) noexcept {
  return static_cast<int>(index - peek(c, at)) < 0;
}
[[nodiscard]] inline bool is_set(const cell<unsigned char>& c,
                                 const place_in_code& at = place_in_code::current()) noexcept {
  return peek(c, at) != 0;
}
[[nodiscard]] inline bool any_of(const cell<unsigned char>& first, const cell<unsigned char>& next,
                                 const place_in_code& at = place_in_code::current()) noexcept {
  return peek(first, at) != 0 || peek(next, at) != 0;
}
template <class T>
[[nodiscard]] T take_number(cell<T>& c, const place_in_code& at = place_in_code::current()) noexcept {
  return weak::from_bits<T>(weak::add_to_word(&c.raw, sizeof(T), 1, __ATOMIC_RELAXED, at));
}
template <class T>
void lower(cell<T>& c, std::type_identity_t<T> value, const place_in_code& at = place_in_code::current()) noexcept {
  std::uint64_t now = weak::bits_of(peek(c, at));
  while (value < weak::from_bits<T>(now) &&
         !weak::exchange_word(&c.raw, sizeof(T), now, weak::bits_of<T>(value), __ATOMIC_RELAXED, at)) {
  }
}

}  // namespace weft::detail
