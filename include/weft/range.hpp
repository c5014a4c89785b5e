// Clauses over a range of handles, whose number is known only at run time (SuperGlue §5.3 goes to 10,000 per task):
//
//   std::vector<weft::handle<tile>> tiles(n);
//   rt.submit(weft::read(tiles), weft::write(sum), [](weft::view<const tile> all, double& s) {
//     for (const tile& t : all) s += t.trace();
//   });
//
// A range is whatever a range-for can walk twice and whose elements are handles or point to handles: a vector, an
// array, a std::span of a part of it, a vector of weft::handle<T>*, of std::unique_ptr<weft::handle<T>>. Every handle
// in it is one access of the task, of the kind that the clause says; the body gets one weft::view for all of them, and
// none for handles of void. A range may be empty, and may name a handle again: that counts as one access. Exclusive
// access (weft::add) is taken to all of them or to none.
// Cost per handle: as a clause for one handle. A record above 640 bytes, about 30 handles, is allocated for the task.
// Errors: weft::error if the task is above 1 MiB, about 65,000 handles; else as for other clauses.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/clause.hpp"
#include "weft/detail/iterators.hpp"
#include "weft/detail/record.hpp"
#include "weft/handle.hpp"

namespace weft {

// The data of a range clause as the body sees it: T is const where the clause is a read. Two words, to be passed by
// value; valid while the body runs. Element i belongs to the i-th handle of the range. Cost of [i]: two loads.
template <class T> class view {
 public:
  using value_type = std::remove_const_t<T>;

  view(const detail::access* first, std::size_t size, bool refers) noexcept
      : first_(first), size_(static_cast<std::uint32_t>(size)), refers_(refers) {}
  // A body that only reads may take a view<const T> of what it declared as write.
  operator view<const T>() const noexcept
    requires(!std::is_const_v<T>)
  {
    return {first_, size_, refers_};
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return datum(first_ + i, refers_); }

  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::remove_const_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    iterator() = default;
    iterator(const detail::access* at, bool refers) noexcept : at_(at), refers_(refers) {}
    [[nodiscard]] T& operator*() const noexcept { return datum(at_, refers_); }
    [[nodiscard]] T* operator->() const noexcept { return &datum(at_, refers_); }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    iterator operator++(int) noexcept { return {at_++, refers_}; }
    [[nodiscard]] bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

   private:
    const detail::access* at_ = nullptr;
    bool refers_ = false;
  };
  [[nodiscard]] iterator begin() const noexcept { return {first_, refers_}; }
  [[nodiscard]] iterator end() const noexcept { return {first_ + size_, refers_}; }

 private:
  [[nodiscard]] static T& datum(const detail::access* a, bool refers) noexcept {
    auto& base = *reinterpret_cast<handle_base*>(a->handle_and_kind & detail::handle_address_mask);
    if constexpr (!std::is_abstract_v<value_type>)
      if (!refers) return static_cast<handle<value_type>&>(base).unguarded();
    return static_cast<handle<value_type&>&>(base).unguarded();
  }

  const detail::access* first_;
  std::uint32_t size_;
  bool refers_;  // to handle<T&>, not handle<T>: one view type for both
};

namespace detail {

// The handle that an element of a range is or points to.
template <class T> [[nodiscard]] handle<T>& handle_in(handle<T>& h) noexcept { return h; }
template <class Pointer> [[nodiscard]] auto handle_in(Pointer&& p) noexcept -> decltype(handle_in(*p)) {
  return handle_in(*p);
}

template <class Range> auto first_in(Range& r) -> decltype(*r.begin());
template <class Element, std::size_t N> Element& first_in(Element (&a)[N]);

template <class Range>
concept handle_range = requires(Range& r) { handle_in(first_in(r)); };

template <class Handle> struct declared;  // as in the handle's type: a reference for one that refers
template <class T> struct declared<handle<T>> {
  using type = T;
};
template <class Range> using range_datum =
    typename declared<std::remove_reference_t<decltype(handle_in(first_in(std::declval<Range&>())))>>::type;

template <class Range, std::uint8_t Kind, std::uint8_t UserType = 0> struct range_clause {
  using value_type = range_datum<Range>;
  static_assert(!std::is_const_v<std::remove_reference_t<value_type>>,
                "weft: the handles of a range hold data without const; read() is what makes it const");

  explicit range_clause(Range& r) : handles(r) {
    for ([[maybe_unused]] auto&& element : r) ++count;
  }
  Range& handles;
  std::size_t count = 0;
};

}  // namespace detail

// As the clauses for one handle (clause.hpp), for each handle of the range.
template <detail::handle_range Range> [[nodiscard]] auto read(Range&& handles) {
  return detail::range_clause<std::remove_reference_t<Range>, detail::kind_read>(handles);
}
template <detail::handle_range Range> [[nodiscard]] auto write(Range&& handles) {
  return detail::range_clause<std::remove_reference_t<Range>, detail::kind_write>(handles);
}
template <detail::handle_range Range> [[nodiscard]] auto add(Range&& handles) {
  return detail::range_clause<std::remove_reference_t<Range>, detail::kind_add>(handles);
}
template <detail::handle_range Range> [[nodiscard]] auto concurrent(Range&& handles) {
  return detail::range_clause<std::remove_reference_t<Range>, detail::kind_concurrent>(handles);
}
template <class Type, detail::handle_range Range> [[nodiscard]] auto with_access(Range&& handles) {
  return detail::range_clause<std::remove_reference_t<Range>, Type::flags, Type::number>(handles);
}

}  // namespace weft
